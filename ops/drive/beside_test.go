package drive_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"catena/ops/drive"
	"catena/storage"
)

// TestSummariesBesideWriters: what was begun before somebody asked, and is committed after that, is told later, also
// if it was begun before anybody had ever asked.
func TestSummariesBesideWriters(t *testing.T) {
	w := open(t)
	var folders [3]string
	create := func(in int, meanwhile func()) {
		w.must("Administrator", func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(folders[in]))
			if err != nil {
				return err
			}
			_, err = tx.Create(d, "Folder", "", nil)
			do := meanwhile
			meanwhile = func() {} // once, also if the transaction runs again
			do()
			return err
		})
	}
	w.must("Administrator", func(tx *storage.Tx) error {
		d, err := tx.Root()
		for i := 0; i < len(folders) && err == nil; i++ {
			var made *storage.Doc
			if made, err = tx.Create(d, "Folder", "", nil); err == nil {
				folders[i] = made.ID()
			}
			if i == 0 {
				d = made
			}
		}
		return err
	})
	c := &computer{t: t, repo: w.Repo, user: "Administrator", items: map[string]copied{}, upTo: -1}
	g := &gardener{world: w}
	create(1, func() {
		g.register("Administrator", folders[0], true)
		c.sync()
		c.items = c.now()
	})
	check := func(what string) {
		t.Helper()
		c.sync()
		if is := c.now(); !maps.Equal(c.items, is) {
			t.Errorf("%s: the copy differs\n%s", what, differ(c.items, is))
		}
	}
	check("begun before anybody asked")
	create(1, func() {
		create(2, func() {})
		c.sync()
	})
	check("begun before somebody asked")
}

// TestGivenUpLast: of two folders that are given up, the last one is told of first, also if the feed does not reach that far yet, because
// a transaction that began before is open. On one server in memory it always does.
func TestGivenUpLast(t *testing.T) {
	t.Setenv("TEST_STORE", "postgres")
	w := open(t)
	var older, newer string
	w.must("Administrator", func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		for _, id := range []*string{&older, &newer} {
			d, err := tx.Create(root, "Folder", "", storage.Props{"dc:title": "Same"})
			if err != nil {
				return err
			}
			*id = d.ID()
		}
		return nil
	})
	g := &gardener{world: w}
	view := func(since int64, roots *string) (s *drive.Summary) {
		t.Helper()
		w.must("Administrator", func(tx *storage.Tx) error {
			v, err := drive.Open(tx)
			if err == nil {
				s, err = v.Changes(since, roots)
			}
			return err
		})
		return s
	}
	// Transactions of others on the database hold up the feed, too: it is waited for until it tells of an event last.
	reaches := func(event, id string) {
		t.Helper()
		last := ""
		for end := time.Now().Add(time.Minute); last != event; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the feed tells of %q last, want %q", last, event)
			}
			w.must("Administrator", func(tx *storage.Tx) error {
				entries, _, _, err := storage.ReadFeed(tx.As(tx.Repo().System()), 0, 1000)
				for _, e := range entries {
					if e.Doc == id {
						last = e.Event
					}
				}
				return err
			})
		}
	}
	for range 2 { // which of the two is the last one is not seen from their order
		g.register("Administrator", older, true)
		g.register("Administrator", newer, true)
		reaches(storage.RootRegistered, newer)
		before := view(-1, nil)
		g.register("Administrator", older, false)
		reaches(storage.RootUnregistered, older)
		var told []string
		w.must("Administrator", func(tx *storage.Tx) error {
			root, err := tx.Root()
			if err != nil {
				return err
			}
			if _, err := tx.Create(root, "File", "", nil); err != nil {
				return err
			}
			if told == nil { // once, also if the transaction runs again
				g.register("Administrator", newer, false)
				for _, c := range view(before.UpTo, &before.RootsText).Changes {
					told = append(told, c.Event+" "+c.DocID)
				}
			}
			return nil
		})
		if want := []string{"deleted " + newer, "deleted " + older}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		older, newer = newer, older
	}
}
