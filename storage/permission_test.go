package storage_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

func TestPermissionGroups(t *testing.T) {
	w := newWorld(t)
	w.make("/d", "Folder", nil)
	for granted, wants := range map[string]string{
		"Read":       "Browse Read ReadChildren ReadLifeCycle ReadProperties ReadSecurity ReadVersion",
		"ReadRemove": "Read Remove",
		"Write":      "AddChildren Remove RemoveChildren WriteLifeCycle WriteProperties WriteVersion",
		"ReadWrite":  "Read Write Browse AddChildren",
		"Everything": "Read Write WriteSecurity Unlock Everything ManageWorkflows",
	} {
		w.grant("/d", "bob:"+granted, "-Everyone:Everything")
		w.view(w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc("/d")
			if err != nil {
				return err
			}
			has := tx.As(user("bob")).Permissions(d)
			for _, want := range strings.Fields(wants) {
				if !slices.Contains(has, want) {
					t.Errorf("%s does not give %s, only %v", granted, want, has)
				}
			}
			if granted != "Everything" && slices.Contains(has, "WriteSecurity") {
				t.Errorf("%s gives WriteSecurity", granted)
			}
			if !tx.As(user("bob")).Can(d, granted) || tx.As(user("bob")).Can(d, "Nonsense") {
				t.Errorf("Can does not agree on %s", granted)
			}
			return nil
		})
	}
}

func TestUnreadableAndUnknown(t *testing.T) {
	w := newWorld(t)
	w.make("/ws", "Workspace", nil)
	w.make("/ws/secret", "Folder", nil)
	w.make("/ws/open", "File", nil)
	w.grant("/ws/secret", "-members:Read")
	bob := user("bob")
	var id string
	w.view(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/ws/secret")
		id = d.ID()
		return err
	})
	w.view(bob, func(tx *storage.Tx) error {
		for _, ref := range []storage.Ref{"/ws/secret", storage.Ref(id), "default:/ws/secret/", storage.Ref("doc:" + strings.ToUpper(id))} {
			_, err := tx.Doc(ref)
			wantKind(t, err, fault.NotFound, string(ref))
		}
		for _, ref := range []storage.Ref{"/ws/none", "00000000-0000-0000-ffff-000000000000", "nonsense", "", "other:/ws", "/ws/secret/x"} {
			_, err := tx.Doc(ref)
			wantKind(t, err, fault.NotFound, string(ref))
		}
		ws, err := tx.Doc("/ws")
		if err != nil {
			return err
		}
		page, err := tx.Children(ws, storage.PageOptions{})
		if err != nil {
			return err
		}
		if len(page.Docs) != 1 || page.Total != 1 || page.Docs[0].Name() != "open" {
			t.Errorf("children: %d of %d", len(page.Docs), page.Total)
		}
		if some, err := tx.HasChildren(ws, true); some || err != nil {
			t.Errorf("has folders: %t %v", some, err)
		}
		return nil
	})
}

func TestWritesNeedPermissions(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{"/ws", "/other"} {
		w.make(p, "Workspace", nil)
	}
	w.make("/ws/f", "File", nil)
	other := func(tx *storage.Tx) *storage.Doc {
		d, err := tx.As(w.System()).Doc("/other")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	cases := []struct {
		name   string
		path   string
		grants map[string]string
		do     func(*storage.Tx, *storage.Doc) error
	}{
		{"create", "/ws", map[string]string{"/ws": "AddChildren"}, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.Create(d, "File", "x", nil)
			return err
		}},
		{"save", "/ws/f", map[string]string{"/ws/f": "WriteProperties"}, func(tx *storage.Tx, d *storage.Doc) error {
			if err := d.Set("dc:title", "new"); err != nil {
				return err
			}
			_, err := tx.Save(d, storage.SaveOptions{})
			return err
		}},
		{"lock", "/ws/f", map[string]string{"/ws/f": "WriteProperties"}, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.Lock(d)
			return err
		}},
		{"follow", "/ws/f", map[string]string{"/ws/f": "WriteLifeCycle"}, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.Follow(d, "approve")
			return err
		}},
		{"trash", "/ws/f", map[string]string{"/ws/f": "WriteLifeCycle"}, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.SetTrashed(d, true)
			return err
		}},
		{"acl", "/ws/f", map[string]string{"/ws/f": "WriteSecurity"}, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.SetACL(d, "local", nil)
			return err
		}},
		{"copy", "/ws/f", map[string]string{"/other": "AddChildren"}, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.Copy(d, other(tx), "")
			return err
		}},
		{"move", "/ws/f", map[string]string{"/ws/f": "Remove", "/ws": "RemoveChildren", "/other": "AddChildren"}, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.Move(d, other(tx), "")
			return err
		}},
		{"delete", "/ws/f", map[string]string{"/ws/f": "Remove", "/ws": "RemoveChildren"}, func(tx *storage.Tx, d *storage.Doc) error {
			return tx.Delete(d)
		}},
	}
	rollback := fault.Conflict.Errorf("rolled back")
	for _, c := range cases {
		for missing := range c.grants {
			for _, p := range []string{"/ws", "/ws/f", "/other"} {
				g := c.grants[p]
				if p == missing || g == "" {
					w.grant(p)
				} else {
					w.grant(p, "bob:"+g)
				}
			}
			err := w.on(user("bob"), c.path, c.do)
			wantKind(t, err, fault.Denied, "is not granted to 'bob'")
			if t.Failed() {
				t.Fatalf("%s without %s on %s", c.name, c.grants[missing], missing)
			}
			w.grant(missing, "bob:"+c.grants[missing])
			err = w.on(user("bob"), c.path, func(tx *storage.Tx, d *storage.Doc) error {
				if err := c.do(tx, d); err != nil {
					return err
				}
				return rollback
			})
			if !errors.Is(err, rollback) {
				t.Errorf("%s with what it needs: %v", c.name, err)
			}
		}
	}
}

func TestReadOnlyAndNobody(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	err := w.Update(ctx, &storage.Principal{Name: "bob", Admin: true, ReadOnly: true}, func(*storage.Tx) error { return nil })
	wantKind(t, err, fault.Denied, "read-only")
	wantKind(t, w.View(ctx, nil, func(*storage.Tx) error { return nil }), fault.Denied, "nobody")
	w.update(w.System(), func(tx *storage.Tx) error {
		_, err := tx.As(nil).Root()
		wantKind(t, err, fault.NotFound, "/")
		return nil
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		_, err = tx.Create(root, "File", "x", nil)
		wantKind(t, err, fault.Invalid, "is read-only")
		return nil
	})
}

func TestDatedEntries(t *testing.T) {
	w := newWorld(t)
	w.make("/d", "File", nil)
	start := w.now
	w.update(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/d")
		if err != nil {
			return err
		}
		_, err = tx.SetACL(d, "local", []storage.ACE{
			{User: "bob", Permission: "Read", Granted: true, Begin: start.Add(time.Hour), End: start.Add(2 * time.Hour)},
			{User: "Everyone", Permission: "Everything"},
		})
		return err
	})
	for minutes, want := range map[int]bool{0: false, 59: false, 60: true, 119: true, 120: false, 500: false} {
		for range 2 {
			w.now = start.Add(time.Duration(minutes) * time.Minute)
			err := w.View(context.Background(), user("bob"), func(tx *storage.Tx) error {
				_, err := tx.Doc("/d")
				return err
			})
			if (err == nil) != want {
				t.Errorf("after %d minutes: %v", minutes, err)
			}
		}
	}
}

func TestACLs(t *testing.T) {
	w := newWorld(t)
	w.make("/a", "Folder", nil)
	w.make("/a/b", "Folder", nil)
	w.grant("/a", "bob:Write")
	show := func(path string) string {
		var out []string
		w.view(w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(path))
			if err != nil {
				return err
			}
			acls, err := tx.ACLs(d)
			for _, l := range acls {
				for _, e := range l.Entries {
					out = append(out, l.Name+" "+e.ID())
				}
			}
			return err
		})
		return strings.Join(out, "\n")
	}
	want := "inherited bob:Write:true:::\ninherited Administrator:Everything:true:::\ninherited members:Read:true:::"
	if got := show("/a/b"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w.grant("/a/b", "carol:Read", "-Everyone:Everything")
	want = "local carol:Read:true:::\nlocal Everyone:Everything:false:::"
	if got := show("/a/b"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	err := w.on(w.System(), "/a", func(tx *storage.Tx, d *storage.Doc) error {
		_, err := tx.SetACL(d, "local", []storage.ACE{{User: "bob", Permission: "Fly", Granted: true}})
		return err
	})
	wantKind(t, err, fault.Invalid, "permission Fly")
	w.grant("/a/b")
	w.grant("/a")
	if got := show("/a/b"); got != "inherited Administrator:Everything:true:::\ninherited members:Read:true:::" {
		t.Errorf("after removing: %s", got)
	}
}

// TestPermissionOracle compares decisions with a plain evaluation of the same entries.
func TestPermissionOracle(t *testing.T) {
	const docs, decisions = 60, 100_000
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	paths := []string{"/"}
	aces := map[string][]storage.ACE{"/": {
		{User: "Administrator", Permission: "Everything", Granted: true}, {User: "members", Permission: "Read", Granted: true},
	}}
	parents := map[string]string{}
	names := []string{"u0", "u1", "u2", "u3", "g0", "g1", "g2", "members", "Everyone"}
	perms := []string{"Read", "Write", "ReadWrite", "Everything", "AddChildren", "WriteSecurity", "Remove", "ReadChildren", "Browse"}
	for len(paths) < docs {
		parent := paths[rnd.IntN(len(paths))]
		path := strings.TrimSuffix(parent, "/") + "/n" + string(rune('a'+len(paths)/26)) + string(rune('a'+len(paths)%26))
		w.make(path, "Folder", nil)
		paths = append(paths, path)
		parents[path] = parent
	}
	shown := map[string]storage.Ref{} // versions by the path of their live document
	w.update(w.System(), func(tx *storage.Tx) error {
		for i, path := range paths[1:30] {
			d := must(tx.Doc(storage.Ref(path)))(t)
			if i%2 == 0 {
				shown[path] = must(tx.CheckIn(d, false, ""))(t).Ref()
				continue
			}
			parent := "/"
			p := must(tx.CreateProxy(d, must(tx.Doc("/"))(t)))(t)
			paths, parents[p.Path()] = append(paths, p.Path()), parent
		}
		return nil
	})
	shuffle := func() {
		path := paths[1+rnd.IntN(len(paths)-1)]
		var list []storage.ACE
		for range rnd.IntN(5) {
			list = append(list, storage.ACE{User: names[rnd.IntN(len(names))], Permission: perms[rnd.IntN(len(perms))], Granted: rnd.IntN(3) > 0})
		}
		aces[path] = list
		w.update(w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(path))
			if err != nil {
				return err
			}
			_, err = tx.SetACL(d, "local", list)
			return err
		})
	}
	includes := map[string]string{
		"Read":       "Read Browse ReadChildren",
		"Write":      "Write AddChildren Remove",
		"ReadWrite":  "ReadWrite Read Write Browse ReadChildren AddChildren Remove",
		"Everything": strings.Join(perms, " "),
	}
	plain := func(who []string, path, perm string) bool {
		for {
			for _, e := range aces[path] {
				covers := e.Permission == perm || slices.Contains(strings.Fields(includes[e.Permission]), perm)
				if covers && slices.Contains(who, e.User) {
					return e.Granted
				}
			}
			if path == "/" {
				return false
			}
			path = parents[path]
		}
	}
	for done := 0; done < decisions; {
		shuffle()
		u := names[rnd.IntN(4)]
		groups := []string{"g0", "g1", "g2"}[:rnd.IntN(4)]
		w.view(user(u, groups...), func(tx *storage.Tx) error {
			for range 200 {
				done++
				path, perm := paths[rnd.IntN(len(paths))], perms[rnd.IntN(len(perms))]
				d, err := tx.As(w.System()).Doc(storage.Ref(path))
				if err != nil {
					return err
				}
				if ref, ok := shown[path]; ok && rnd.IntN(2) == 0 {
					if d, err = tx.As(w.System()).Doc(ref); err != nil {
						return err
					}
				}
				want := plain(append([]string{u, "members", "Everyone"}, groups...), path, perm)
				if got := tx.Can(d, perm); got != want {
					t.Fatalf("%s with %v, %s on %s: got %t, want %t", u, groups, perm, path, got, want)
				}
				_, err = tx.Doc(d.Ref())
				if canRead := plain(append([]string{u, "members", "Everyone"}, groups...), path, "Read"); canRead != (err == nil) {
					t.Fatalf("%s reads %s: %v, want %t", u, path, err, canRead)
				}
			}
			return nil
		})
	}
}

// TestRightRemovedWhileWriting checks that no write is acknowledged after a removal of the right to it.
func TestRightRemovedWhileWriting(t *testing.T) {
	w := newWorld(t)
	w.make("/ws", "Workspace", nil)
	w.make("/ws/f", "File", nil)
	for round := range 100 {
		w.grant("/ws", "bob:WriteProperties")
		var removed atomic.Bool
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ; i++ {
				late := removed.Load()
				err := w.Update(context.Background(), user("bob"), func(tx *storage.Tx) error {
					d, err := tx.Doc("/ws/f")
					if err != nil {
						return err
					}
					if err := d.Set("dc:title", time.Duration(round*1000+i).String()); err != nil {
						return err
					}
					_, err = tx.Save(d, storage.SaveOptions{Quiet: true})
					return err
				})
				if late && err == nil {
					t.Error("written after the right was removed")
				}
				if err != nil {
					wantKind(t, err, fault.Denied, "WriteProperties")
					return
				}
			}
		}()
		time.Sleep(time.Duration(round%5) * 100 * time.Microsecond)
		w.grant("/ws")
		removed.Store(true)
		wg.Wait()
	}
}
