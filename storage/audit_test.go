package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"catena/storage"
)

// TestAuditRows: entries of one transaction share rows, and yet each is found once, in order, page by
// page both ways, in the whole log and in that of its document.
func TestAuditRows(t *testing.T) {
	w := newWorld(t)
	w.make("/a", "Folder", nil)
	w.make("/b", "Folder", nil)
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var want []string // by time, as they were written
	of := map[string]string{}
	log := func(tx *storage.Tx, doc, event string, when time.Time, extra map[string]any) error {
		d, err := tx.Doc(storage.Ref(doc))
		if err != nil {
			return err
		}
		return tx.LogEntry(storage.Entry{Event: event, DocID: d.ID(), Time: when, Extended: extra})
	}
	ids := map[string]string{"": ""}
	w.view(w.System(), func(tx *storage.Tx) error {
		for _, path := range []string{"/a", "/b"} {
			d, err := tx.Doc(storage.Ref(path))
			if err != nil {
				return err
			}
			ids[path] = d.ID()
		}
		return nil
	})
	undone := errors.New("undone")
	for i := range 6 {
		w.update(w.System(), func(tx *storage.Tx) error {
			for j := range 3 * i * i {
				doc, event := []string{"/a", "/b"}[j%2], fmt.Sprintf("e%d.%d", i, j)
				when := at.Add(time.Duration(i) * time.Minute)
				if j%25 == 24 { // undone, with rows that are full, and others after it in the row it was begun in
					err := tx.Nest(func() error {
						for range j {
							if err := log(tx, doc, event, when, nil); err != nil {
								return err
							}
						}
						return undone
					})
					if !errors.Is(err, undone) {
						return err
					}
					continue
				}
				if err := log(tx, doc, event, when, map[string]any{"doc": doc, "n": float64(j)}); err != nil {
					return err
				}
				want, of[event] = append(want, event), doc
			}
			return nil
		})
	}
	pages := func(f storage.EntryFilter) (all []storage.Entry) {
		t.Helper()
		w.view(w.System(), func(tx *storage.Tx) error {
			for {
				p, err := tx.Entries(f)
				if err != nil {
					return err
				}
				all = append(all, p.Entries...)
				if f.After = p.Next; f.After == "" {
					return nil
				}
			}
		})
		return all
	}
	for _, size := range []int{1, 7, 1000} {
		for _, ascending := range []bool{true, false} {
			for _, doc := range []string{"", "/a", "/b"} {
				f := storage.EntryFilter{DocID: ids[doc], From: at, To: at.Add(time.Hour), Ascending: ascending}
				f.Limit = size
				var got []string
				for _, e := range pages(f) {
					got = append(got, e.Event)
					if e.Extended["doc"] != e.DocPath || e.Event != fmt.Sprintf("e%d.%v", int(e.Time.Sub(at).Minutes()), e.Extended["n"]) {
						t.Fatalf("%+v", e)
					}
					if doc != "" && e.DocPath != doc {
						t.Fatalf("%s in the log of %s: %+v", e.DocPath, doc, e)
					}
				}
				wanted := slices.Clone(want)
				if doc != "" {
					wanted = slices.DeleteFunc(wanted, func(event string) bool { return of[event] != doc })
				}
				if !ascending {
					slices.Reverse(wanted)
				}
				if !slices.Equal(got, wanted) {
					t.Fatalf("size %d, ascending %v, of %q:\ngot  %q\nwant %q", size, ascending, doc, got, wanted)
				}
			}
		}
	}
	if rows := w.rows("a\x01"); rows > len(want)/4 {
		t.Errorf("%d entries take %d rows", len(want), rows)
	}
}
