package kv

import "context"

// Reclaimable is how many bytes the engine's files are known to hold that are unused; 0 if it has none.
func (d *DB) Reclaimable() int64 {
	if c, ok := d.store.(Compacter); ok {
		return c.Reclaimable()
	}
	return 0
}

// Compact has the engine give room on the disk back, some of it once the store is closed.
func (d *DB) Compact(ctx context.Context) error {
	if c, ok := d.store.(Compacter); ok {
		return c.Compact(ctx)
	}
	return nil
}

// Warm tells the engine that the rows of a range will be read one by one, so that it may get ready for that.
func (d *DB) Warm(r Range) {
	if w, ok := d.store.(Warmer); ok {
		w.Warm(r)
	}
}
