package storage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/zone"
)

// IndexProblems compares the index rows with what documents ask for.
func (t *Tx) IndexProblems() (problems []string, err error) {
	want := map[string]string{}
	automatic, err := t.automatic()
	if err != nil {
		return nil, err
	}
	for row, err := range t.kv.Scan(prefix([]byte{layout.NodeSpace})) {
		if err != nil {
			return nil, err
		}
		if n, err := parseNode(row.Value); err == nil && n.flags&layout.Tomb != 0 {
			continue
		}
		d, err := t.load(layout.IDAtEnd(row.Key))
		if err != nil || d == nil {
			return nil, cmp.Or(err, fmt.Errorf("no document for %x", row.Key))
		}
		x, err := d.indexRows(automatic.complete)
		if err != nil {
			return nil, err
		}
		for _, row := range x.Rows {
			want[string(row.Key())] = string(row.Value())
		}
	}
	blobs := string(blobRefs)
	for row, err := range t.kv.Scan(prefix([]byte{layout.IndexSpace})) {
		if err != nil {
			return nil, err
		}
		key := string(row.Key)
		if len(key) >= len(blobs) && key[:len(blobs)] == blobs {
			continue
		}
		if cover, ok := want[key]; !ok || cover != string(row.Value) {
			problems = append(problems, fmt.Sprintf("row %q: %q, want %q", key, row.Value, cover))
		}
		delete(want, key)
	}
	for key := range want {
		problems = append(problems, fmt.Sprintf("row %q is missing", key))
	}
	return problems, nil
}

// IndexPrefix begins the keys of an index.
func (r *Repo) IndexPrefix(name string) []byte { return r.catalog.Load().numbers.IndexPrefix(name) }

// ForgetNulls removes the rows of documents without a value from indexes that have other rows as well, as if an earlier
// version had written them.
func (r *Repo) ForgetNulls(ctx context.Context) error {
	c := r.catalog.Load()
	old := c.indexNames()
	for _, name := range c.wantedIndexes() {
		if !slices.Contains(old, name) {
			if err := r.dropIndex(ctx, name, func(*kv.Tx) (bool, error) { return true, nil }); err != nil {
				return err
			}
		}
	}
	return c.list(ctx, old)
}

// EveryID returns the identifiers of all documents there are, regardless of who may see them.
func (t *Tx) EveryID() (ids []string, err error) {
	for row, err := range t.kv.Scan(prefix([]byte{layout.NodeSpace})) {
		if err != nil {
			return nil, err
		}
		if n, err := parseNode(row.Value); err != nil || n.flags&layout.Tomb == 0 {
			ids = append(ids, layout.IDAtEnd(row.Key).String())
		}
	}
	return ids, nil
}

// DropAutomatic drops an automatic index; the next sweep removes its rows.
func (r *Repo) DropAutomatic(ctx context.Context, a Automatic) error {
	return r.moveAutomatic(ctx, &a, IndexDropped)
}

// ForgetIndex takes an index out of the list of complete ones, as a program does that does not know it.
func (r *Repo) ForgetIndex(ctx context.Context, name string) error {
	return r.Update(ctx, r.System(), func(t *Tx) error {
		listed, err := t.listed()
		if err != nil {
			return err
		}
		return t.listIndexes(slices.DeleteFunc(listed, func(have string) bool { return have == name }))
	})
}

// ShortZones has zone maps of the audit log cover so few records.
func (r *Repo) ShortZones(records int) { r.zones.records = records }

// SweepZones makes zone maps of what is old enough.
func (r *Repo) SweepZones(ctx context.Context) error { return r.sweepZones(ctx) }

// SweepIndexes brings the list of complete indexes up to date.
func (r *Repo) SweepIndexes(ctx context.Context) error { return r.sweepIndexes(ctx) }

// WithoutZones writes as a program does that does not know of zone maps, and takes their mark off the list as it does.
func (r *Repo) WithoutZones(ctx context.Context, fn func(*Tx) error) error {
	floor := r.zones.floor.Swap(math.MinInt64)
	defer r.zones.floor.Store(floor)
	return r.Update(ctx, r.System(), func(t *Tx) error {
		names, err := t.listed()
		if err != nil {
			return err
		}
		if err := t.listIndexes(slices.DeleteFunc(names, func(name string) bool { return name == zonesMark })); err != nil {
			return err
		}
		return fn(t)
	})
}

// PlainEntries returns the whole audit log, oldest first, without zone maps.
func (t *Tx) PlainEntries() (all []Entry, err error) {
	if err := t.putAudited(); err != nil {
		return nil, err
	}
	w := logWalk{t: t, f: &EntryFilter{}, fn: func(_ []byte, e Entry) bool {
		all = append(all, e)
		return true
	}}
	err = w.rows(prefix([]byte{layout.AuditSpace, layout.AuditByTime}))
	return all, err
}

// Zones returns how many zone maps there are, and of how many records, after checking them against the log.
func (t *Tx) Zones() (maps, records int, err error) {
	end := place{}
	for row, err := range t.kv.Scan(prefix(zonePrefix)) {
		if err != nil {
			return 0, 0, err
		}
		z, err := zoneOf(row)
		if err != nil {
			return 0, 0, err
		}
		m, err := zone.Parse(z.raw)
		if err != nil {
			return 0, 0, err
		}
		n := 0
		w := logWalk{t: t, f: &EntryFilter{}, fn: func([]byte, Entry) bool { n++; return true }}
		if err := w.rows(kv.Range{Start: z.begin.key(), End: z.end.key()}); err != nil {
			return 0, 0, err
		}
		if n != m.Records || compare(z.begin, end) < 0 || compare(z.begin, z.end) >= 0 {
			return 0, 0, fmt.Errorf("zone map %x-%x behind %x has %d records, the log %d", z.begin, z.end, end, m.Records, n)
		}
		end = z.end
		maps, records = maps+1, records+n
	}
	return maps, records, nil
}
