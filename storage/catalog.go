package storage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// catalog is a repository with the declarations of one moment, and what reading and writing documents needs to know of them. It
// never changes: declarations of types and of directories that are deployed while the server runs make a new one. A transaction keeps the one that it began
// with, and a document the one that it was read with, so that names, types and indexes always fit together.
//
// A row counts the deployments of a store. Every transaction that writes reads it, and so loses the race against a
// deployment: from its commit on, no document is written that does not know of it, and no index lacks rows because
// a server had not heard of it.
type catalog struct {
	*Repo
	generation int64 // of the declarations, as the row counts them

	types      *schema.Registry
	beside     any // what else is declared
	shapes     map[*schema.Schema]*shape
	typeShapes map[*schema.Type][]*shape
	fields     map[string]fieldRef
	words      map[string]string
	parts      map[*schema.Field][]part // indexed fields inside complex ones
	compounds  []*Compound
	numbers    *layout.Dictionary
	written    map[string]*atomic.Int64 // documents written since the start, by type

	automatic atomic.Pointer[automaticSet] // as the last transaction that looked found them
}

// Declared is what is declared: the types of documents, and what a package that stands on this one makes of them and of declarations
// of its own, a pointer that changes together with the types: the directories.
type Declared struct {
	Types  *schema.Registry
	Beside any
}

// Declarations return what a store keeps that is declared, beside what a server has anyway.
type Declarations func(t *Tx) (Declared, error)

// declaredKey is a row of the tables, which the repositories of a store share.
var declaredKey = layout.TableKey(layout.TableSpace, "declarations", "generation")

// errOutdated ends a transaction that has not begun: it would not know what has been deployed.
var errOutdated = fault.Unavailable.Errorf("declarations: they have just changed")

// TypesOf returns the types of documents that a transaction knows: those of its beginning.
func TypesOf(t *Tx) *schema.Registry { return t.repo.types }

// BesideOf returns what a transaction knows of what is declared beside the types: that of its beginning.
func BesideOf(t *Tx) any { return t.repo.beside }

// Redeclared notes that the declarations which the store keeps have changed: from the commit on, every transaction has the new
// ones.
func Redeclared(t *Tx) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	n, err := generationOf(t.kv)
	if err != nil {
		return err
	}
	return t.kv.Set(declaredKey, strconv.AppendInt(nil, n+1, 10))
}

// generationOf returns how often something was deployed.
func generationOf(k *kv.Tx) (int64, error) {
	raw, err := k.Get(declaredKey)
	if err != nil || raw == nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, fault.Internal.Errorf("declarations: %w", err)
	}
	return n, nil
}

// newCatalog prepares what reading documents needs to know about the types; old is the one before, nil at the beginning.
func newCatalog(r *Repo, d Declared, generation int64, old *catalog) *catalog {
	types := d.Types
	c := &catalog{
		Repo: r, generation: generation, types: types, beside: d.Beside, shapes: map[*schema.Schema]*shape{}, typeShapes: map[*schema.Type][]*shape{},
		fields: map[string]fieldRef{}, words: map[string]string{}, parts: map[*schema.Field][]part{}, compounds: compounds(types), written: map[string]*atomic.Int64{},
	}
	for _, s := range types.Schemas() {
		c.shapes[s] = newShape(s)
		for i, f := range s.Fields {
			c.fields[f.Key] = fieldRef{s, i}
			if inside := parts(f); len(inside) > 0 {
				c.parts[f] = inside
			}
		}
	}
	for _, t := range types.Types() {
		c.written[t.Name] = new(atomic.Int64)
		if old != nil && old.written[t.Name] != nil {
			c.written[t.Name] = old.written[t.Name]
		}
		for _, s := range types.SchemasOf(t, nil) {
			c.typeShapes[t] = append(c.typeShapes[t], c.shapes[s])
		}
		if t.LifeCycle != nil {
			for _, s := range t.LifeCycle.States {
				c.words[s] = s
			}
		}
	}
	for _, f := range types.Facets() {
		c.words[f.Name] = f.Name
	}
	return c
}

func (c *catalog) declared() Declared { return Declared{c.types, c.beside} }

// intern returns the text of b, shared if it is the name of a state or a facet.
func (c *catalog) intern(b []byte) string {
	if s, ok := c.words[string(b)]; ok {
		return s
	}
	return string(b)
}

// openDeclared gives the repository its first catalog: with what the store keeps, if the server asks for that.
func (r *Repo) openDeclared(ctx context.Context, c *Config) error {
	if c.First != nil && r.declare != nil {
		r.base = c.First.base
		first := c.First.catalog.Load()
		return r.install(ctx, first.declared(), first.generation)
	}
	given := Declared{c.Types, c.Beside}
	if c.First == nil {
		r.declare = c.Declared
	}
	if r.declare == nil {
		return r.install(ctx, given, 0)
	}
	first := newCatalog(r, given, 0, nil)
	r.base = first.wantedIndexes()
	r.catalog.Store(first) // what tables need
	return r.Redeclare(ctx)
}

// wantedNow returns what the list is to hold as of the transaction. While a process is there that does not follow declarations which
// the store keeps, or maintains no automatic indexes, whole is false, and what it does not write rows of is not wanted.
func (t *Tx) wantedNow() (want []string, whole bool, err error) {
	want = t.repo.wantedIndexes()
	keep, err := AllAble(t, KeepsAutomatic)
	if err != nil {
		return nil, false, err
	}
	follow, err := AllAble(t, Follows)
	if err != nil {
		return nil, false, err
	}
	maps, err := AllAble(t, MapsZones)
	if err != nil {
		return nil, false, err
	}
	files, err := AllAble(t, IndexesFiles)
	if err != nil {
		return nil, false, err
	}
	return slices.DeleteFunc(want, func(name string) bool {
		switch name {
		case layout.FileIndex, layout.TrashIndex:
			return !files
		case automaticMark:
			return !keep
		case zonesMark:
			return !maps
		}
		return !follow && t.repo.base != nil && !slices.Contains(t.repo.base, name)
	}), keep && follow, nil
}

// Redeclare has the repositories of the store follow what has been deployed, by this process or another. While nothing was,
// it reads one row. If the declarations cannot be read here, everything stays as it is.
func (r *Repo) Redeclare(ctx context.Context) error {
	c := r.common
	c.declaring.Lock()
	defer c.declaring.Unlock()
	all := c.all()
	first := all[0]
	if c.declare == nil {
		return nil
	}
	var generation int64
	var found Declared
	err := first.db.View(ctx, func(k *kv.Tx) (err error) {
		if generation, err = generationOf(k); err != nil {
			return err
		}
		now := first.catalog.Load()
		if now.numbers != nil && now.generation == generation {
			found = now.declared()
			return nil
		}
		t := &Tx{session: &session{ctx: ctx, repo: now, kv: k, now: first.clock().UTC().Truncate(time.Millisecond)}, as: first.System()}
		found, err = c.declare(t)
		return cmp.Or(err, t.failed)
	})
	if err != nil {
		return err
	}
	for _, r := range all {
		now := r.catalog.Load()
		// One that has heard of nothing until all was taken back has the same declarations, but not of this generation.
		if now == nil || now.declared() == found && now.numbers != nil && now.generation == generation {
			continue // it is being opened, or knows
		}
		err = errors.Join(err, r.install(ctx, found, generation))
	}
	return err
}

// install makes declarations those of the transactions that begin from now on.
func (r *Repo) install(ctx context.Context, d Declared, generation int64) error {
	c := newCatalog(r, d, generation, r.catalog.Load())
	if err := c.openNumbers(ctx); err != nil {
		return err
	}
	r.catalog.Store(c)
	return nil
}

// upToDate returns errOutdated if the transaction does not know of the last deployment. One that only reads asks only where that costs
// nothing: what it reads was written before it began, or by another process a moment ago.
func (t *Tx) upToDate() error {
	c := t.repo
	if c.declare == nil {
		return nil
	}
	user := t.as.auth.epoch != nil
	if !t.kv.Writable() && (!c.shared || !user) {
		return nil
	}
	if t.kv.Remote() && !user {
		if err := t.kv.Prefetch([][]byte{declaredKey, automaticKey, indexesKey}); err != nil {
			return err
		}
	}
	// What a transaction sees may be older than what it knows: it reads the same documents then, and loses the race if it writes.
	n, err := generationOf(t.kv)
	if err == nil && n > c.generation {
		err = errOutdated
	}
	return err
}

// outdated reports whether a transaction ended because it was outdated, and is to begin again; else err is its error.
func (r *Repo) outdated(ctx context.Context, err *error) bool {
	if *err == nil || !errors.Is(*err, errOutdated) {
		return false
	}
	if failed := r.Redeclare(ctx); failed != nil {
		*err = fault.Unavailable.Errorf("declarations: %w", failed)
		return false
	}
	return ctx.Err() == nil
}
