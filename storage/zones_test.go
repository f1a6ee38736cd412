package storage_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/storagetest"
	"catena/storage/zone"

	"golang.org/x/sync/errgroup"
)

// logged is a repository with an audit log that tests add random records to.
type logged struct {
	*world
	rnd *rand.Rand
	n   int
}

func (l *logged) one(of ...string) string { return of[l.rnd.IntN(len(of))] }

// add writes records now, or with a random time in the past. Some are undone.
func (l *logged) add(tx *storage.Tx, n int, past bool) error {
	for range n {
		e := storage.Entry{
			Event: l.one("created", "modified", "removed"), Category: l.one("doc", "user"), User: l.one("ada", "bob", "eve"),
			Source: l.one("server", "client"), Comment: fmt.Sprint(l.n),
		}
		l.n++
		if l.rnd.IntN(50) == 0 {
			e.Event, e.User = "rare", fmt.Sprint("user", l.n)
		}
		if past {
			e.Time = l.now.Add(-time.Duration(l.rnd.Int64N(int64(30 * time.Hour))))
		}
		if l.rnd.IntN(3) > 0 {
			e.DocID = l.one("/a", "/a/b", "/c")
			d, err := tx.Doc(storage.Ref(e.DocID))
			if err != nil {
				return err
			}
			e.DocID = d.ID()
		}
		undone := errors.New("undone")
		err := tx.Nest(func() error {
			if err := tx.LogEntry(e); err != nil || l.rnd.IntN(20) > 0 {
				return err
			}
			return undone
		})
		if err != nil && !errors.Is(err, undone) {
			return err
		}
	}
	return nil
}

// filter is a random filter, and what it selects.
func (l *logged) filter() (f storage.EntryFilter, selects func(*storage.Entry) bool) {
	in := func(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }
	if l.rnd.IntN(3) == 0 {
		f.Events = []string{l.one("created", "rare", "none"), l.one("rare", "removed")}
	}
	if l.rnd.IntN(3) == 0 {
		f.Users = []string{l.one("ada", "bob", "user1", fmt.Sprint("user", l.rnd.IntN(l.n+1)))}
	}
	if l.rnd.IntN(4) == 0 {
		f.Categories = []string{l.one("doc", "user")}
	}
	if l.rnd.IntN(3) == 0 {
		f.From = l.now.Add(-time.Duration(l.rnd.Int64N(int64(40 * time.Hour))))
	}
	if l.rnd.IntN(3) == 0 {
		f.To = l.now.Add(-time.Duration(l.rnd.Int64N(int64(20 * time.Hour))))
	}
	path := ""
	if l.rnd.IntN(4) == 0 {
		path = l.one("/a", "/a/b", "/c", "/none", "")
		f.Parts = func(m *zone.Map) zone.Parts { return m.With(zone.Path, path) }
	}
	narrow := f.Parts != nil
	return f, func(e *storage.Entry) bool {
		return in(f.Events, e.Event) && in(f.Users, e.User) && in(f.Categories, e.Category) && !e.Time.Before(f.From) &&
			(f.To.IsZero() || e.Time.Before(f.To)) && (!narrow || e.DocPath == path)
	}
}

// check compares an answer with plain matching of the whole log.
func (l *logged) check(tx *storage.Tx, times int) error {
	l.t.Helper()
	all, err := tx.PlainEntries()
	for range times {
		err = cmp.Or(err, l.search(tx, all))
	}
	return err
}

// search compares the answer to one search.
func (l *logged) search(tx *storage.Tx, all []storage.Entry) error {
	l.t.Helper()
	f, selects := l.filter()
	f.Ascending = l.rnd.IntN(2) == 0
	var want, got []int64
	for i := range all {
		if e := &all[len(all)-1-i]; !f.Ascending && selects(e) {
			want = append(want, e.ID)
		} else if e := &all[i]; f.Ascending && selects(e) {
			want = append(want, e.ID)
		}
	}
	if f.Parts != nil || l.rnd.IntN(2) == 0 {
		if f.Parts == nil {
			f.Whole = func(n int) bool { return n < 0 }
		}
		err := f.Walk(tx, func(e storage.Entry, _ func() string) bool {
			if selects(&e) {
				got = append(got, e.ID)
			}
			return true
		})
		if err == nil && !slices.Equal(got, want) {
			l.t.Fatalf("%+v: walked %d records, want %d", f, len(got), len(want))
		}
		return err
	}
	// Pages by cursor from a random offset on.
	offset := l.rnd.IntN(len(want) + 10)
	f.Limit, f.Offset, f.CountLimit = 1+l.rnd.IntN(60), offset, 1+l.rnd.IntN(len(want)+10)
	for first := true; ; first = false {
		p, err := tx.Entries(f)
		if err != nil {
			return err
		}
		for i := range p.Entries {
			got = append(got, p.Entries[i].ID)
		}
		if first && (p.More != (len(want) > f.CountLimit) || p.Total != min(len(want), f.CountLimit)) {
			l.t.Fatalf("%+v: %d records in all, more %v; there are %d", f, p.Total, p.More, len(want))
		}
		if f.After = p.Next; f.After == "" {
			break
		}
	}
	if want = want[min(offset, len(want)):]; !slices.Equal(got, want) {
		l.t.Fatalf("%+v: %d records on pages, want %d", f, len(got), len(want))
	}
	return nil
}

// TestZonesSkip: what a search reads does not grow with the records that it is not about.
func TestZonesSkip(t *testing.T) {
	store := &storagetest.Counted{Store: memory.New()}
	w := newWorld(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	w.ShortZones(256)
	log := func(e storage.Entry) {
		w.now = w.now.Add(time.Second)
		w.update(w.System(), func(tx *storage.Tx) error { return tx.LogEntry(e) })
	}
	for i := range 5000 {
		if i == 700 {
			log(storage.Entry{Event: "rare", User: "bob"})
		}
		log(storage.Entry{Event: "often", User: "ada"})
	}
	w.now = w.now.Add(time.Hour)
	for range 2 {
		if err := w.SweepZones(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		f    storage.EntryFilter
		want int
		most int
	}{
		{"by event", storage.EntryFilter{Events: []string{"rare"}}, 1, 300},
		{"by user, oldest first", storage.EntryFilter{Users: []string{"bob"}, Ascending: true}, 1, 300},
		{"what there is none of", storage.EntryFilter{Users: []string{"eve"}}, 0, 300},
		{"first page", storage.EntryFilter{PageOptions: storage.PageOptions{Limit: 10, CountLimit: -1}}, 10, 15},
		{"distant page", storage.EntryFilter{PageOptions: storage.PageOptions{Limit: 10, Offset: 4500, CountLimit: -1}}, 10, 600},
	} {
		store.Reset()
		w.view(w.System(), func(tx *storage.Tx) error {
			p, err := tx.Entries(test.f)
			if err == nil && len(p.Entries) != test.want {
				t.Errorf("%s: %d records, want %d", test.name, len(p.Entries), test.want)
			}
			return err
		})
		if rows := store.Rows.Load(); rows > int64(test.most) {
			t.Errorf("%s: %d rows read, more than %d", test.name, rows, test.most)
		}
	}
	maps := func(want int) {
		t.Helper()
		w.view(w.System(), func(tx *storage.Tx) error {
			n, of, err := tx.Zones()
			if n != want || of != n*256 {
				t.Errorf("%d maps of %d records, want %d", n, of, want)
			}
			return err
		})
	}
	maps(19)
	// A record that comes late costs one map, which the next sweep makes again: here as two.
	w.update(w.System(), func(tx *storage.Tx) error {
		return tx.LogEntry(storage.Entry{Event: "late", User: "eve", Time: w.now.Add(-2 * time.Hour)})
	})
	maps(18)
	if err := w.SweepZones(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		n, of, err := tx.Zones()
		if n != 20 || of != 19*256+1 {
			t.Errorf("%d maps of %d records", n, of)
		}
		return err
	})
}

// TestZonesNodes: records that one process adds late while another makes maps are found by both.
func TestZonesNodes(t *testing.T) {
	var clock atomic.Int64 // seconds
	clock.Store(1_800_000_000)
	nodes := storagetest.OpenNodes(t, storagetest.Nodes(), func(c *storage.Config) {
		c.Clock = func() time.Time { return time.Unix(clock.Load(), 0).UTC() }
	})
	nodes = append(nodes, nodes[0])[:2]
	write := func(r *storage.Repo, n int, event string, back time.Duration) error {
		return r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
			for range n {
				e := storage.Entry{Event: event, User: "ada"}
				if back > 0 {
					e.Time = time.Unix(clock.Load(), 0).UTC().Add(-back)
				}
				if err := tx.LogEntry(e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, r := range nodes {
		r.ShortZones(64)
	}
	for round := range 6 {
		for range 20 {
			clock.Add(60)
			if err := write(nodes[0], 10, "often", 0); err != nil {
				t.Fatal(err)
			}
		}
		clock.Add(3600)
		var work errgroup.Group
		for i, r := range nodes {
			work.Go(func() error {
				for n := range 5 {
					if err := cmp.Or(write(r, 1, "late", time.Duration(30+10*n+i)*time.Minute*time.Duration(1+round)), r.SweepZones(t.Context())); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := work.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, r := range nodes {
			err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
				maps, _, err := tx.Zones()
				if err != nil || maps == 0 {
					return fmt.Errorf("%d maps: %w", maps, err)
				}
				p, err := tx.Entries(storage.EntryFilter{Events: []string{"late"}, PageOptions: storage.PageOptions{Limit: 1000}})
				if err == nil && len(p.Entries) != 10*(round+1) {
					t.Errorf("%d records, want %d", len(p.Entries), 10*(round+1))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
