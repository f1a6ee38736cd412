//go:build !race

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/search"
)

// TestZones: searches find with zone maps what they find without them, whatever is written when, by whichever program.
func TestZones(t *testing.T) {
	for seed := range uint64(4) {
		l := &logged{world: newWorld(t), rnd: rand.New(rand.NewPCG(seed, 1))}
		l.ShortZones(64 << l.rnd.IntN(2))
		for _, path := range []string{"/a", "/a/b", "/c"} {
			l.make(path, "Folder", nil)
		}
		made := 0
		for range 120 {
			l.now = l.now.Add(time.Duration(l.rnd.Int64N(int64(20 * time.Minute))))
			switch l.rnd.IntN(12) {
			case 0:
				l.update(l.System(), func(tx *storage.Tx) error { return l.add(tx, 1+l.rnd.IntN(20), true) })
			case 1:
				if l.rnd.IntN(3) > 0 {
					continue
				}
				if err := l.WithoutZones(context.Background(), func(tx *storage.Tx) error { return l.add(tx, 3, true) }); err != nil {
					t.Fatal(err)
				}
			case 2, 6:
				if err := l.SweepIndexes(context.Background()); err != nil {
					t.Fatal(err)
				}
			case 3, 4:
				if err := l.SweepZones(context.Background()); err != nil {
					t.Fatal(err)
				}
			case 5: // the clock is set back
				l.now = l.now.Add(-time.Hour)
			default:
				l.update(l.System(), func(tx *storage.Tx) error { return l.add(tx, l.rnd.IntN(60), false) })
			}
			l.view(l.System(), func(tx *storage.Tx) error {
				// After a program that knows of no maps they may be wrong, and are not used until they are made again.
				if n, _, err := tx.Zones(); err == nil {
					made = max(made, n)
				}
				return l.check(tx, 4)
			})
			if l.rnd.IntN(4) == 0 { // with records of its own
				l.update(l.System(), func(tx *storage.Tx) error { return errors.Join(l.add(tx, 5, l.rnd.IntN(2) == 0), l.check(tx, 1)) })
			}
		}
		if made < 5 {
			t.Errorf("seed %d: at most %d maps", seed, made)
		}
	}
}

// TestAnyNumberOfResultsIsOrdered: no bound holds for results that an index orders, or that indexes find, whatever else
// they are sorted by.
func TestAnyNumberOfResultsIsOrdered(t *testing.T) {
	const docs = 10_500
	w := newWorld(t, withTypes(t, itemTypes), func(c *storage.Config) { c.Limits.QueryRows = 3000 })
	w.many(docs, func(i int) (string, string, string, storage.Props) {
		p := storage.Props{"item:status": []string{"open", "approved"}[i%2], "item:priority": int64(i % 10), "item:note": fmt.Sprint("n", i%7)}
		if i%21 > 0 {
			p["item:rank"] = int64(i * 7919 % docs)
		}
		if i%3 == 0 {
			p["item:shelf"] = fmt.Sprintf("s%05d", i)
		}
		return "/default-domain/workspaces", fmt.Sprint("d", i), "Item", p
	})
	for src, want := range map[string]int{
		"SELECT * FROM Item ORDER BY item:rank DESC":                                                                       docs,
		"SELECT * FROM Item ORDER BY item:rank":                                                                            docs,
		"SELECT * FROM Item ORDER BY item:shelf":                                                                           docs,
		"SELECT * FROM Item ORDER BY item:shelf DESC, item:rank":                                                           docs,
		"SELECT * FROM Item ORDER BY item:status, item:rank DESC":                                                          docs,
		"SELECT * FROM Item WHERE item:status = 'approved' AND item:priority >= 5 ORDER BY item:rank DESC":                 3 * docs / 10,
		"SELECT * FROM Item WHERE item:status = 'approved' AND item:priority >= 5 ORDER BY item:shelf":                     3 * docs / 10,
		"SELECT * FROM Item WHERE item:status <> 'open' AND item:priority NOT IN (1, 3) ORDER BY item:rank DESC, dc:title": 3 * docs / 10,
		"SELECT * FROM Item WHERE item:status = 'approved' AND item:priority = 4 ORDER BY item:rank":                       0,
	} {
		w.view(user("ann"), func(tx *storage.Tx) error {
			seen := map[string]bool{}
			o := search.Options{PageOptions: storage.PageOptions{Limit: 1000, CountLimit: -1}}
			var keys []string
			for {
				p, err := search.Query(tx, src, o)
				if err != nil {
					t.Errorf("%s: %v", src, err)
					return nil
				}
				for _, d := range p.Docs {
					seen[d.ID()] = true
					keys = append(keys, orderKey(d, src))
				}
				if o.After = p.Next; !p.HasNext {
					break
				}
			}
			if len(seen) != want || len(keys) != want || !slices.IsSorted(keys) {
				t.Errorf("%s: %d documents, %d of them different, in order: %t; want %d", src, len(keys), len(seen), slices.IsSorted(keys), want)
			}
			p, err := search.Query(tx, src, search.Options{PageOptions: storage.PageOptions{Limit: 10}})
			if err != nil || p.Total != min(want, 1000) || p.More != (want > 1000) {
				t.Errorf("%s: total %d, more %t, %v", src, p.Total, p.More, err)
			}
			return nil
		})
	}
}
