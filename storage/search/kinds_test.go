package search

import (
	"fmt"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/retention"
)

// TestRareKinds: the documents of a kind that few are of are found without reading the others.
func TestRareKinds(t *testing.T) {
	w := deck(t, nil)
	write(t, w.Repo, func(tx *storage.Tx) error {
		folder, err := tx.Doc("/cards")
		for i := 0; err == nil && i < 1000; i++ {
			_, err = tx.Create(folder, []string{"Card", "File"}[i%2], fmt.Sprint("more", i), nil)
		}
		return err
	})
	write(t, w.Repo, func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		held, err := tx.Create(root, "File", "held", nil)
		if err == nil {
			_, err = tx.CreateProxy(held, root)
		}
		if err == nil {
			_, err = tx.CheckIn(held, false, "")
		}
		if err == nil {
			held, err = retention.MakeRecord(tx, held)
		}
		if err == nil {
			held, err = retention.Hold(tx, held, true, "")
		}
		if err == nil {
			_, err = retention.Retain(tx, held, storage.Until(tx.Now().Add(time.Hour).UnixMilli()))
		}
		if err != nil {
			return err
		}
		if _, err = tx.Create(root, "OrderedFolder", "ordered", nil); err != nil {
			return err
		}
		hidden, err := tx.Create(root, "File", "hidden", nil)
		if err == nil {
			err = hidden.AddFacet("HiddenInNavigation")
		}
		if err == nil {
			_, err = tx.Save(hidden, storage.SaveOptions{})
		}
		if err == nil {
			hidden, err = tx.Create(root, "File", "gone", nil)
		}
		if err == nil {
			_, err = tx.SetTrashed(hidden, true)
		}
		return err
	})
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, c := range []struct {
			query, path string
			found       int
		}{
			{"SELECT * FROM File WHERE ecm:isProxy = 1", "proxy", 1},
			{"SELECT * FROM Document WHERE ecm:isProxy = 1 AND ecm:isTrashed = 0", "proxy", 1},
			{"SELECT * FROM File WHERE ecm:isVersion = 1", "version", 1},
			{"SELECT * FROM File WHERE ecm:isTrashed = 1", "trash", 1},
			{"SELECT * FROM Document WHERE ecm:isTrashed = 1 AND ecm:path STARTSWITH '/' AND ecm:isVersion = 0", "trash", 1},
			{"SELECT * FROM Document WHERE ecm:isTrashed = 1 ORDER BY dc:modified DESC, ecm:isTrashed", "trash", 1},
			{"SELECT * FROM File WHERE ecm:hasLegalHold = 1", "retention", 1},
			{"SELECT * FROM Document WHERE ecm:isRecord = 1 AND ecm:retainUntil > NOW()", "retention", 1},
			{"SELECT * FROM Document WHERE ecm:retainUntil IS NOT NULL", "retention", 1},
			{"SELECT * FROM File WHERE ecm:mixinType = 'HiddenInNavigation'", "OR 0: facet", 1},
			{"SELECT * FROM Document WHERE ecm:mixinType IN ('Orderable', 'Collection')", "OR 0: facet | type", 1},
		} {
			x := planned(t, tx, c.query)
			if err := x.run(); err != nil || x.p.path.name != c.path || len(x.candidates) != c.found || x.page.Total != c.found || x.t.spent.rows > 20 {
				t.Errorf("%s: %q finds %d of %d with %d rows (%v)", c.query, x.p.path.name, len(x.candidates), x.page.Total, x.t.spent.rows, err)
			}
		}
		return nil
	})
}
