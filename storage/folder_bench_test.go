package storage_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/search"
)

// Limits of the benchmarks below.
const (
	permissionsLimit = 1.5 // times the page of an administrator
	folderLimit      = 2.0 // times the first page
	moveLimit        = 50.0
)

// guarded are lists of fifty documents, of which not all may be read.
var guarded = []struct{ name, src string }{
	{"in order", "SELECT * FROM File WHERE ecm:isTrashed = 0 ORDER BY dc:modified DESC"},
	{"by a property", "SELECT * FROM File WHERE dc:coverage = 'c3' ORDER BY dc:title"},
	{"below a folder", "SELECT * FROM File WHERE ecm:path STARTSWITH '/default-domain/workspaces/level0' ORDER BY dc:title"},
}

// BenchmarkPermissions lists documents for somebody in a hundred groups, where folders and documents have
// access lists with dated and with blocking entries, and for an administrator.
func BenchmarkPermissions(b *testing.B) {
	n := benchScale(b)
	w := onDisk(b, func(w *world) {
		top := w.deep(5)
		w.many(100, func(i int) (string, string, string, storage.Props) { return top, "f" + strconv.Itoa(i), "Folder", nil })
		w.many(n, func(i int) (string, string, string, storage.Props) {
			return top + "/f" + strconv.Itoa(i%100), "d" + strconv.Itoa(i), "File", storage.Props{
				"dc:title": fmt.Sprint("Title ", i*7919%n), "dc:coverage": "c" + strconv.Itoa(i%20),
			}
		})
		w.block(top, n)
	})
	var groups []string
	for i := range 100 {
		groups = append(groups, fmt.Sprintf("group%d", i))
	}
	ann := &storage.Principal{Name: "ann", Groups: groups}
	for _, q := range guarded {
		for _, count := range []int{-1, 0} {
			name := q.name
			if count == 0 {
				name += " with total"
			}
			m := medians(100, 2, func(work int) {
				w.view([]*storage.Principal{ann, w.System()}[work], func(t *storage.Tx) error {
					p, err := search.Query(t, q.src, search.Options{PageOptions: storage.PageOptions{Limit: 50, CountLimit: count}})
					if err == nil && len(p.Docs) != 50 {
						b.Fatalf("%s: %d documents", name, len(p.Docs))
					}
					return err
				})
			})
			report(b, name, map[string]float64{"p50-µs": m[0], "administrator-p50-µs": m[1], "ratio": m[0] / m[1], "limit": permissionsLimit})
		}
	}
}

// block gives every folder, and every tenth document, an access list of its own; every tenth folder is
// closed to the groups, and so is every hundredth document.
func (w *world) block(top string, n int) {
	w.t.Helper()
	set := func(path string, i int) {
		group := fmt.Sprintf("group%d", i%100)
		entries := []storage.ACE{
			{User: "somebody", Permission: "Everything", Granted: true},
			{User: fmt.Sprintf("group%d", (i+1)%100), Permission: "Write", Granted: true, Begin: w.now.Add(time.Hour)},
			{User: fmt.Sprintf("group%d", (i+2)%100), Permission: "Read", Granted: true, End: w.now.Add(-time.Hour)},
			{User: group, Permission: "Read", Granted: true, Begin: w.now.Add(-time.Hour), End: w.now.Add(1000 * time.Hour)},
			{User: "Everyone", Permission: "Everything"},
		}
		if i%10 == 9 {
			entries = append(entries[:3], entries[4])
		}
		w.update(w.System(), func(t *storage.Tx) error {
			d, err := t.Doc(storage.Ref(path))
			if err == nil {
				_, err = t.SetACL(d, "local", entries)
			}
			return err
		})
	}
	for i := range 100 {
		set(top+"/f"+strconv.Itoa(i), i)
	}
	for i := 0; i < min(n, 10_000); i += 10 {
		set(fmt.Sprintf("%s/f%d/d%d", top, i%100, i), i/10)
	}
}

// BenchmarkFolder walks through the children of one large folder and compares its first page with one
// far behind, both reached by a cursor.
func BenchmarkFolder(b *testing.B) {
	n := benchScale(b)
	w := onDisk(b, func(w *world) {
		w.make("/big", "Folder", nil)
		w.many(n, func(i int) (string, string, string, storage.Props) {
			return "/big", "d" + strconv.Itoa(i), "File", storage.Props{"dc:title": fmt.Sprintf("title %08d", i*7919%n)}
		})
	})
	var id string
	w.view(w.System(), func(t *storage.Tx) error {
		d, err := t.Doc("/big")
		id = d.ID()
		return err
	})
	bob, size := user("bob"), min(100, n/1000)
	lists := map[string]func(t *storage.Tx, o storage.PageOptions) (*storage.Page, error){
		"children": func(t *storage.Tx, o storage.PageOptions) (*storage.Page, error) {
			d, err := t.Doc("/big")
			if err != nil {
				return nil, err
			}
			return t.Children(d, o)
		},
		"by title": func(t *storage.Tx, o storage.PageOptions) (*storage.Page, error) {
			return search.Query(t, "SELECT * FROM Document WHERE ecm:parentId = '"+id+"' ORDER BY dc:title", search.Options{PageOptions: o})
		},
		"by position": func(t *storage.Tx, o storage.PageOptions) (*storage.Page, error) {
			return search.Query(t, "SELECT * FROM Document WHERE ecm:parentId = '"+id+"' ORDER BY ecm:pos", search.Options{PageOptions: o})
		},
	}
	for _, name := range []string{"children", "by title", "by position"} {
		page := func(after string) (p *storage.Page) {
			w.view(bob, func(t *storage.Tx) (err error) {
				if p, err = lists[name](t, storage.PageOptions{Limit: size, After: after}); err == nil && len(p.Docs) != size {
					b.Fatalf("%s: %d documents", name, len(p.Docs))
				}
				return err
			})
			return p
		}
		cursor := ""
		for range 999 {
			cursor = page(cursor).Next
		}
		m := medians(100, 2, func(work int) { page([]string{"", cursor}[work]) })
		report(b, name, map[string]float64{"first-p50-µs": m[0], "1000th-p50-µs": m[1], "ratio": m[1] / m[0], "limit": folderLimit})
	}
}

// BenchmarkMoveTree moves a tree to and fro and asks by path what is in it, in the same transaction and
// after it.
func BenchmarkMoveTree(b *testing.B) {
	n := benchScale(b)
	w := onDisk(b, func(w *world) {
		w.make("/a", "Folder", nil)
		w.make("/b", "Folder", nil)
		w.make("/a/tree", "Folder", nil)
		w.many((n+99)/100, func(i int) (string, string, string, storage.Props) {
			return "/a/tree", "f" + strconv.Itoa(i), "Folder", nil
		})
		w.many(n, func(i int) (string, string, string, storage.Props) {
			return "/a/tree/f" + strconv.Itoa(i/100), "d" + strconv.Itoa(i), "File", storage.Props{"dc:source": "s" + strconv.Itoa(i)}
		})
	})
	rows, from, to := w.rows(""), "/a", "/b"
	find := func(t *storage.Tx, below string) int {
		p, err := search.Query(t, fmt.Sprintf("SELECT * FROM File WHERE ecm:path STARTSWITH '%s' AND dc:source = 's77'", below), search.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return len(p.Docs)
	}
	var asked time.Duration
	p50 := medians(20, 1, func(int) {
		w.update(w.System(), func(t *storage.Tx) error {
			d, err := t.Doc(storage.Ref(from + "/tree"))
			if err != nil {
				return err
			}
			target, err := t.Doc(storage.Ref(to))
			if err == nil {
				_, err = t.Move(d, target, "")
			}
			return err
		})
		start := time.Now()
		w.view(user("bob"), func(t *storage.Tx) error {
			if find(t, from) != 0 || find(t, to+"/tree") != 1 {
				b.Fatal("a query by path does not see the move")
			}
			return nil
		})
		asked = time.Since(start)
		from, to = to, from
	})[0]
	if now := w.rows(""); now-rows > 24*6 {
		b.Fatalf("%d rows before, %d after", rows, now)
	}
	report(b, "docs="+strconv.Itoa(n), map[string]float64{"move-and-query-p50-ms": p50 / 1000, "two-queries-ms": float64(asked.Microseconds()) / 1000, "limit-ms": moveLimit})
}
