package retention_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/maintenance"
	"catena/storage/retention"
	"catena/storage/storagetest"
)

// world is a repository whose clock a test sets.
type world struct {
	*storage.Repo
	t      testing.TB
	config storage.Config
	now    atomic.Int64
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOf(t, 10_000)
}

// newWorldOf is a world of which a call looks at trees of so many documents at once.
func newWorldOf(t testing.TB, tree int) *world {
	t.Helper()
	w := &world{t: t}
	w.now.Store(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	w.Repo = storagetest.Open(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return time.UnixMilli(w.now.Load()) }
		c.Limits.TreeCopy = tree
		w.config = *c
	})
	return w
}

// in returns a moment from now.
func (w *world) in(d time.Duration) storage.Until {
	return storage.Until(w.now.Load() + d.Milliseconds())
}

// as runs fn as an administrator, who may do everything that can be done.
func (w *world) as(fn func(t *storage.Tx) error) error {
	return w.Update(w.t.Context(), &storage.Principal{Name: "Administrator", Admin: true}, fn)
}

func (w *world) must(fn func(t *storage.Tx) error) {
	w.t.Helper()
	if err := w.as(fn); err != nil {
		w.t.Fatal(err)
	}
}

// refused expects an error of a kind that contains a text.
func (w *world) refused(kind fault.Kind, text string, fn func(t *storage.Tx) error) {
	w.t.Helper()
	if err := w.as(fn); !fault.Is(err, kind) || !strings.Contains(err.Error(), text) {
		w.t.Errorf("got %v, want %s: %s", err, kind, text)
	}
}

// with is fn on a document.
func with(ref storage.Ref, fn func(t *storage.Tx, d *storage.Doc) error) func(*storage.Tx) error {
	return func(t *storage.Tx) error {
		d, err := t.Doc(ref)
		if err != nil {
			return err
		}
		return fn(t, d)
	}
}

func (w *world) create(parent storage.Ref, typ, name string, props storage.Props) {
	w.t.Helper()
	w.must(with(parent, func(t *storage.Tx, d *storage.Doc) error {
		_, err := t.Create(d, typ, name, props)
		return err
	}))
}

// retained makes a document a record that is kept.
func (w *world) retained(ref storage.Ref, until storage.Until) {
	w.t.Helper()
	w.must(with(ref, func(t *storage.Tx, d *storage.Doc) error {
		d, err := retention.MakeRecord(t, d)
		if err == nil {
			_, err = retention.Retain(t, d, until)
		}
		return err
	}))
}

func remove(t *storage.Tx, d *storage.Doc) error { return t.Delete(d) }

func trash(t *storage.Tx, d *storage.Doc) error {
	_, err := t.SetTrashed(d, true)
	return err
}

func setting(xpath string, v any) func(t *storage.Tx, d *storage.Doc) error {
	return func(t *storage.Tx, d *storage.Doc) error {
		if err := d.Set(xpath, v); err != nil {
			return err
		}
		_, err := t.Save(d, storage.SaveOptions{Quiet: true})
		return err
	}
}

// TestKept: while a document must be kept, nobody changes, trashes or deletes it, nor a folder above it.
func TestKept(t *testing.T) {
	w := newWorld(t)
	w.create("/", "Folder", "desk", nil)
	w.create("/desk", "File", "deed", storage.Props{"dc:title": "Deed", "file:content": map[string]any{"data": "x", "name": "x.txt"}})
	w.retained("/desk/deed", w.in(time.Hour))
	w.refused(fault.Denied, "is under retention until 2025-01-01T01:00:00Z", with("/desk/deed", remove))
	w.refused(fault.Denied, "is under retention until", with("/desk", remove))
	w.refused(fault.Denied, "is under retention until", with("/desk/deed", func(t *storage.Tx, d *storage.Doc) error {
		_, err := t.SetTrashed(d, true)
		return err
	}))
	w.refused(fault.Denied, "is under retention until", with("/desk", trash))
	w.refused(fault.Denied, "its property dc:title cannot change", with("/desk/deed", setting("dc:title", "Other")))
	w.refused(fault.Denied, "whose file file:content cannot change", with("/desk/deed", setting("file:content", map[string]any{"data": "y", "name": "x.txt"})))
	w.refused(fault.Denied, "whose file file:content cannot change", with("/desk/deed", setting("file:content", nil)))
	w.refused(fault.Denied, "can have no further file files:files", with("/desk/deed", setting("files:files", []any{map[string]any{"file": map[string]any{"data": "y", "name": "y"}}})))
	w.must(with("/desk/deed", setting("nxtag:tags", []any{map[string]any{"label": "a", "username": "ann"}})))
	w.must(with("/desk/deed", func(t *storage.Tx, d *storage.Doc) error {
		c, err := t.Copy(d, mustParent(t, d), "copy")
		if err == nil && c.Retention() != (storage.Retention{}) {
			t.Fail(fmt.Errorf("the copy is a record"))
		}
		return err
	}))
	w.must(with("/desk/copy", remove))
	w.refused(fault.Conflict, "can only be extended", with("/desk/deed", func(t *storage.Tx, d *storage.Doc) error {
		_, err := retention.Retain(t, d, w.in(time.Minute))
		return err
	}))
	w.now.Add(2 * time.Hour.Milliseconds())
	w.refused(fault.Denied, "whose file file:content cannot change", with("/desk/deed", setting("file:content", nil)))
	w.must(with("/desk/deed", setting("dc:title", "Other")))
	w.must(with("/desk", remove))
	w.verified()
}

// TestTrashOfLargeFolder: a folder with more documents than a call looks at does not go to the trash either, while one of them must be kept.
func TestTrashOfLargeFolder(t *testing.T) {
	w := newWorldOf(t, 2)
	w.create("/", "Folder", "desk", nil)
	w.create("/desk", "Folder", "deep", nil)
	for i := range 5 {
		w.create("/desk/deep", "File", fmt.Sprintf("f%d", i), nil)
	}
	w.retained("/desk/deep/f3", w.in(time.Hour))
	w.refused(fault.Denied, "is under retention or legal hold", with("/desk", trash))
	w.must(with("/desk/deep/f4", trash))
	w.now.Add(2 * time.Hour.Milliseconds())
	w.must(with("/desk", trash))
}

func mustParent(t *storage.Tx, d *storage.Doc) *storage.Doc {
	p, err := t.Parent(d)
	t.Fail(err)
	return p
}

// verified finds no row that does not fit to the documents.
func (w *world) verified() {
	w.t.Helper()
	problems, err := maintenance.Verify(w.t.Context(), w.Repo)
	if err != nil || len(problems) > 0 {
		w.t.Errorf("%v %v", problems, err)
	}
}

// TestHeld: a hold keeps a document after its retention has ended.
func TestHeld(t *testing.T) {
	w := newWorld(t)
	w.create("/", "File", "deed", nil)
	hold := func(on bool) func(*storage.Tx) error {
		return with("/deed", func(t *storage.Tx, d *storage.Doc) error {
			_, err := retention.Hold(t, d, on, "case 7")
			return err
		})
	}
	w.refused(fault.Conflict, "is not a record", hold(true))
	w.retained("/deed", w.in(time.Hour))
	w.must(hold(true))
	w.now.Add(2 * time.Hour.Milliseconds())
	if n, err := retention.Expire(t.Context(), w.Repo); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	w.refused(fault.Denied, "is under legal hold", with("/deed", remove))
	w.must(hold(false))
	w.must(with("/deed", remove))
}

// TestLargeTree: a folder that a deletion would leave to the sweep is not deleted either.
func TestLargeTree(t *testing.T) {
	w := newWorld(t)
	w.create("/", "Folder", "desk", nil)
	w.create("/desk", "Folder", "deep", nil)
	w.create("/desk/deep", "File", "deed", nil)
	w.create("/", "File", "elsewhere", nil)
	w.must(with("/desk", func(t *storage.Tx, d *storage.Doc) error {
		for i := range 250 {
			if _, err := t.Create(d, "File", fmt.Sprint("f", i), nil); err != nil {
				return err
			}
		}
		return nil
	}))
	w.retained("/desk/deep/deed", storage.Indeterminate)
	w.retained("/elsewhere", storage.Indeterminate)
	w.refused(fault.Denied, "below it", with("/desk", remove))
	w.retained("/desk/deep/deed", w.in(time.Hour))
	w.now.Add(2 * time.Hour.Milliseconds())
	w.must(with("/desk", remove))
	if err := w.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := retention.Expire(t.Context(), w.Repo); n != 0 || err != nil {
		t.Errorf("%d retentions ended of documents that are gone: %v", n, err)
	}
	w.verified()
}

// TestVersions: a version can be kept, and its document with it; restoring an older one does not change a record.
func TestVersions(t *testing.T) {
	w := newWorld(t)
	w.create("/", "File", "deed", storage.Props{"dc:title": "One"})
	var version storage.Ref
	w.must(with("/deed", func(t *storage.Tx, d *storage.Doc) error {
		v, err := t.CheckIn(d, true, "")
		if err == nil {
			version = v.Ref()
		}
		return err
	}))
	w.must(with("/deed", setting("dc:title", "Two")))
	w.retained(version, w.in(time.Hour))
	w.refused(fault.Denied, "is under retention until", with(version, remove))
	w.refused(fault.Denied, "is under retention until", with("/deed", remove))
	w.retained("/deed", w.in(time.Hour))
	w.refused(fault.Denied, "its property dc:title cannot change", with(version, func(t *storage.Tx, v *storage.Doc) error {
		_, err := t.Restore(v, storage.RestoreOptions{})
		return err
	}))
	w.must(with("/deed", func(t *storage.Tx, d *storage.Doc) error {
		v, err := t.CheckIn(d, false, "")
		if err == nil && v != nil && v.Retention() != (storage.Retention{}) {
			t.Fail(fmt.Errorf("the new version is a record"))
		}
		return err
	}))
	w.now.Add(2 * time.Hour.Milliseconds())
	w.must(with("/deed", remove))
	w.verified()
}

// TestPermissions: each step requires its permission, which Write does not include.
func TestPermissions(t *testing.T) {
	w := newWorld(t)
	w.create("/", "File", "deed", nil)
	grant := func(permission string) {
		w.must(with("/deed", func(t *storage.Tx, d *storage.Doc) error {
			_, err := t.SetACL(d, permission, []storage.ACE{{User: "ann", Permission: permission, Granted: true}})
			return err
		}))
	}
	ann := &storage.Principal{Name: "ann"}
	try := func(fn func(t *storage.Tx, d *storage.Doc) error) error {
		return w.Update(t.Context(), ann, with("/deed", fn))
	}
	steps := []struct {
		permission string
		do         func(t *storage.Tx, d *storage.Doc) error
	}{
		{"MakeRecord", func(t *storage.Tx, d *storage.Doc) error { _, err := retention.MakeRecord(t, d); return err }},
		{"SetRetention", func(t *storage.Tx, d *storage.Doc) error {
			_, err := retention.Retain(t, d, w.in(time.Hour))
			return err
		}},
		{"ManageLegalHold", func(t *storage.Tx, d *storage.Doc) error { _, err := retention.Hold(t, d, true, ""); return err }},
	}
	grant("ReadWrite")
	for _, s := range steps {
		if err := try(s.do); !fault.Is(err, fault.Denied) {
			t.Errorf("without %s: %v", s.permission, err)
		}
		grant(s.permission)
		if err := try(s.do); err != nil {
			t.Errorf("with %s: %v", s.permission, err)
		}
	}
}

// TestExpire: the event of a retention that ends is fired once, by whichever server looks and however late; one that was extended has
// not ended, and one whose listener fails is fired again.
func TestExpire(t *testing.T) {
	w := newWorld(t)
	const docs = 150
	for i := range docs {
		w.create("/", "File", fmt.Sprint("d", i), nil)
		w.retained(storage.Ref(fmt.Sprint("/d", i)), w.in(time.Hour))
	}
	w.retained("/d0", w.in(3*time.Hour))
	other, err := storage.Open(t.Context(), w.config, "")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[string]int{}
	failing := true
	for _, r := range []*storage.Repo{w.Repo, other} {
		r.OnEvent(func(tx *storage.Tx, e storage.Event) error {
			if e.Name != "retentionExpired" {
				return nil
			}
			if failing && e.Doc.Name() == "d1" {
				return fault.Invalid.Errorf("not now")
			}
			name := e.Doc.Name()
			tx.AfterCommit(func() {
				mu.Lock()
				seen[name]++
				mu.Unlock()
			})
			return nil
		})
	}
	if n, err := retention.Expire(t.Context(), w.Repo); n != 0 || err != nil {
		t.Errorf("%d ended before their time: %v", n, err)
	}
	w.now.Add(2 * time.Hour.Milliseconds())
	var wait sync.WaitGroup
	for _, r := range []*storage.Repo{w.Repo, other, w.Repo} {
		wait.Go(func() {
			if _, err := retention.Expire(context.Background(), r); err == nil || !strings.Contains(err.Error(), "not now") {
				t.Errorf("the listener did not fail: %v", err)
			}
		})
	}
	wait.Wait()
	failing = false
	if n, err := retention.Expire(t.Context(), other); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if len(seen) != docs-1 || seen["d0"] != 0 {
		t.Errorf("%d of %d", len(seen), docs-1)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s: %d events", name, n)
		}
	}
	w.verified()
}
