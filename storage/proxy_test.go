package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

func TestLiveProxy(t *testing.T) {
	w := newWorld(t)
	w.make("/ws", "Folder", nil)
	w.make("/ws/f", "File", storage.Props{"dc:title": "one"})
	w.make("/desk", "Folder", nil)
	w.grant("/ws", "-Everyone:Everything")
	w.grant("/desk", "bob:ReadWrite")
	var proxy, live storage.Ref
	w.update(w.System(), func(tx *storage.Tx) error {
		d, desk := must(tx.Doc("/ws/f"))(t), must(tx.Doc("/desk"))(t)
		p := must(tx.CreateProxy(d, desk))(t)
		wantState(t, "proxy", p, "/desk/f one 0.0 out")
		if !p.IsProxy() || p.IsImmutable() || p.TargetID() != d.ID() || p.VersionableID() != d.ID() || p.ID() == d.ID() {
			t.Errorf("proxy %t, immutable %t, shows %s, of %s", p.IsProxy(), p.IsImmutable(), p.TargetID(), p.VersionableID())
		}
		proxy, live = p.Ref(), d.Ref()
		p = must(titled(tx, p, "two", storage.SaveOptions{}))(t)
		wantState(t, "saved through the proxy", must(tx.Doc(live))(t), "/ws/f two 0.0 out")
		wantState(t, "proxy", p, "/desk/f two 0.0 out")
		must(titled(tx, must(tx.Doc(live))(t), "three", storage.SaveOptions{}))(t)
		p = must(tx.Lock(must(tx.Doc(proxy))(t)))(t)
		if owner, _, ok := must(tx.Doc(live))(t).Locked(); !ok || owner != "system" {
			t.Error("a lock through a proxy is not on the document")
		}
		must(tx.Unlock(p))(t)
		p = must(tx.Follow(p, "approve"))(t)
		if p.State() != "approved" || must(tx.Doc(live))(t).State() != "approved" {
			t.Errorf("state %s", p.State())
		}
		must(tx.CheckIn(p, false, ""))(t)
		wantState(t, "checked in through the proxy", must(tx.Doc(live))(t), "/ws/f three 0.1")
		must(tx.CheckOut(p))(t)
		wantKind(t, tx.Delete(must(tx.Doc(live))(t)), fault.Conflict, "refers to it")
		_, err := tx.CreateProxy(must(tx.Root())(t), desk)
		wantKind(t, err, fault.Conflict, "cannot have proxies")
		_, err = tx.CreateProxy(desk, desk)
		wantKind(t, err, fault.Conflict, "below itself")
		_, err = tx.Create(p, "File", "x", nil)
		wantKind(t, err, fault.Conflict, "cannot have children")
		return nil
	})
	w.view(user("bob"), func(tx *storage.Tx) error {
		wantState(t, "seen by bob", must(tx.Doc(proxy))(t), "/desk/f three 0.1+ out")
		_, err := tx.Doc(live)
		wantKind(t, err, fault.NotFound, string(live))
		for src, want := range map[string]int{
			"SELECT * FROM File WHERE dc:title = 'three'":                                  1,
			"SELECT * FROM File WHERE ecm:isProxy = 1 AND dc:title = 'three'":              1,
			"SELECT * FROM File WHERE ecm:isProxy = 0":                                     0,
			"SELECT * FROM Document WHERE ecm:currentLifeCycleState = 'approved'":          1,
			"SELECT * FROM Document WHERE ecm:proxyTargetId = '" + string(live) + "'":      1,
			"SELECT * FROM Document WHERE ecm:proxyVersionableId = '" + string(live) + "'": 1,
		} {
			if p := must(search.Query(tx, src, search.Options{}))(t); len(p.Docs) != want {
				t.Errorf("%s: %d, want %d", src, len(p.Docs), want)
			}
		}
		return nil
	})
	err := w.Update(context.Background(), user("bob"), func(tx *storage.Tx) error {
		_, err := titled(tx, must(tx.Doc(proxy))(t), "bob's", storage.SaveOptions{})
		return err
	})
	wantKind(t, err, fault.Denied, "WriteProperties")
	w.sound()
	w.update(w.System(), func(tx *storage.Tx) error {
		p, ws := must(tx.Doc(proxy))(t), must(tx.Doc("/ws"))(t)
		wantState(t, "copy", must(tx.Copy(p, ws, "g"))(t), "/ws/g three 0.1+ out")
		return tx.Delete(must(tx.Move(p, ws, "h"))(t))
	})
	w.sound()
	w.update(w.System(), func(tx *storage.Tx) error { return tx.Delete(must(tx.Doc("/ws"))(t)) })
	w.sound()
}

func TestPublish(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", storage.Props{"dc:title": "one"})
	w.make("/news", "Section", nil)
	w.make("/attic", "Section", nil)
	w.grant("/news", "bob:Read", "ann:ReadWrite")
	w.grant("/f", "ann:Read", "-Everyone:Everything")
	var first storage.Ref
	w.update(user("ann"), func(tx *storage.Tx) error {
		d, news := must(tx.Doc("/f"))(t), must(tx.Doc("/news"))(t)
		p := must(tx.Publish(d, news, true))(t)
		wantState(t, "published", p, "/news/f one 0.1")
		wantState(t, "live", must(tx.Doc("/f"))(t), "/f one 0.1")
		first = p.Ref()
		_, err := titled(tx.As(w.System()), p, "x", storage.SaveOptions{})
		wantKind(t, err, fault.Conflict, "a version cannot be changed")
		again := must(tx.Publish(d, news, true))(t)
		if again.Ref() != first || again.TargetID() != p.TargetID() {
			t.Error("publishing what did not change made another proxy")
		}
		must(titled(tx.As(w.System()), must(tx.Doc("/f"))(t), "two", storage.SaveOptions{}))(t)
		p = must(tx.Publish(d, news, true))(t)
		wantState(t, "published again", p, "/news/f two 0.2")
		if p.Ref() != first {
			t.Error("the proxy was not kept")
		}
		second := must(tx.Publish(d, news, false))(t)
		if second.Ref() == first || second.ParentID() != news.ID() {
			t.Error("without override there is no second proxy")
		}
		if n := must(storage.CountPublished(tx, d))(t); n != 2 {
			t.Errorf("%d proxies, want 2", n)
		}
		p = must(tx.Publish(d, news, true))(t)
		if n := must(storage.CountPublished(tx, d))(t); n != 1 {
			t.Errorf("%d proxies after override, want 1", n)
		}
		first = p.Ref()
		_, err = tx.Publish(d, must(tx.As(w.System()).Doc("/attic"))(t), true)
		wantKind(t, err, fault.Denied, "AddChildren")
		return nil
	})
	w.sound()
	w.update(w.System(), func(tx *storage.Tx) error { return tx.Delete(must(tx.Doc("/f"))(t)) })
	w.sound()
	versions := func(as *storage.Principal) (n int) {
		w.view(as, func(tx *storage.Tx) error {
			n = len(must(search.Query(tx, "SELECT * FROM File WHERE ecm:isVersion = 1", search.Options{}))(t).Docs)
			return nil
		})
		return n
	}
	w.view(user("bob"), func(tx *storage.Tx) error {
		p := must(tx.Doc(first))(t)
		wantState(t, "published, live gone", p, "/news/f two 0.2")
		_, err := tx.Live(p)
		wantKind(t, err, fault.NotFound, p.VersionableID())
		return nil
	})
	if admins, bobs := versions(w.System()), versions(user("bob")); admins != 2 || bobs != 0 {
		t.Errorf("versions without a live document: %d for the system, %d for bob", admins, bobs)
	}
	w.update(w.System(), func(tx *storage.Tx) error { return tx.Delete(must(tx.Doc(first))(t)) })
	if n := versions(w.System()); n != 0 {
		t.Errorf("%d versions are left that nothing shows", n)
	}
	w.sound()
}

// TestLargeFolderGoes removes more documents than go at once, among them what proxies outside
// show: live proxies go with their documents, what was published stays.
func TestLargeFolderGoes(t *testing.T) {
	w := newWorld(t)
	w.make("/ws", "Folder", nil)
	w.make("/news", "Section", nil)
	w.update(w.System(), func(tx *storage.Tx) error {
		ws, news := must(tx.Doc("/ws"))(t), must(tx.Doc("/news"))(t)
		for i := range 230 {
			d := must(tx.Create(ws, "File", fmt.Sprint("f", i), nil))(t)
			switch {
			case i < 3:
				must(tx.Publish(d, news, true))(t)
			case i < 6:
				must(tx.CreateProxy(d, news))(t)
			case i < 9:
				must(tx.CheckIn(d, true, ""))(t)
			case i < 12:
				must(tx.CreateProxy(d, ws))(t)
			}
		}
		return tx.Delete(ws)
	})
	w.sound()
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.sound()
	w.view(w.System(), func(tx *storage.Tx) error {
		p := must(search.Query(tx, "SELECT * FROM File ORDER BY ecm:name, ecm:path DESC", search.Options{}))(t)
		var got []string
		for _, d := range p.Docs {
			got = append(got, state(d))
		}
		if s := strings.Join(got, ", "); s != "f0 f0 0.1, /news/f0 f0 0.1, f1 f1 0.1, /news/f1 f1 0.1, f2 f2 0.1, /news/f2 f2 0.1" {
			t.Errorf("left: %s", s)
		}
		return nil
	})
}

// TestPublishRacesDelete publishes a document while it is removed: what is published shows a
// version, regardless of who comes first.
func TestPublishRacesDelete(t *testing.T) {
	for i := range 20 {
		w := newWorld(t)
		w.make("/f", "File", nil)
		w.make("/news", "Section", nil)
		done := make(chan error, 2)
		act := func(do func(tx *storage.Tx, d *storage.Doc) error) {
			done <- w.Update(context.Background(), w.System(), func(tx *storage.Tx) error {
				d, err := tx.Doc("/f")
				if fault.Is(err, fault.NotFound) {
					return nil
				}
				if err != nil {
					return err
				}
				return do(tx, d)
			})
		}
		go act(func(tx *storage.Tx, d *storage.Doc) error {
			news, err := tx.Doc("/news")
			if err == nil {
				_, err = tx.Publish(d, news, true)
			}
			return err
		})
		go act(func(tx *storage.Tx, d *storage.Doc) error { return tx.Delete(d) })
		for range 2 {
			if err := <-done; err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
		w.sound()
	}
}
