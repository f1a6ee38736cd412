package storage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/maintenance"
)

func TestNames(t *testing.T) {
	w := newWorld(t)
	ms := fmt.Sprint(w.now.UnixMilli())
	w.update(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		for _, c := range [][2]string{
			{"", "Untitled"}, {"", "Untitled." + ms}, {" a/b ", "a-b"}, {"ミ@;#$:&?=+[]", "ミ@;#$:&?=+[]"}, {"x", "x"}, {"x", "x." + ms},
		} {
			d, err := tx.Create(root, "File", c[0], nil)
			if err != nil {
				return err
			}
			if d.Name() != c[1] || d.Path() != "/"+c[1] {
				t.Errorf("%q: got %q at %s, want %q", c[0], d.Name(), d.Path(), c[1])
			}
			again, err := tx.Doc(storage.Ref(d.Path()))
			if err != nil || again.ID() != d.ID() {
				t.Errorf("%s: %v", d.Path(), err)
			}
		}
		for name, kind := range map[string]fault.Kind{"..": fault.Invalid, ".": fault.Invalid, "a\x00": fault.Invalid, strings.Repeat("n", 256): fault.Limit} {
			_, err := tx.Create(root, "File", name, nil)
			wantKind(t, err, kind, "name")
		}
		_, err = tx.Create(root, "Foo", "x", nil)
		wantKind(t, err, fault.Invalid, "Type: Foo does not exist")
		_, err = tx.Create(root, "File", "x", storage.Props{"dc:nope": 1})
		wantKind(t, err, fault.Invalid, "dc:nope")
		return nil
	})
}

func TestChildrenPages(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.Limits.PageSize = 7 })
	w.make("/ws", "Workspace", nil)
	w.update(w.System(), func(tx *storage.Tx) error {
		for i := range 25 {
			if err := mk(tx, fmt.Sprintf("/ws/f%02d", i), "File", nil); err != nil {
				return err
			}
		}
		return nil
	})
	w.grant("/ws/f03", "-bob:Read")
	w.view(user("bob"), func(tx *storage.Tx) error {
		ws, err := tx.Doc("/ws")
		if err != nil {
			return err
		}
		show := func(o storage.PageOptions) (*storage.Page, string) {
			p, err := tx.Children(ws, o)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, d := range p.Docs {
				names = append(names, d.Name())
			}
			return p, fmt.Sprintf("%s total %d more %t next %t", strings.Join(names, " "), p.Total, p.More, p.HasNext)
		}
		for _, c := range []struct {
			o    storage.PageOptions
			want string
		}{
			{storage.PageOptions{}, "f00 f01 f02 f04 f05 f06 f07 total 24 more false next true"},
			{storage.PageOptions{Limit: 3, Offset: 2}, "f02 f04 f05 total 24 more false next true"},
			{storage.PageOptions{Limit: 5, Offset: 20, CountLimit: 10}, "f21 f22 f23 f24 total 10 more true next false"},
			{storage.PageOptions{Limit: 2, CountLimit: -1}, "f00 f01 total 3 more true next true"},
			{storage.PageOptions{Limit: 4, Offset: 20}, "f21 f22 f23 f24 total 24 more false next false"},
			{storage.PageOptions{Limit: 4, Offset: 90}, " total 24 more false next false"},
		} {
			if _, got := show(c.o); got != c.want {
				t.Errorf("%+v: got %s, want %s", c.o, got, c.want)
			}
		}
		count, after := 0, ""
		for {
			p, got := show(storage.PageOptions{Limit: 5, After: after})
			if p.Total != 24 || p.More {
				t.Errorf("after %d: %s", count, got)
			}
			count += len(p.Docs)
			if after = p.Next; after == "" {
				break
			}
		}
		if count != 24 {
			t.Errorf("cursor: %d entries", count)
		}
		_, err = tx.Children(ws, storage.PageOptions{After: "zzz!"})
		wantKind(t, err, fault.Invalid, "cursor")
		return nil
	})
}

func TestMoveAndCopy(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{"/a", "/a/b", "/a/b/c", "/t"} {
		w.make(p, "Folder", nil)
	}
	w.make("/a/b/c/f", "File", storage.Props{"dc:title": "F"})
	w.view(w.System(), func(tx *storage.Tx) error { // fills the folder cache
		_, err := tx.Doc("/a/b/c/f")
		return err
	})
	ms := fmt.Sprint(w.now.UnixMilli())
	w.update(w.System(), func(tx *storage.Tx) error {
		docs, err := tx.Docs(storage.Refs{"/a/b", "/t", "/a/b/c", "/a/b/c/f"})
		if err != nil {
			return err
		}
		b, target, c, f := docs[0], docs[1], docs[2], docs[3]
		for _, to := range []*storage.Doc{b, c} {
			err = tx.Nest(func() error { _, err := tx.Move(b, to, ""); return err })
			wantKind(t, err, fault.Conflict, "cannot move a node under itself")
			err = tx.Nest(func() error { _, err := tx.Copy(b, to, ""); return err })
			wantKind(t, err, fault.Conflict, "under itself")
		}
		if b, err = tx.Move(b, target, "moved"); err != nil {
			return err
		}
		if path, err := tx.Path(f); path != "/t/moved/c/f" || err != nil {
			t.Errorf("path of f: %s %v", path, err)
		}
		if _, err := tx.Lock(f); err != nil {
			return err
		}
		if _, err := tx.Follow(f, "approve"); err != nil {
			return err
		}
		copied, err := tx.Copy(b, target, "moved")
		if err != nil {
			return err
		}
		if copied.Path() != "/t/moved."+ms {
			t.Errorf("copy is at %s", copied.Path())
		}
		g, err := tx.DocFrom(copied, "./c/f")
		if err != nil {
			return err
		}
		if _, _, locked := g.Locked(); locked || g.State() != "approved" || g.ChangeToken() != "0-0" || g.Title() != "F" || g.ID() == f.ID() {
			t.Errorf("copy of f: locked %t, state %s, token %s", locked, g.State(), g.ChangeToken())
		}
		up, err := tx.Ancestors(g)
		if err != nil || len(up) != 4 || up[0].Path() != "/" || up[3].Name() != "c" {
			t.Errorf("ancestors: %d %v", len(up), err)
		}
		return nil
	})
	w.view(user("bob"), func(tx *storage.Tx) error {
		_, err := tx.Doc("/a/b/c/f")
		wantKind(t, err, fault.NotFound, "/a/b/c/f")
		d, err := tx.Doc("/t/moved/c/f")
		if err == nil && d.Path() != "/t/moved/c/f" {
			t.Errorf("path %s", d.Path())
		}
		return err
	})
	small := newWorld(t, func(c *storage.Config) { c.Limits.TreeCopy = 3; c.Limits.PathDepth = 4 })
	for _, p := range []string{"/a", "/a/1", "/a/2", "/a/3", "/b", "/b/1", "/b/1/1", "/b/1/1/1"} {
		small.make(p, "Folder", nil)
	}
	err := small.on(small.System(), "/a", func(tx *storage.Tx, d *storage.Doc) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		_, err = tx.Copy(d, root, "c")
		return err
	})
	wantKind(t, err, fault.Limit, "more than 3 documents")
	err = small.on(small.System(), "/b/1/1/1", func(tx *storage.Tx, d *storage.Doc) error {
		_, err := tx.Create(d, "Folder", "1", nil)
		return err
	})
	wantKind(t, err, fault.Limit, "levels deep")
}

func TestDelete(t *testing.T) {
	for _, count := range []int{5, 500} {
		w := newWorld(t)
		w.make("/ws", "Workspace", nil)
		w.make("/ws/d", "Folder", nil)
		w.update(w.System(), func(tx *storage.Tx) error {
			for i := range count {
				if i%50 == 0 {
					if err := mk(tx, fmt.Sprintf("/ws/d/%d", i/50), "Folder", nil); err != nil {
						return err
					}
				}
				if err := mk(tx, fmt.Sprintf("/ws/d/%d/%d", i/50, i), "File", nil); err != nil {
					return err
				}
			}
			return nil
		})
		var deep *storage.Doc
		w.view(w.System(), func(tx *storage.Tx) (err error) {
			deep, err = tx.Doc("/ws/d/0/3")
			return err
		})
		err := w.on(w.System(), "/ws/d", func(tx *storage.Tx, d *storage.Doc) error {
			if err := tx.Delete(d); err != nil {
				return err
			}
			_, err := tx.Doc(deep.Ref())
			wantKind(t, err, fault.NotFound, deep.ID())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		gone := func() {
			w.view(w.System(), func(tx *storage.Tx) error {
				for _, ref := range []storage.Ref{deep.Ref(), "/ws/d", "/ws/d/0/3"} {
					_, err := tx.Doc(ref)
					wantKind(t, err, fault.NotFound, string(ref))
				}
				return nil
			})
			if problems, err := maintenance.Verify(context.Background(), w.Repo); err != nil || len(problems) > 0 {
				t.Errorf("verify: %v %v", problems, err)
			}
		}
		gone()
		w.make("/ws/d", "Folder", nil)
		err = w.on(w.System(), "/ws/d", func(tx *storage.Tx, d *storage.Doc) error { return tx.Delete(d) })
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
		gone()
		if rows := w.rows("D"); rows != 6 {
			t.Errorf("%d documents: %d records are left, want 6", count, rows)
		}
	}
	w := newWorld(t)
	err := w.on(w.System(), "/", func(tx *storage.Tx, d *storage.Doc) error { return tx.Delete(d) })
	wantKind(t, err, fault.Conflict, "root")
}

// TestRandomTree compares random creations, moves and deletions with a plain tree.
func TestRandomTree(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(7, 7))
	parent := map[string]string{} // id to parent id
	var ids []string
	pick := func() string { return ids[rnd.IntN(len(ids))] }
	under := func(id, top string) bool {
		for ; id != ""; id = parent[id] {
			if id == top {
				return true
			}
		}
		return false
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		ids = append(ids, root.ID())
		return err
	})
	for step := range 1500 {
		w.now = w.now.Add(time.Millisecond)
		w.update(w.System(), func(tx *storage.Tx) error {
			at, to := pick(), pick()
			d, err := tx.Doc(storage.Ref(at))
			if err != nil {
				return err
			}
			target, err := tx.Doc(storage.Ref(to))
			if err != nil {
				return err
			}
			switch n := rnd.IntN(10); {
			case n < 5:
				typ := []string{"Folder", "File"}[rnd.IntN(2)]
				c, err := tx.Create(d, typ, fmt.Sprint("n", rnd.IntN(5)), nil)
				if err != nil {
					return err
				}
				parent[c.ID()] = at
				ids = append(ids, c.ID())
			case n < 9:
				_, err := tx.Move(d, target, "")
				if at == ids[0] || under(to, at) {
					wantKind(t, err, fault.Conflict, "")
					return nil
				}
				if err != nil {
					return err
				}
				parent[at] = to
			case at != ids[0]:
				if err := tx.Delete(d); err != nil {
					return err
				}
				left := ids[:0]
				for _, id := range ids {
					if !under(id, at) {
						left = append(left, id)
					}
				}
				ids = left
			}
			return nil
		})
		if step%100 == 0 {
			w.matches(parent, ids)
		}
	}
	w.matches(parent, ids)
}

// matches checks the whole tree against the parents known.
func (w *world) matches(parent map[string]string, ids []string) {
	w.t.Helper()
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		for _, id := range ids {
			d, err := tx.Doc(storage.Ref(id))
			if err != nil {
				return err
			}
			if d.ParentID() != parent[id] {
				w.t.Fatalf("%s is under %s, want %s", id, d.ParentID(), parent[id])
			}
			same, err := tx.Doc(storage.Ref(d.Path()))
			if err != nil || same.ID() != id {
				w.t.Fatalf("%s at %s: %v", id, d.Path(), err)
			}
		}
		return nil
	})
	if problems, err := maintenance.Verify(context.Background(), w.Repo); err != nil || len(problems) > 0 {
		w.t.Fatalf("verify: %v %v", problems, err)
	}
}

// TestConcurrentMoves moves folders around from several goroutines; no circle may appear.
func TestConcurrentMoves(t *testing.T) {
	w := newWorld(t)
	const nodes = 40
	for i := range nodes {
		w.make(fmt.Sprintf("/n%d", i), "Folder", nil)
	}
	ids := make([]storage.Ref, nodes)
	w.view(w.System(), func(tx *storage.Tx) error {
		for i := range ids {
			d, err := tx.Doc(storage.Ref(fmt.Sprintf("/n%d", i)))
			if err != nil {
				return err
			}
			ids[i] = d.Ref()
		}
		return nil
	})
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 250 {
				a, b := ids[rnd.IntN(nodes)], ids[rnd.IntN(nodes)]
				err := w.Update(context.Background(), w.System(), func(tx *storage.Tx) error {
					docs, err := tx.Docs(storage.Refs{a, b})
					if err != nil {
						return err
					}
					_, err = tx.Move(docs[0], docs[1], "")
					return err
				})
				if err != nil && !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if problems, err := maintenance.Verify(context.Background(), w.Repo); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
}

func TestCopySkipsWhatIsUnreadable(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{"/a", "/a/open", "/a/secret", "/to"} {
		w.make(p, "Folder", nil)
	}
	w.make("/a/secret/f", "File", nil)
	w.make("/a/open/f", "File", nil)
	w.grant("/a/secret", "-bob:Read")
	w.grant("/to", "bob:AddChildren")
	err := w.on(user("bob"), "/a", func(tx *storage.Tx, d *storage.Doc) error {
		to, err := tx.Doc("/to")
		if err != nil {
			return err
		}
		_, err = tx.Copy(d, to, "b")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		_, err := tx.Doc("/to/b/secret")
		wantKind(t, err, fault.NotFound, "/to/b/secret")
		_, err = tx.Doc("/to/b/open/f")
		return err
	})
}

// TestPlainDocumentsWithChildren moves a document that is no folder while it has no children, and asks
// for children made later: what is known of folders must not show where it was.
func TestPlainDocumentsWithChildren(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{"/a", "/b"} {
		w.make(p, "Folder", nil)
	}
	w.make("/a/f", "File", nil)
	w.make("/a/f/c", "File", nil)
	read := func(path string, want error) {
		t.Helper()
		err := w.View(context.Background(), user("bob"), func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(path))
			if err != nil {
				return err
			}
			if p, err := tx.Path(d); p != path || d.Path() != path || err != nil {
				t.Errorf("%s: at %s, %s", path, d.Path(), p)
			}
			f, err := tx.Parent(d)
			if err == nil && want == nil {
				_, err = tx.Path(f)
			}
			return err
		})
		if (err == nil) != (want == nil) || fault.Of(err) != fault.Of(want) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
	read("/a/f/c", nil)
	steps := []func(tx *storage.Tx, d *storage.Doc) error{
		func(tx *storage.Tx, d *storage.Doc) error {
			c, err := tx.Child(d, "c")
			if err != nil {
				return err
			}
			return tx.Delete(c)
		},
		func(tx *storage.Tx, d *storage.Doc) error {
			b, err := tx.Doc("/b")
			if err != nil {
				return err
			}
			_, err = tx.Move(d, b, "g")
			return err
		},
	}
	for _, step := range steps {
		if err := w.on(w.System(), "/a/f", step); err != nil {
			t.Fatal(err)
		}
	}
	w.make("/b/g/d", "File", nil)
	read("/b/g/d", nil)
	w.grant("/b/g", "-bob:Everything")
	read("/b/g/d", fault.NotFound.Errorf("/b/g/d"))
}
