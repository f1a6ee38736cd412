package drive_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/ops/drive"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// world is where two users work.
type world struct {
	*storage.Repo
	t *testing.T
}

func open(t *testing.T) world {
	w := world{storagetest.Open(t, nil), t}
	w.must("Administrator", func(tx *storage.Tx) error {
		for _, name := range []string{"alice", "bob"} {
			if err := people.SaveUser(tx, &people.User{Username: name}, "secret"); err != nil {
				return err
			}
		}
		return people.SaveGroup(tx, &people.Group{Name: "staff"})
	})
	return w
}

func (w world) do(user string, fn func(tx *storage.Tx) error) error {
	as, err := w.Principal(context.Background(), user)
	if err != nil {
		return err
	}
	return w.Update(context.Background(), as, fn)
}

func (w world) must(user string, fn func(tx *storage.Tx) error) {
	w.t.Helper()
	if err := w.do(user, fn); err != nil {
		w.t.Fatal(err)
	}
}

// TestSummariesKeepCopies has two users change a tree at random, and anyone who keeps a copy of it by summaries has what
// may be read, and nothing else.
func TestSummariesKeepCopies(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w, r := open(t), rand.New(rand.NewPCG(seed, 1))
			g := &gardener{world: w, r: r}
			g.plant()
			if seed%4 == 3 {
				g.permit()
			}
			computers := []*computer{
				{t: t, repo: w.Repo, user: "alice", items: map[string]copied{}, upTo: -1},
				{t: t, repo: w.Repo, user: "bob", items: map[string]copied{}, upTo: -1},
			}
			for _, c := range computers {
				c.sync()
				c.items = c.now()
			}
			for step := range 150 {
				g.step()
				for _, c := range computers {
					if r.IntN(3) > 0 {
						continue
					}
					c.sync()
					is := c.now()
					// Where other processes write, the feed ends before the oldest transaction that is under way: what was committed
					// after it comes with a later summary.
					for deadline := time.Now().Add(time.Minute); c.repo.Shared() && !maps.Equal(c.items, is) && time.Now().Before(deadline); is = c.now() {
						time.Sleep(20 * time.Millisecond)
						c.sync()
					}
					if !maps.Equal(c.items, is) {
						t.Fatalf("step %d, %s: the copy differs\n%s\nlast:\n%s", step, c.user, differ(c.items, is), strings.Join(g.done[max(0, len(g.done)-12):], "\n"))
					}
				}
			}
		})
	}
}

func differ(have, want map[string]copied) string {
	var out []string
	for id, f := range have {
		if is, ok := want[id]; !ok || is != f {
			out = append(out, fmt.Sprintf("  copy %s %v, is %v", id, f, is))
		}
	}
	for id, f := range want {
		if _, ok := have[id]; !ok {
			out = append(out, fmt.Sprintf("  missing %s %v", id, f))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// gardener changes the tree.
type gardener struct {
	world
	r     *rand.Rand
	ids   []string
	homes map[string]string // by permission: the workspaces of users
	done  []string
}

// permit has roots shown by permission, and gives the users workspaces.
func (g *gardener) permit() {
	g.homes = map[string]string{}
	g.must("Administrator", func(tx *storage.Tx) error { return drive.SetProfile(tx, "permission") })
	for _, user := range []string{"alice", "bob"} {
		g.must(user, func(tx *storage.Tx) error {
			d, err := people.Home(tx, true)
			if err == nil {
				g.homes[user] = d.ID()
			}
			return err
		})
	}
}

func (g *gardener) plant() {
	g.must("Administrator", func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		if root, err = tx.Create(root, "Workspace", "all", nil); err != nil {
			return err
		}
		for _, name := range []string{"shared", "private", "other"} {
			d, err := tx.Create(root, "Workspace", name, storage.Props{"dc:title": name})
			if err != nil {
				return err
			}
			g.ids = append(g.ids, d.ID())
			if name == "private" {
				continue
			}
			if _, err := tx.SetACL(d, "local", []storage.ACE{{User: "alice", Permission: "Everything", Granted: true}, {User: "bob", Permission: "Everything", Granted: true}}); err != nil {
				return err
			}
		}
		g.ids = append(g.ids, root.ID())
		return nil
	})
	for range 40 {
		g.create("Administrator")
	}
	for _, user := range []string{"alice", "bob"} {
		g.register(user, g.ids[0], true)
	}
}

// any is one of the documents, of the first ones more often than of others: the roots are among them.
func (g *gardener) any() string {
	if g.r.IntN(8) == 0 {
		return g.ids[g.r.IntN(4)]
	}
	return g.ids[g.r.IntN(len(g.ids))]
}

// act runs a change that may be refused.
func (g *gardener) act(what, user string, fn func(tx *storage.Tx) error) {
	g.t.Helper()
	err := g.do(user, fn)
	g.done = append(g.done, fmt.Sprintf("  %s: %s: %v", user, what, err))
	var f *fault.Error
	if err != nil && !errors.As(err, &f) {
		g.t.Fatalf("%s: %v", what, err)
	}
}

func (g *gardener) on(what, user string, fn func(tx *storage.Tx, d *storage.Doc) error) {
	id := g.any()
	if home := g.homes[user]; home != "" && strings.HasPrefix(what, "create") && g.r.IntN(3) == 0 {
		id = home
	}
	g.act(what+" "+id, user, func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		return fn(tx, d)
	})
}

func (g *gardener) create(user string) {
	typ, n := "Folder", len(g.ids)
	props := storage.Props{"dc:title": fmt.Sprint("n", n)}
	switch g.r.IntN(5) {
	case 0, 1:
	case 2:
		typ, props["note:note"] = "Note", fmt.Sprint("text ", n)
	default:
		typ, props["file:content"] = "File", blob.FromBytes(fmt.Sprint("n", n, ".bin"), "application/octet-stream", fmt.Append(nil, n))
	}
	var made string
	g.on("create "+typ, user, func(tx *storage.Tx, d *storage.Doc) error {
		if !d.IsFolder() {
			return nil
		}
		child, err := tx.Create(d, typ, "", props)
		if err == nil {
			made = child.ID()
		}
		return err
	})
	if made != "" {
		g.ids = append(g.ids, made)
	}
}

func (g *gardener) register(user, id string, enable bool) {
	g.act(fmt.Sprintf("register %s %t", id, enable), user, func(tx *storage.Tx) error {
		v, err := drive.Open(tx)
		if err != nil {
			return err
		}
		d, err := tx.Doc(storage.Ref(id))
		switch {
		case err != nil:
			return err
		case enable:
			return v.Register(d)
		}
		return v.Unregister(d)
	})
}

func (g *gardener) step() {
	user := []string{"alice", "bob", "Administrator"}[g.r.IntN(3)]
	switch g.r.IntN(24) {
	case 0, 1, 2, 17, 18, 19, 20:
		g.create(user)
	case 3, 4:
		g.on("rename", user, func(tx *storage.Tx, d *storage.Doc) error {
			if err := d.Set("dc:title", fmt.Sprint("renamed ", g.r.IntN(1000))); err != nil {
				return err
			}
			_, err := tx.Save(d, storage.SaveOptions{})
			return err
		})
	case 5, 6, 7:
		to := g.any()
		g.on("move to "+to, user, func(tx *storage.Tx, d *storage.Doc) error {
			target, err := tx.Doc(storage.Ref(to))
			if err == nil && target.IsFolder() {
				_, err = tx.Move(d, target, "")
			}
			return err
		})
	case 8, 9, 21, 22:
		trash := g.r.IntN(2) == 0
		g.on(fmt.Sprint("trash ", trash), user, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.SetTrashed(d, trash)
			return err
		})
	case 10, 16:
		g.on("delete", "Administrator", func(tx *storage.Tx, d *storage.Doc) error {
			if slices.Index(g.ids, d.ID()) < 4 || d.IsTrashed() {
				return nil
			}
			g.ids = slices.DeleteFunc(g.ids, func(id string) bool { return id == d.ID() })
			return tx.Delete(d)
		})
	case 11, 12:
		entries := [][]storage.ACE{
			nil,
			{{User: "bob", Permission: "Everything"}},
			{{User: "alice", Permission: "Everything"}},
			{{User: "bob", Permission: "Read", Granted: true}, {User: "Everyone", Permission: "Everything"}},
			{{User: "staff", Permission: "Everything", Granted: true}},
			{{User: "staff", Permission: "ReadWrite", Granted: true}, {User: "Everyone", Permission: "Everything"}},
			{{User: "bob", Permission: "Everything", Granted: true}},
		}[g.r.IntN(7)]
		g.on(fmt.Sprint("rights ", entries), "Administrator", func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.SetACL(d, "local", entries)
			return err
		})
	case 13:
		by, id := []string{"alice", "bob"}[g.r.IntN(2)], g.any()
		if home := g.homes[by]; home != "" && g.r.IntN(2) == 0 {
			id = home
		}
		g.register(by, id, g.r.IntN(3) > 0)
	case 14, 23:
		g.act("group", "Administrator", func(tx *storage.Tx) error {
			return people.SaveGroup(tx, &people.Group{Name: "staff", Users: [][]string{nil, {"bob"}, {"alice", "bob"}}[g.r.IntN(3)]})
		})
	case 15:
		g.on("content", user, func(tx *storage.Tx, d *storage.Doc) error {
			if d.Type().Name != "File" {
				return nil
			}
			var content any
			if g.r.IntN(3) > 0 {
				content = blob.FromBytes("new.bin", "application/octet-stream", fmt.Append(nil, g.r.IntN(100)))
			}
			if err := d.Set("file:content", content); err != nil {
				return err
			}
			_, err := tx.Save(d, storage.SaveOptions{})
			return err
		})
	}
}

// TestSummaryLimit: as many changes as a summary may tell are told; one more, and everything is to be read again.
func TestSummaryLimit(t *testing.T) {
	w := world{storagetest.Open(t, func(c *storage.Config) { c.Bounds = c.Bounds.With(drive.Limits{Changes: 7}) }), t}
	for n, want := range map[int]bool{7: false, 8: true} {
		var folder string
		w.must("Administrator", func(tx *storage.Tx) error {
			root, err := tx.Root()
			if err != nil {
				return err
			}
			d, err := tx.Create(root, "Folder", "", nil)
			if err != nil {
				return err
			}
			folder = d.ID()
			v, err := drive.Open(tx)
			if err != nil {
				return err
			}
			return v.Register(d)
		})
		c := &computer{t: t, repo: w.Repo, user: "Administrator", items: map[string]copied{}, upTo: -1}
		c.sync()
		w.must("Administrator", func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(folder))
			for i := 0; i < n && err == nil; i++ {
				_, err = tx.Create(d, "Folder", "", nil)
			}
			return err
		})
		c.see(func(v *drive.View) error {
			s, err := v.Changes(c.upTo, c.roots)
			if err == nil && (s.TooMany != want || len(s.Changes) != n && !want || len(s.Changes) != 0 && want) {
				t.Errorf("%d changes: %d told, too many: %t", n, len(s.Changes), s.TooMany)
			}
			return err
		})
	}
}

// TestRemadeUser: a user made again under a name has none of the roots of the one before.
func TestRemadeUser(t *testing.T) {
	w := open(t)
	g := &gardener{world: w, r: rand.New(rand.NewPCG(1, 1))}
	g.plant()
	roots := func() (n int) {
		c := &computer{t: t, repo: w.Repo, user: "bob"}
		c.see(func(v *drive.View) error { n = len(v.Roots()); return nil })
		return n
	}
	if n := roots(); n != 1 {
		t.Fatalf("%d roots", n)
	}
	w.must("Administrator", func(tx *storage.Tx) error {
		return people.DeleteUser(tx, "bob")
	})
	w.must("Administrator", func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "bob", Groups: []string{"administrators"}}, "secret")
	})
	if n := roots(); n != 0 {
		t.Errorf("made anew, the user has %d roots", n)
	}
}
