package kv

import (
	"context"

	"catena/storage/fault"
)

// Report is what Verify found.
type Report struct {
	Keys    int
	Bytes   int64    // of keys and values
	Damaged [][]byte // keys whose value does not match its checksum, the first 100
	Bad     int      // number of such keys
}

// Verify has the engine check its files and reads every value. It tells the number of
// keys read so far to done, which may be nil. The report holds what was found until
// an error, which is ErrDamaged if there are damaged values.
func (d *DB) Verify(ctx context.Context, done func(keys int)) (Report, error) {
	var r Report
	if v, ok := d.store.(Verifier); ok {
		if err := v.Verify(ctx); err != nil {
			return r, err
		}
	}
	snap, err := d.store.Begin(ctx, false)
	if err != nil {
		return r, err
	}
	defer snap.Discard()
	c := snap.Scan(Range{})
	defer c.Close()
	for c.Next() {
		stored, err := c.Value()
		if err != nil {
			return r, err
		}
		r.add(c.Key(), stored)
		if r.Keys%1000 == 0 {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			if done != nil {
				done(r.Keys)
			}
		}
	}
	if err := c.Err(); err != nil {
		return r, err
	}
	if done != nil {
		done(r.Keys)
	}
	if r.Bad > 0 {
		return r, fault.Internal.Errorf("store: %d of %d values are damaged: %w", r.Bad, r.Keys, ErrDamaged)
	}
	return r, nil
}

func (r *Report) add(key, stored []byte) {
	r.Keys++
	value, err := unseal(key, stored)
	r.Bytes += int64(len(key) + len(value))
	if err == nil {
		return
	}
	if r.Bad++; len(r.Damaged) < 100 {
		r.Damaged = append(r.Damaged, key)
	}
}
