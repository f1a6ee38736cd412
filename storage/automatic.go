package storage

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// Automatic is an index over several fields of a type that the server declared by itself. The row "m automatic" lists them for
// all processes of a store. Every writer of documents reads that row in the same transaction, and so loses the race
// against a change of the list: from the commit that declares an index on, every document that is written has its rows there,
// and an index is complete for exactly those who see in their snapshot that it is.
type Automatic struct {
	ID      string    `json:"id"`
	Rows    string    `json:"rows"` // the place of its rows
	Type    string    `json:"type"`
	Columns []string  `json:"columns"`
	Include []string  `json:"include,omitempty"`
	Fits    string    `json:"fits"` // what the rows depend on in the declarations of types
	State   string    `json:"state"`
	Made    time.Time `json:"made"`
	Used    time.Time `json:"-"` // within a day
}

// The states of an automatic index.
const (
	IndexBuilding = "building"
	IndexComplete = "complete"
	IndexDropped  = "dropped" // its rows are being removed
)

// String returns the declaration that would be the same index.
func (a *Automatic) String() string { return DeclaredIndex(a.Columns, a.Include) }

// DeclaredIndex returns an index as declarations have it.
func DeclaredIndex(columns, include []string) string {
	s := "[" + strings.Join(columns, ", ") + "]"
	if len(include) == 0 {
		return s
	}
	return "{columns: " + s + ", include: [" + strings.Join(include, ", ") + "]}"
}

// automaticIdle is after what time an automatic index that no query uses is dropped.
const automaticIdle = 7 * 24 * time.Hour

var (
	automaticKey = layout.MetaKey("automatic")
	usedKey      = layout.MetaKey("automatic used") // apart, because writers read the other one
)

// automaticRows are the places in the dictionary, which cannot grow while a repository is open.
var automaticRows = func() (names [16]string) {
	for i := range names {
		names[i] = fmt.Sprint("automatic ", i+1)
	}
	return names
}()

// automaticMark stands in the list of complete indexes as long as all who wrote to the store since keep automatic indexes. A program
// of before them takes out of the list what it does not know.
const automaticMark = "automatic 1"

// noAutomatic is the list without any.
var noAutomatic = []byte("[]")

// forgetAutomatic drops all automatic indexes: a program that does not know of them has written to the store.
func (r *Repo) forgetAutomatic(ctx context.Context) error {
	return r.Update(ctx, r.System(), func(t *Tx) error {
		if set, err := t.automatic(); err != nil || len(set.all) == 0 {
			return cmp.Or(err, t.kv.Set(automaticKey, noAutomatic))
		}
		return t.changeAutomatic(func(a *Automatic) bool {
			a.State = IndexDropped
			return true
		})
	})
}

// automaticSet are the automatic indexes of a snapshot.
type automaticSet struct {
	raw            []byte
	all            []Automatic
	kept, complete []*Compound // those that have rows of all documents written since, and of all documents
	misfit         bool        // the types were declared otherwise when one was made
}

// automatic returns the automatic indexes as of the transaction.
func (t *Tx) automatic() (*automaticSet, error) {
	if t.indexes != nil {
		return t.indexes, nil
	}
	raw, err := t.kv.Get(automaticKey)
	if err != nil {
		return nil, err
	}
	set := t.repo.automatic.Load()
	if set == nil || !bytes.Equal(set.raw, raw) {
		if set, err = t.repo.parseAutomatic(raw); err != nil {
			return nil, err
		}
		t.repo.automatic.Store(set)
	}
	t.indexes = set
	return set, nil
}

func (r *catalog) parseAutomatic(raw []byte) (*automaticSet, error) {
	set := &automaticSet{raw: raw}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &set.all); err != nil {
			return nil, fault.Internal.Errorf("automatic indexes: %w", err)
		}
	}
	for i := range set.all {
		a := &set.all[i]
		if a.State == IndexDropped {
			continue
		}
		c, err := r.automaticCompound(a)
		if err != nil || a.Fits != c.fingerprint() {
			set.misfit = true
			continue
		}
		if set.kept = append(set.kept, c); a.State == IndexComplete {
			set.complete = append(set.complete, c)
		}
	}
	return set, nil
}

func (r *catalog) automaticCompound(a *Automatic) (*Compound, error) {
	x, err := r.types.Index(a.Type, a.Columns, a.Include)
	if err != nil {
		return nil, err
	}
	c := compoundOf(r.types, a.Type, x)
	c.Name, c.Rows, c.ID = c.Name+" (automatic)", a.Rows, a.ID
	return c, nil
}

// fingerprint changes with what decides which documents have rows, and which.
func (c *Compound) fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, slices.Sorted(maps.Keys(c.Types)))
	for _, x := range slices.Concat(c.Columns, c.Include) {
		fmt.Fprintln(h, x.Key, x.Desc, x.Many, x.Kind)
		if x.InFile {
			fmt.Fprintln(h, "of a file") // before, rows did not have what files say
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// changeAutomatic changes each automatic index; one for which fn returns false is taken off the list.
func (t *Tx) changeAutomatic(fn func(a *Automatic) bool, more ...Automatic) error {
	set, err := t.automatic()
	if err != nil {
		return err
	}
	all := []Automatic{}
	for _, a := range set.all {
		if fn(&a) {
			all = append(all, a)
		}
	}
	raw, err := json.Marshal(append(all, more...))
	if err != nil || bytes.Equal(raw, set.raw) {
		return err
	}
	t.indexes = nil
	return t.kv.Set(automaticKey, raw)
}

// dropAutomatic ends the use of an index, which it returns.
func (t *Tx) dropAutomatic(id string) (dropped Automatic, err error) {
	err = t.changeAutomatic(func(a *Automatic) bool {
		if a.ID == id && a.State != IndexDropped {
			a.State = IndexDropped
			dropped = *a
		}
		return true
	})
	if err == nil && dropped.ID == "" {
		err = fault.NotFound.Errorf("automatic index %s", id)
	}
	return dropped, err
}

// dropMisfits ends the use of indexes that this process cannot keep, because it has other declarations of their types: they
// lack the rows of what it writes.
func (t *Tx) dropMisfits() error {
	return t.changeAutomatic(func(a *Automatic) bool {
		if c, err := t.repo.automaticCompound(a); err != nil || a.Fits != c.fingerprint() {
			a.State = IndexDropped
		}
		return true
	})
}

// AutomaticIndexes returns the indexes that the server declared by itself, and when they were used last.
func (r *Repo) AutomaticIndexes(ctx context.Context) (all []Automatic, err error) {
	err = r.View(ctx, r.System(), func(t *Tx) error {
		all, err = t.automaticIndexes()
		return err
	})
	return all, err
}

func (t *Tx) automaticIndexes() ([]Automatic, error) {
	set, err := t.automatic()
	if err != nil || len(set.all) == 0 {
		return nil, err
	}
	used, err := t.usedIndexes()
	all := slices.Clone(set.all)
	for i := range all {
		all[i].Used = used[all[i].ID]
	}
	return all, err
}

func (t *Tx) usedIndexes() (used map[string]time.Time, err error) {
	raw, err := t.kv.Get(usedKey)
	if err == nil && raw != nil {
		err = json.Unmarshal(raw, &used)
	}
	return used, err
}

// useIndexes notes that automatic indexes were used, unless that was noted less than a day ago.
func (r *Repo) useIndexes(ctx context.Context, ids []string) error {
	all, err := r.AutomaticIndexes(ctx)
	if err != nil || !slices.ContainsFunc(all, func(a Automatic) bool {
		return slices.Contains(ids, a.ID) && !Recent(r.clock(), a.Used, 24*time.Hour)
	}) {
		return err
	}
	return r.Update(ctx, r.System(), func(t *Tx) error {
		set, err := t.automatic()
		if err != nil {
			return err
		}
		was, err := t.usedIndexes()
		used := map[string]time.Time{}
		for _, a := range set.all {
			if used[a.ID] = was[a.ID]; slices.Contains(ids, a.ID) {
				used[a.ID] = t.now
			}
		}
		raw, failed := json.Marshal(used)
		if err = cmp.Or(err, failed); err != nil {
			return err
		}
		return t.kv.Set(usedKey, raw)
	})
}

// declareIndex declares an automatic index, and reports whether there was room for it. The next sweep builds it.
func (r *Repo) declareIndex(ctx context.Context, a Automatic) (made bool, err error) {
	now := r.catalog.Load()
	c, err := now.automaticCompound(&a)
	if err != nil || now.served(c) || r.db.Writable() != nil {
		return false, err
	}
	a.ID, a.Fits, a.State = r.newID(), c.fingerprint(), IndexBuilding
	err = r.Update(ctx, r.System(), func(t *Tx) error {
		made = false
		set, err := t.automatic()
		if err != nil {
			return err
		}
		free, n, ofType := automaticRows[:], 0, 0
		for i := range set.all {
			have := &set.all[i]
			free = slices.DeleteFunc(slices.Clone(free), func(name string) bool { return name == have.Rows })
			if have.State == IndexDropped {
				continue
			}
			if n++; have.Type == a.Type {
				if ofType++; have.String() == a.String() {
					return nil
				}
			}
		}
		if len(free) == 0 || n >= r.limits.Automatic || ofType >= max(1, r.limits.Automatic*3/8) || !now.numbers.Has(free[0]) {
			return nil
		}
		a.Rows, a.Made, made = free[0], t.now, true
		return t.changeAutomatic(func(*Automatic) bool { return true }, a)
	})
	return made && err == nil, err
}

// served reports whether a declared index that is complete does what an automatic one does.
func (r *catalog) served(c *Compound) bool {
	same := func(a, b schema.Column) bool { return a.Key == b.Key && a.Desc == b.Desc }
	return slices.ContainsFunc(r.compounds, func(have *Compound) bool {
		if !r.usable(have.Name) || !slices.EqualFunc(have.Columns, c.Columns, same) {
			return false
		}
		for _, x := range c.Include {
			if !slices.ContainsFunc(have.Include, func(y schema.Column) bool { return x.Key == y.Key }) {
				return false
			}
		}
		for name := range c.Types {
			if typ, _ := r.types.Type(name); have.Schema != nil && !slices.Contains(typ.Schemas, have.Schema) || have.Schema == nil && !have.Types[name] {
				return false
			}
		}
		return true
	})
}

// needless returns why an automatic index is to be dropped, "" if it is not; it is the i-th.
func (r *catalog) needless(i int, a *Automatic, now time.Time) string {
	last := a.Made
	if a.Used.After(last) {
		last = a.Used
	}
	c, err := r.automaticCompound(a)
	switch {
	case r.limits.Automatic < 0:
		return "limit-automatic-indexes is negative"
	case i >= r.limits.Automatic:
		return "more than limit-automatic-indexes"
	case err != nil || a.Fits != c.fingerprint():
		return "its type is declared otherwise"
	case r.served(c):
		return "a declared index does the same"
	case now.Sub(last) > automaticIdle:
		return "not used since " + last.Format(time.DateOnly)
	}
	return ""
}

// sweepAutomatic drops automatic indexes that are needless, builds new ones, and removes the rows of those that were
// dropped. Whatever ends it, the next sweep goes on.
func (r *Repo) sweepAutomatic(ctx context.Context) error {
	all, err := r.AutomaticIndexes(ctx)
	if err != nil || len(all) == 0 || r.db.Writable() != nil {
		return err
	}
	kept := 0
	for i := range all {
		a := &all[i]
		if a.State != IndexDropped {
			why := r.catalog.Load().needless(kept, a, r.clock())
			if kept++; why != "" {
				r.log.Info("automatic index dropped", "type", a.Type, "index", a.String(), "why", why)
				if err := r.moveAutomatic(ctx, a, IndexDropped); err != nil {
					return err
				}
				kept--
			}
		}
	}
	if err := r.fillAutomatic(ctx, all); err != nil {
		return err
	}
	for i := range all {
		if err := r.settleAutomatic(ctx, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// fillAutomatic writes the rows of all indexes that are being built, each document once.
func (r *Repo) fillAutomatic(ctx context.Context, all []Automatic) error {
	var rows []string
	types := map[string]bool{}
	for i := range all {
		if all[i].State != IndexBuilding {
			continue
		}
		c, err := r.catalog.Load().automaticCompound(&all[i])
		if err != nil {
			return err
		}
		rows = append(rows, c.Rows)
		maps.Copy(types, c.Types)
	}
	if len(rows) == 0 {
		return nil
	}
	return r.fillIndexes(ctx, rows, types)
}

// settleAutomatic takes an automatic index whose rows are written to where it stays: complete, or gone.
func (r *Repo) settleAutomatic(ctx context.Context, a *Automatic) error {
	switch a.State {
	case IndexBuilding:
		r.log.Info("automatic index complete", "type", a.Type, "index", a.String())
		return r.moveAutomatic(ctx, a, IndexComplete)
	case IndexDropped:
		// Another process may have removed the rows meanwhile, and given the place to a new index.
		err := r.dropIndex(ctx, a.Rows, func(k *kv.Tx) (bool, error) {
			raw, err := k.Get(automaticKey)
			if err != nil {
				return false, err
			}
			set, err := r.catalog.Load().parseAutomatic(raw)
			return err == nil && slices.ContainsFunc(set.all, func(x Automatic) bool { return x.ID == a.ID }), err
		})
		if err != nil {
			return err
		}
		return r.moveAutomatic(ctx, a, "")
	}
	return nil
}

// moveAutomatic gives an automatic index its next state, and takes it off the list for "".
func (r *Repo) moveAutomatic(ctx context.Context, a *Automatic, state string) error {
	from := a.State
	a.State = state
	return r.Update(ctx, r.System(), func(t *Tx) error {
		return t.changeAutomatic(func(x *Automatic) bool {
			if x.ID != a.ID || x.State != from {
				return true
			}
			x.State = state
			return state != ""
		})
	})
}

// countWrite counts the documents of each type that are written, which every index of the type makes dearer.
func (t *Tx) countWrite(docs ...*Doc) {
	for _, d := range docs {
		if d != nil {
			if n := t.repo.written[d.typ.Name]; n != nil {
				n.Add(1)
			}
			return
		}
	}
}
