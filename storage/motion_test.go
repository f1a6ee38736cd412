package storage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/maintenance"
	"catena/storage/search"
)

// motion is a repository whose trees are moved, filled and deleted while others read it.
type motion struct {
	*world
	folders []storage.Ref
	tops    []storage.Ref // large trees
	writing atomic.Bool
}

// newMotion makes six trees of 301 documents each, in levels of folders.
func newMotion(t *testing.T) *motion {
	m := &motion{world: newWorld(t, func(c *storage.Config) { c.NewID, c.Limits.CountLimit = nil, 100_000 })}
	m.update(m.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		for i := range 6 {
			top, err := tx.Create(root, "Folder", fmt.Sprint("t", i), storage.Props{"dc:title": fmt.Sprint("top ", i)})
			if err != nil {
				return err
			}
			m.tops = append(m.tops, top.Ref())
			up := top
			for j := range 300 {
				typ := "File"
				if j%30 == 0 {
					typ = "Folder"
				}
				d, err := tx.Create(up, typ, fmt.Sprint("d", j), storage.Props{"dc:title": fmt.Sprint("title ", j%7, i)})
				if err != nil {
					return err
				}
				if typ == "Folder" {
					m.folders = append(m.folders, d.Ref())
					if up = d; j%90 == 0 {
						up = top
					}
				}
			}
		}
		return nil
	})
	return m
}

// write runs fn in transactions; losing a race for a document is part of the game.
func (m *motion) write(seed uint64, times int, fn func(tx *storage.Tx, rnd *rand.Rand) error) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	for range times {
		err := m.Update(context.Background(), m.System(), func(tx *storage.Tx) error { return fn(tx, rnd) })
		if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			m.t.Error(err)
		}
	}
}

// snapshot compares, in one transaction, what a walk down the tree finds with what queries by path find, page by
// page.
func (m *motion) snapshot(tx *storage.Tx) error {
	root, err := tx.Root()
	if err != nil {
		return err
	}
	var down []string
	var walk func(d *storage.Doc) error
	walk = func(d *storage.Doc) error {
		for c, err := range tx.EachChild(d) {
			if err != nil {
				return err
			}
			down = append(down, c.ID())
			if at, err := tx.Doc(storage.Ref(c.Path())); err != nil || at.ID() != c.ID() || c.ParentID() != d.ID() {
				return fmt.Errorf("%s below %s: by path %v, %w", c.Path(), d.Path(), at, err)
			}
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return err
	}
	below, _, err := pages(tx, "SELECT * FROM Document WHERE ecm:path STARTSWITH '/' AND ecm:uuid <> '"+root.ID()+"' ORDER BY dc:title", 100)
	if err != nil {
		return err
	}
	slices.Sort(down)
	slices.Sort(below)
	if !slices.Equal(down, below) || len(slices.Compact(down)) != len(below) {
		return fmt.Errorf("%d documents by walking down, %d by path", len(down), len(below))
	}
	return nil
}

// browse walks through all documents with a transaction for each page; none may come twice, wherever it
// was moved meanwhile.
func (m *motion) browse() {
	seen := map[string]bool{}
	o := search.Options{PageOptions: storage.PageOptions{Limit: 50}}
	for more := true; more; {
		err := m.View(context.Background(), m.System(), func(tx *storage.Tx) error {
			p, err := search.Query(tx, "SELECT * FROM Document ORDER BY dc:title", o)
			if err != nil {
				return err
			}
			for _, d := range p.Docs {
				if seen[d.ID()] {
					return fmt.Errorf("%s comes twice", d.Path())
				}
				seen[d.ID()] = true
			}
			o.After, more = p.Next, p.HasNext
			return nil
		})
		if err != nil {
			m.t.Error(err)
			return
		}
	}
}

// TestLargeTreesInMotion moves trees into each other, deletes some of hundreds of documents, makes new ones in
// them and removes what is cut off, while others walk through the repository: nothing goes in circles,
// nothing is left over, and no page walk sees a document twice.
func TestLargeTreesInMotion(t *testing.T) {
	m := newMotion(t)
	m.writing.Store(true)
	var writers, readers sync.WaitGroup
	pick := func(rnd *rand.Rand, refs []storage.Ref) storage.Ref { return refs[rnd.IntN(len(refs))] }
	for i := range 2 {
		writers.Go(func() {
			m.write(uint64(i), 60, func(tx *storage.Tx, rnd *rand.Rand) error {
				from, to := pick(rnd, m.folders), pick(rnd, m.folders)
				if rnd.IntN(4) == 0 {
					from = pick(rnd, m.tops)
				}
				docs, err := tx.Docs(storage.Refs{from, to})
				if err == nil {
					_, err = tx.Move(docs[0], docs[1], "")
				}
				return err
			})
		})
	}
	writers.Go(func() {
		m.write(7, 60, func(tx *storage.Tx, rnd *rand.Rand) error {
			up, err := tx.Doc(pick(rnd, m.folders))
			if err == nil {
				_, err = tx.Create(up, "File", "new", storage.Props{"dc:title": "title 3"})
			}
			return err
		})
	})
	writers.Go(func() {
		for i := range 3 {
			m.write(uint64(i), 1, func(tx *storage.Tx, _ *rand.Rand) error {
				d, err := tx.Doc(m.tops[2*i])
				if err == nil {
					err = tx.Delete(d)
				}
				return err
			})
			if err := m.Sweep(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	readers.Go(func() {
		for m.writing.Load() {
			m.browse()
		}
	})
	readers.Go(func() {
		for m.writing.Load() {
			if err := m.View(context.Background(), m.System(), m.snapshot); err != nil {
				t.Error(err)
				return
			}
		}
	})
	writers.Wait()
	m.writing.Store(false)
	readers.Wait()
	if err := m.Sweep(context.Background()); err != nil {
		t.Error(err)
	}
	m.view(m.System(), m.snapshot)
	if problems, err := maintenance.Verify(context.Background(), m.Repo); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
	if records, places := m.rows("D"), m.rows("t"); records != places || m.rows("z") > 0 {
		t.Errorf("%d records, %d places, %d deleted folders", records, places, m.rows("z"))
	}
}
