package storage_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/schema"
	"catena/storage/search"
	"catena/storage/storagetest"
)

// TestReadsOfAPage holds how often the store is asked for a page of fifty documents: once for each document,
// and a few times for the page, whatever is asked about the documents.
func TestReadsOfAPage(t *testing.T) {
	store := &storagetest.Counted{Store: memory.New()}
	w := newWorld(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	top := w.deep(8)
	w.grant(top, "bob:Read", "staff:ReadWrite")
	w.many(3000, func(i int) (string, string, string, storage.Props) {
		return top, fmt.Sprint("d", i), "File", storage.Props{"dc:title": fmt.Sprint("t", i), "dc:source": fmt.Sprint("s", i%50), "dc:nature": fmt.Sprint("n", i%7)}
	})
	bob := user("bob")
	page := func(tx *storage.Tx, src string, count int) storage.Docs {
		p, err := search.Query(tx, src, search.Options{PageOptions: storage.PageOptions{Limit: 50, CountLimit: count}})
		if err != nil || len(p.Docs) != 50 {
			t.Fatalf("%s: %v", src, err)
		}
		return p.Docs
	}
	for _, c := range []struct {
		name        string
		keys, scans int64 // at most
		read        func(tx *storage.Tx) error
	}{
		{"in order", 53, 2, func(tx *storage.Tx) error { page(tx, "SELECT * FROM File ORDER BY dc:title", -1); return nil }},
		{"in order, with total", 53, 2, func(tx *storage.Tx) error { page(tx, "SELECT * FROM File ORDER BY dc:title", 1000); return nil }},
		{"range, with total", 53, 3, func(tx *storage.Tx) error {
			page(tx, "SELECT * FROM File WHERE dc:title >= 't1' AND ecm:isTrashed = 0 ORDER BY dc:title", 1000)
			return nil
		}},
		{"children by position, with total", 1001 + 104, 3, func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(top))
			if err == nil {
				page(tx, "SELECT * FROM Document WHERE ecm:parentId = '"+d.ID()+"' ORDER BY ecm:pos", 1000)
			}
			return err
		}},
		{"sorted", 63, 5, func(tx *storage.Tx) error {
			page(tx, "SELECT * FROM File WHERE dc:source = 's7' ORDER BY dc:title", 1000)
			return nil
		}},
		{"enriched", 53 + 22 + 2*4, 2, func(tx *storage.Tx) error {
			for _, d := range page(tx, "SELECT * FROM File ORDER BY dc:title", -1) {
				above, err := tx.Ancestors(d)
				if err != nil || len(above) != 11 {
					return fmt.Errorf("%d documents above: %w", len(above), err)
				}
				if lists, err := tx.ACLs(d); err != nil || len(lists) == 0 {
					return fmt.Errorf("%d access lists: %w", len(lists), err)
				}
				if len(tx.Permissions(d)) == 0 || !tx.Can(d, "Read") || tx.Can(d, "Write") {
					return fmt.Errorf("permissions %v", tx.Permissions(d))
				}
			}
			return nil
		}},
	} {
		w.view(bob, c.read) // to know the folders
		store.Reset()
		w.view(bob, c.read)
		if keys, scans := store.Keys.Load(), store.Scans.Load(); keys > c.keys || scans > c.scans {
			t.Errorf("%s: %d keys and %d ranges read, at most %d and %d", c.name, keys, scans, c.keys, c.scans)
		}
	}
}

// TestReadsDoNotGrow holds that a question whose answer has the same size reads no more in a repository
// that is twice as large: neither keys, nor ranges, nor rows of these. What then still grows are the
// levels of the store.
func TestReadsDoNotGrow(t *testing.T) {
	sizes := []int{1200, 2400}
	// Where two lists are long, the planner reads up to so many rows of the second one for a document of the first.
	most := map[string]int{"two common predicates in order": 25 * answer}
	var stores [2]*storagetest.Counted
	var worlds [2]*world
	for i, n := range sizes {
		stores[i] = &storagetest.Counted{Store: memory.New()}
		worlds[i] = newWorld(t, func(c *storage.Config) {
			var err error
			if c.Types, err = schema.Load(schema.Defaults(), fstest.MapFS{"bench.yaml": {Data: []byte(crateTypes)}}); err != nil {
				t.Fatal(err)
			}
			c.DB = kv.New(stores[i], kv.Options{})
		})
		worlds[i].grow(n)
	}
	bob := user("bob")
	for _, q := range growing {
		var reads [2][3]int
		for i, w := range worlds {
			for range 2 { // the first time to know the folders
				stores[i].Reset()
				w.view(bob, func(tx *storage.Tx) error {
					p, err := search.Query(tx, fmt.Sprintf(q.src, 7), search.Options{PageOptions: storage.PageOptions{Limit: 50}})
					if err == nil && len(p.Docs) == 0 {
						t.Errorf("%s: nothing found", q.name)
					}
					return err
				})
			}
			reads[i] = [3]int{int(stores[i].Keys.Load()), int(stores[i].Scans.Load()), int(stores[i].Rows.Load())}
		}
		if few, many := reads[0], reads[1]; many[0] > few[0] || many[1] > few[1] || many[2] > max(few[2], most[q.name]) {
			t.Errorf("%s: reads %v (keys, ranges, rows) of %d documents, %v of %d", q.name, reads[0], sizes[0], reads[1], sizes[1])
		}
	}
}

// TestReadsOfContent reads small and large files inside a transaction: it is the one snapshot, and shows what
// the transaction has written itself.
func TestReadsOfContent(t *testing.T) {
	store := &storagetest.Counted{Store: memory.New()}
	w := newWorld(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	text := map[string]string{"small": "short", "large": strings.Repeat("long", 64<<10)}
	read := func(tx *storage.Tx, name string) {
		t.Helper()
		d, err := tx.Doc(storage.Ref("/" + name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Blob("file:content")
		if err != nil {
			t.Fatal(err)
		}
		if data, err := tx.Bytes(b, 1<<20); err != nil || string(data) != text[name] {
			t.Errorf("%s: %d bytes: %v", name, len(data), err)
		}
		if _, err := tx.Bytes(b, 3); !fault.Is(err, fault.Limit) {
			t.Errorf("%s, three bytes of it: %v", name, err)
		}
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		for name, content := range text {
			b, err := tx.NewBlob(name, "text/plain", strings.NewReader(content))
			if err != nil {
				return err
			}
			root, err := tx.Doc("/")
			if err != nil {
				return err
			}
			if _, err := tx.Create(root, "File", name, storage.Props{"file:content": b}); err != nil {
				return err
			}
			read(tx, name)
		}
		return nil
	})
	begun := store.Begun.Load()
	err := w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
		read(tx, "small")
		read(tx, "large")
		return nil
	})
	if err != nil || store.Begun.Load() != begun+1 {
		t.Errorf("%d snapshots, want 1: %v", store.Begun.Load()-begun, err)
	}
}

// TestFoundUnreadable: what may not be read is passed over without reading its content, whatever finds it.
func TestFoundUnreadable(t *testing.T) {
	w := newWorld(t)
	w.many(120, func(i int) (string, string, string, storage.Props) {
		props := storage.Props{"dc:title": "rare", "dc:source": "source"}
		if i%3 == 0 {
			props = storage.Props{"dc:title": "frequent", "dc:source": "the source"}
		}
		return "/default-domain/workspaces", fmt.Sprintf("d%03d", i), "File", props
	})
	indexText(t, w.Repo)
	search.SetCosts(w.Repo, search.Costs{Sorted: 10, Few: 5, Subtree: 5, Known: 1000, Loads: 5, Factor: 1})
	for _, tt := range []struct {
		query, access string
		found         int
	}{
		{"SELECT * FROM File WHERE ecm:fulltext = 'frequent'", "ecm:uuid, documents found", 40},
		{"SELECT * FROM File WHERE ecm:fulltext = '\"frequent source\"'", "ecm:uuid, documents found", 0},
		{"SELECT * FROM File WHERE ecm:fulltext.dc:title = 'frequent'", "ecm:uuid, documents found", 40},
		{"SELECT * FROM Document WHERE dc:description IS NULL ORDER BY ecm:uuid", "ecm:uuid, every document", 125},
		{"SELECT * FROM File WHERE dc:description IS NULL ORDER BY dc:expired", "dc:expired", 120},
	} {
		w.view(w.System(), func(tx *storage.Tx) error {
			plan, err := search.Explain(tx.As(&storage.Principal{Name: "bob"}), tt.query, search.Options{})
			if err != nil || !strings.Contains(plan, "access: "+tt.access) || !strings.Contains(plan, " 0 documents besides") {
				t.Errorf("%s: %v\n%s", tt.query, err, plan)
			}
			all, err := search.Query(tx, tt.query, search.Options{})
			if err != nil || all.Total != tt.found || len(all.Docs) != tt.found {
				t.Errorf("%s: %d found (%v)", tt.query, all.Total, err)
			}
			return nil
		})
	}
}
