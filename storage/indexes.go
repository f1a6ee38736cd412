package storage

import (
	"bytes"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// The row "m indexes" lists the indexes whose rows are complete, behind the version of
// their layout. An index that a declaration asks for and the list lacks is not used until
// its rows were written; one that is listed and no longer asked for is dropped.
const indexLayout = "2"

var indexesKey = layout.MetaKey("indexes")

// smallRepository is the number of documents whose missing index rows Open writes itself;
// Sweep does it for larger ones.
const smallRepository = 5000

// indexNames returns the indexes that are declared, in order.
func (r *catalog) indexNames() []string {
	names := []string{layout.TypeIndex, layout.NameIndex, layout.StateIndex, layout.FacetIndex, layout.FileIndex, layout.LockIndex, layout.ProxyIndex, layout.ProxyOfIndex, layout.VersionIndex, layout.TrashIndex, layout.UnsetIndex, layout.TextIndex}
	names = append(names, layout.AlwaysIndexed...)
	for _, s := range r.types.Schemas() {
		for _, f := range s.Fields {
			if f.Index && !layout.IsAlwaysIndexed(f.Key) {
				names = append(names, f.Key)
			}
			for _, inside := range r.parts[f] {
				names = append(names, inside.name)
			}
		}
	}
	for _, c := range r.compounds {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// wantedIndexes returns what the list of complete indexes is to hold, in order: the declared indexes, the rows
// without a value of those that have them, automaticMark, and zonesMark.
func (r *catalog) wantedIndexes() []string {
	names := append(r.indexNames(), automaticMark, zonesMark)
	for _, s := range r.types.Schemas() {
		for _, f := range s.Fields {
			if hasNulls(f) && !f.List && !layout.IsAlwaysIndexed(f.Key) {
				names = append(names, nullRows(f.Key))
			}
			for _, inside := range r.parts[f] {
				if inside.nulls {
					names = append(names, nullRows(inside.name))
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// rowsOf begins the rows of an entry of the list of complete indexes.
func (r *catalog) rowsOf(listed string) []byte {
	if name, ok := strings.CutSuffix(listed, nullRows("")); ok {
		return kv.AppendNil(r.numbers.IndexPrefix(name))
	}
	return r.numbers.IndexPrefix(listed)
}

// listIndexes marks all indexes of a store without documents complete.
func (t *Tx) listIndexes(names []string) error {
	return t.kv.Set(indexesKey, listRow(names))
}

// listed returns the indexes whose rows are complete.
func (t *Tx) listed() ([]string, error) {
	b, err := t.kv.Get(indexesKey)
	return listedIn(b), err
}

func listedIn(row []byte) []string {
	lines := strings.Split(string(row), "\n")
	if lines[0] != indexLayout {
		return nil
	}
	return lines[1:]
}

// listRow is the row that lists indexes.
func listRow(names []string) []byte { return []byte(indexLayout + "\n" + strings.Join(names, "\n")) }

// openIndexes finds out which indexes can be used, and completes those of a small store.
func (r *Repo) openIndexes(ctx context.Context) error {
	small := false
	err := r.View(ctx, r.System(), func(t *Tx) error {
		if _, err := t.readyIndexes(); err != nil {
			return err
		}
		if err := t.openZones(); err != nil {
			return err
		}
		n, more, err := t.kv.Count(prefix([]byte{layout.NodeSpace}), smallRepository)
		small = !more && n <= smallRepository
		return err
	})
	if err != nil || !small || r.db.Writable() != nil {
		return err
	}
	return r.sweepIndexes(ctx)
}

// readyIndexes are the indexes that have all their rows, as a row of the store lists them.
type readyIndexes struct {
	raw   []byte
	names map[string]bool
}

func (r *Repo) setReady(raw []byte, names []string) *readyIndexes {
	ready := &readyIndexes{raw, make(map[string]bool, len(names))}
	for _, name := range names {
		ready.names[name] = true
	}
	r.ready.Store(ready)
	return ready
}

// usable reports whether an index had all its rows when a transaction looked last. Queries ask their own.
func (r *Repo) usable(index string) bool {
	ready := r.ready.Load()
	return ready != nil && ready.names[index]
}

// readyIndexes returns the indexes that have all their rows as of the transaction: another process may have dropped some that it
// does not know, or that it has other declarations of, a moment ago.
func (t *Tx) readyIndexes() (*readyIndexes, error) {
	if t.ready != nil {
		return t.ready, nil
	}
	raw, err := t.kv.Get(indexesKey)
	if err != nil {
		return nil, err
	}
	if t.ready = t.repo.ready.Load(); t.ready == nil || !bytes.Equal(t.ready.raw, raw) {
		t.ready = t.repo.setReady(raw, listedIn(raw))
	}
	return t.ready, nil
}

// sweepIndexes drops the rows of indexes nobody asks for and writes those of new ones.
func (r *Repo) sweepIndexes(ctx context.Context) error {
	var c *catalog
	var want, listed []string
	err := r.View(ctx, r.System(), func(t *Tx) (err error) {
		if listed, err = t.listed(); err == nil {
			want, _, err = t.wantedNow()
		}
		c = t.repo
		return err
	})
	if err != nil || slices.Equal(listed, want) {
		return err
	}
	both := slices.DeleteFunc(slices.Clone(listed), func(name string) bool { return !slices.Contains(want, name) })
	missing := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return slices.Contains(both, name) })
	dropped := slices.DeleteFunc(listed, func(name string) bool { return slices.Contains(want, name) })
	for mark, forget := range map[string]func(context.Context) error{automaticMark: r.forgetAutomatic, zonesMark: r.forgetZones} {
		add, drop := slices.Index(missing, mark), slices.Index(dropped, mark)
		if add < 0 && drop < 0 {
			continue
		}
		if err := forget(ctx); err != nil {
			return err
		}
		if drop >= 0 {
			dropped = slices.Delete(dropped, drop, drop+1)
			continue
		}
		missing, both = slices.Delete(missing, add, add+1), append(both, mark)
		slices.Sort(both)
	}
	if err := c.list(ctx, both); err != nil {
		return err
	}
	// What a server with newer declarations has listed since this one was opened has no number here. Its rows are left to the
	// server that writes them again, which removes them first.
	dropped = slices.DeleteFunc(dropped, func(name string) bool { return !c.numbers.Has(strings.TrimSuffix(name, nullRows(""))) })
	for _, name := range append(dropped, missing...) {
		if err := r.dropIndex(ctx, name, func(*kv.Tx) (bool, error) { return true, nil }); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	r.log.Info("writing index rows", "indexes", missing)
	if err := r.fillIndexes(ctx, missing, r.typesOf(missing)); err != nil {
		return err
	}
	return c.list(ctx, want)
}

// typesOf returns the types whose documents have rows in indexes, nil if others may have.
func (r *Repo) typesOf(names []string) map[string]bool {
	types := map[string]bool{}
	for _, name := range names {
		i := slices.IndexFunc(r.catalog.Load().compounds, func(c *Compound) bool { return c.Name == name && c.Schema == nil })
		if i < 0 {
			return nil
		}
		maps.Copy(types, r.catalog.Load().compounds[i].Types)
	}
	return types
}

// list makes indexes the complete ones, unless other declarations have taken effect: then the next sweep does.
func (r *catalog) list(ctx context.Context, names []string) error {
	same := false
	err := r.Update(ctx, r.System(), func(t *Tx) error {
		if same = t.repo == r; !same {
			return nil
		}
		return t.listIndexes(names)
	})
	if err == nil && same {
		r.setReady(listRow(names), names)
	}
	return err
}

// dropIndex deletes the rows of an index, as long as that is wanted.
func (r *Repo) dropIndex(ctx context.Context, name string, wanted func(k *kv.Tx) (bool, error)) error {
	return r.dropRows(ctx, prefix(r.catalog.Load().rowsOf(name)), wanted)
}

// dropRows deletes the rows of a range, some in each transaction, as long as that is wanted.
func (r *Repo) dropRows(ctx context.Context, rows kv.Range, wanted func(k *kv.Tx) (bool, error)) error {
	rows.KeysOnly, rows.Limit = true, sweepBatch
	for {
		n := 0
		err := r.db.Update(ctx, func(k *kv.Tx) error {
			n = 0
			if ok, err := wanted(k); err != nil || !ok {
				return err
			}
			for row, err := range k.Scan(rows) {
				if err != nil {
					return err
				}
				if err := k.Delete(row.Key); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil || n < sweepBatch {
			return err
		}
	}
}

// An index is built in short transactions, with a pause after each as long as it took, and longer while the pause before ended
// late: then others wait for a processor, too. They keep half of the machine or more, and wait for none of these transactions, as
// these let others go first after every document. After a crash the index is not in the list, and is built from the start.
const (
	buildBatch    = 20                   // documents in one transaction
	buildMany     = 50                   // the same in a database that others share, where a transaction costs more
	latePauses    = 3                    // times that a pause is longer by what the one before was late beyond that
	longestPause  = 2 * time.Millisecond // that is added for that, for each document
	progressEvery = 10 * time.Second     // between messages in the log
)

// fillIndexes writes the rows of indexes for every document of some types, of all for nil.
func (r *Repo) fillIndexes(ctx context.Context, names []string, types map[string]bool) error {
	f := filling{names: names, words: slices.Contains(names, layout.TextIndex), began: time.Now()}
	for _, name := range names {
		f.prefixes = append(f.prefixes, r.catalog.Load().rowsOf(name))
	}
	if types == nil || !r.usable(layout.TypeIndex) {
		return r.fillFrom(ctx, &f, prefix([]byte{layout.NodeSpace}))
	}
	// A document that is written meanwhile may move to another place in the index by type. Who writes it writes its rows.
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if err := r.fillFrom(ctx, &f, prefix(r.catalog.Load().numbers.TypePrefix(name))); err != nil {
			return err
		}
	}
	return nil
}

// filling is the building of indexes.
type filling struct {
	names    []string
	prefixes [][]byte // of their rows
	words    bool     // that of full text is among them
	began    time.Time
	done     int
	late     time.Duration // that the last pause was
}

// fillFrom writes the rows for the documents whose ids are at the end of the keys of a range.
func (r *Repo) fillFrom(ctx context.Context, f *filling, rows kv.Range) error {
	rows.KeysOnly, rows.Limit = true, buildBatch
	if r.shared {
		rows.Limit = buildMany
	}
	for {
		var ids []layout.ID
		var last []byte
		start := time.Now()
		err := r.db.View(ctx, func(k *kv.Tx) error {
			for row, err := range k.Scan(rows) {
				if err != nil {
					return err
				}
				ids, last = append(ids, layout.IDAtEnd(row.Key)), bytes.Clone(row.Key)
			}
			return nil
		})
		if err == nil && len(ids) > 0 {
			err = r.Update(ctx, r.System(), func(t *Tx) error { return t.fillRows(ids, f.prefixes, f.words) })
		}
		if err != nil || len(ids) < rows.Limit {
			return err
		}
		rows.Start = append(last, 0)
		if f.done += len(ids); time.Since(f.began) > progressEvery {
			f.began = time.Now()
			r.log.Info("writing index rows", "indexes", f.names, "documents", f.done)
		}
		if f.late, err = pause(ctx, time.Since(start)+min(latePauses*f.late, time.Duration(len(ids))*longestPause)); err != nil {
			return err
		}
	}
}

// fillRows writes the rows of new indexes for some documents. Rows of other indexes exist already and are left alone, so that a
// transaction of this job conflicts with as few others as possible.
func (t *Tx) fillRows(ids []layout.ID, prefixes [][]byte, words bool) error {
	docs, err := t.loadMany(ids)
	if err != nil {
		return err
	}
	automatic, err := t.automatic()
	if err != nil {
		return err
	}
	for _, d := range docs {
		x, err := d.indexRows(automatic.kept)
		if err != nil {
			return fault.Wrap(err, "document %s", d.ID())
		}
		if words {
			if err := t.reindexText(d); err != nil {
				return err
			}
		}
		for _, row := range x.Rows {
			if !slices.ContainsFunc(prefixes, func(p []byte) bool { return bytes.HasPrefix(row.Key(), p) }) {
				continue
			}
			if err := t.kv.SetRow(row.Row, row.KeySize); err != nil {
				return err
			}
		}
		runtime.Gosched() // a request that waits for a processor would else wait for the whole transaction
	}
	return nil
}

// rebuild takes indexes off the list of complete ones whose rows other declarations would make others of, for documents that
// there are. The sweep writes them again.
func (t *Tx) rebuild(next *schema.Registry) error {
	listed, err := t.listed()
	if err != nil {
		return err
	}
	schemas, types := schema.Moved(t.repo.types, next)
	stale := map[string]bool{}
	for _, s := range t.repo.types.Schemas() {
		for _, f := range s.Fields {
			if !schemas[s.Name] || layout.IsAlwaysIndexed(f.Key) {
				continue
			}
			stale[f.Key], stale[nullRows(f.Key)] = true, true
			for _, inside := range t.repo.parts[f] {
				stale[inside.name], stale[nullRows(inside.name)] = true, true
			}
		}
	}
	for _, c := range t.repo.compounds {
		stale[c.Name] = t.repo.movedCompound(c, schemas, types)
	}
	left := slices.DeleteFunc(slices.Clone(listed), func(name string) bool { return stale[name] })
	if len(left) == len(listed) {
		return nil
	}
	return t.listIndexes(left)
}

// movedCompound reports whether an index over several fields is of schemas or types that other documents would have. A column of an index
// of a type may be of any of its schemas.
func (r *catalog) movedCompound(x *Compound, schemas, types map[string]bool) bool {
	if x.Schema != nil && schemas[x.Schema.Name] || x.Schema == nil && types[strings.TrimPrefix(x.Where, "type ")] {
		return true
	}
	return slices.ContainsFunc(x.Columns, func(column schema.Column) bool {
		return column.Prop != nil && schemas[r.fields[column.Prop.Key].schema.Name]
	})
}

// IndexesDue reports whether indexes are to be written that the sweep has not begun with, or are to be given up at once.
func (r *Repo) IndexesDue(ctx context.Context) (due bool) {
	err := r.View(ctx, r.System(), func(t *Tx) error {
		listed, err := t.listed()
		if err != nil {
			return err
		}
		want, whole, err := t.wantedNow()
		due = !whole && !slices.Equal(listed, want) || slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(listed, name) })
		return err
	})
	return err == nil && due
}

// indexes compares the index rows with what the documents ask for.
func (v *verifier) indexes() error {
	listed, err := v.t.listed()
	if err != nil || !slices.Equal(listed, v.t.repo.wantedIndexes()) {
		return err // not all are written yet
	}
	automatic, err := v.t.automatic()
	if err != nil {
		return err
	}
	surplus := 0
	err = v.each(layout.NodeSpace, func(key, value []byte) {
		id, x := layout.IDAtEnd(key), &layout.IndexRows{}
		rec, err := v.t.kv.Get(layout.RecordKey(id))
		if err == nil && rec != nil {
			var d *Doc
			if d, err = v.t.rowDoc(id, value, rec); err == nil {
				x, err = d.indexRows(automatic.complete)
			}
		}
		if err != nil {
			return // said about the record already
		}
		for _, row := range x.Rows {
			surplus--
			if stored, err := v.t.kv.Get(row.Key()); err != nil || !bytes.Equal(stored, row.Value()) {
				v.add("document %s: index row %q is wrong", id, row.Key())
			}
		}
	})
	if err != nil {
		return err
	}
	names := v.t.repo.indexNames()
	for _, c := range automatic.complete {
		names = append(names, c.Rows)
	}
	for _, name := range names {
		if err := v.count(v.t.repo.numbers.IndexPrefix(name), &surplus); err != nil {
			return err
		}
	}
	if surplus != 0 {
		v.add("indexes: %d rows more than the documents require", surplus)
	}
	return nil
}

func (v *verifier) count(of []byte, n *int) error {
	rows := prefix(of)
	rows.KeysOnly = true
	for _, err := range v.t.kv.Scan(rows) {
		if err != nil {
			return err
		}
		*n++
	}
	return v.t.ctx.Err()
}
