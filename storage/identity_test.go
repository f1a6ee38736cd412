package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/grant"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/search"
)

// reads tells which of the folders a user may read, by a question and by each, which must agree.
func (w *world) reads(name string) string {
	w.t.Helper()
	p, err := w.Principal(context.Background(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	found, each := map[string]bool{}, []string{}
	w.view(p, func(tx *storage.Tx) error {
		page, err := search.Query(tx, "SELECT * FROM Workspace", search.Options{PageOptions: storage.PageOptions{Limit: 1000, CountLimit: -1}})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			found[d.Name()] = true
		}
		all, err := search.Query(tx.As(w.System()), "SELECT * FROM Workspace ORDER BY ecm:name", search.Options{PageOptions: storage.PageOptions{Limit: 1000, CountLimit: -1}})
		for _, d := range all.Docs {
			if tx.Can(d, "Read") != found[d.Name()] {
				w.t.Errorf("%s: %s is found %v, and may be read %v", name, d.Name(), found[d.Name()], tx.Can(d, "Read"))
			}
			if found[d.Name()] {
				each = append(each, d.Name())
			}
		}
		return err
	})
	return strings.Join(each, " ")
}

// named lists the entries of a document as an administrator sees them.
func (w *world) named(path string) (out []string) {
	w.t.Helper()
	w.view(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(path))
		if err != nil {
			return err
		}
		lists, err := tx.ACLs(d)
		for _, l := range lists {
			for _, e := range l.Entries {
				if l.Name == "local" {
					out = append(out, e.User+":"+e.Permission)
				}
				if e.Number != 0 {
					w.t.Errorf("%s: the number of %+v is shown", path, e)
				}
			}
		}
		return err
	})
	return out
}

// nextJob carries out the job that removes grants, and reports whether there was one.
func (w *world) nextJob() bool {
	w.t.Helper()
	var jobs []outbox.State
	w.view(w.System(), func(tx *storage.Tx) (err error) {
		jobs, err = outbox.Jobs(tx, outbox.Waits, grant.JobKind, 2)
		return err
	})
	if len(jobs) > 1 {
		w.t.Fatalf("%d jobs at once", len(jobs))
	}
	if len(jobs) == 0 {
		return false
	}
	for range 2 { // a job may be met twice
		if err := grant.Do(context.Background(), w.Repo, jobs[0].Job); err != nil {
			w.t.Fatal(err)
		}
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		all, err := outbox.Jobs(tx, outbox.Waits, grant.JobKind, 10)
		for _, j := range all[:max(1, len(all)-1)] {
			if err := outbox.Delete(tx, j.ID); err != nil {
				return err
			}
		}
		return err
	})
	return true
}

// TestGrantsOfTheGone deletes a user with grants on many folders in one small transaction. Another user of the name
// gets nothing of them, before, while and after they are removed, and keeps what was granted since.
func TestGrantsOfTheGone(t *testing.T) {
	store := &written{Store: memory.New()}
	w := newWorld(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	const many = 450
	w.grant("/", "Administrator:Everything")
	w.make("/early", "Workspace", nil)
	w.grant("/early", "bob:Read") // before there is anybody of the name
	person := func(name string) {
		w.update(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: name}, "") })
	}
	person("bob")
	person("ann")
	w.update(w.System(), func(tx *storage.Tx) error {
		for i := range many {
			if err := mk(tx, fmt.Sprintf("/w%03d", i), "Workspace", nil); err != nil {
				return err
			}
		}
		return people.SaveGroup(tx, &people.Group{Name: "staff", Users: []string{"bob"}})
	})
	for i := range many {
		w.grant(fmt.Sprintf("/w%03d", i), "bob:Everything", "ann:Read")
	}
	w.make("/shared", "Workspace", nil)
	w.grant("/shared", "staff:Read")
	w.make("/denied", "Workspace", nil)
	w.grant("/denied", "-bob:Everything", "members:Read")
	anns := w.reads("ann")
	if got := len(strings.Fields(w.reads("bob"))); got != many+2 || len(strings.Fields(anns)) != many+1 {
		t.Fatalf("bob reads %d", got)
	}

	w.update(w.System(), func(tx *storage.Tx) error {
		return people.DeleteUser(tx, "bob")
	})
	if n := len(store.batch.Writes); n > 40 {
		t.Errorf("%d rows are written", n)
	}
	if got := w.named("/w000"); fmt.Sprint(got) != "[ann:Read]" {
		t.Errorf("entries once bob is gone: %v", got)
	}
	w.make("/next", "Workspace", nil)
	w.grant("/next", "bob:Read") // for anyone who has the name next
	if got := w.named("/next"); fmt.Sprint(got) != "[bob:Read]" {
		t.Errorf("entries for the next bob: %v", got)
	}
	person("bob")
	w.grant("/w440", "bob:Read", "ann:Read")
	w.grant("/w441", "ann:Read")
	const now = "denied next w440"
	if got := w.reads("bob"); got != now {
		t.Errorf("before: bob reads %s", got)
	}
	for jobs := 0; w.nextJob(); jobs++ {
		if got := w.reads("bob"); got != now {
			t.Errorf("after %d jobs bob reads %s", jobs, got)
		}
		if got := w.reads("ann"); got != anns {
			t.Errorf("after %d jobs ann reads %s", jobs, got)
		}
		if jobs > 5 {
			t.Fatal("there is no end")
		}
	}
	if got := fmt.Sprint(w.named("/early"), w.named("/w440"), w.named("/w000"), w.named("/denied")); got != "[] [bob:Read ann:Read] [ann:Read] [members:Read]" {
		t.Errorf("entries in the end: %s", got)
	}

	// And once more: the grants of the second are not the third's.
	w.update(w.System(), func(tx *storage.Tx) error {
		return people.DeleteUser(tx, "bob")
	})
	person("bob")
	for more := true; more; more = w.nextJob() {
		if got := w.reads("bob"); got != "denied" {
			t.Errorf("the third bob reads %s", got)
		}
	}
}

// TestGrantsOfTheGoneBeside has a user be made again in a store with two repositories: nothing is left in either.
func TestGrantsOfTheGoneBeside(t *testing.T) {
	first := newWorld(t)
	second := first.sibling("archive")
	second.grant("/", "Administrator:Everything")
	second.make("/early", "Workspace", nil)
	second.grant("/early", "bob:Read")
	bob := func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "bob"}, "") }
	first.update(first.System(), bob)
	second.make("/there", "Workspace", nil)
	second.grant("/there", "bob:Read")
	if got := second.reads("bob"); got != "early there" {
		t.Fatalf("bob reads %s", got)
	}
	first.update(first.System(), func(tx *storage.Tx) error {
		return people.DeleteUser(tx, "bob")
	})
	for first.nextJob() {
	}
	first.update(first.System(), bob)
	if got := second.reads("bob"); got != "" {
		t.Errorf("the second bob reads %s", got)
	}
}

// TestGrantsOfTheUnnumbered does the same to a user of a store from before users had numbers.
func TestGrantsOfTheUnnumbered(t *testing.T) {
	w := newWorld(t)
	w.grant("/", "Administrator:Everything")
	w.update(w.System(), func(tx *storage.Tx) error { return tx.Table("users").Put("old", people.User{Username: "old"}) })
	w.make("/w", "Workspace", nil)
	w.grant("/w", "old:Read")
	if got := w.reads("old"); got != "w" {
		t.Fatalf("the first reads %q", got)
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		return people.DeleteUser(tx, "old")
	})
	w.update(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "old"}, "") })
	for more := true; more; more = w.nextJob() {
		if got := w.reads("old"); got != "" {
			t.Errorf("the second reads %q", got)
		}
	}
	if got := w.named("/w"); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestLockOfSomebodyGone holds that a user made again under a name does not have the locks of the one before.
func TestLockOfSomebodyGone(t *testing.T) {
	w := newWorld(t)
	hire := func() *storage.Principal {
		w.update(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "eve"}, "") })
		p, err := w.Principal(context.Background(), "eve")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := hire()
	w.make("/default-domain/workspaces/note", "File", nil)
	w.grant("/default-domain/workspaces/note", "members:Write", "members:Read")
	change := func(as *storage.Principal, fn func(*storage.Tx, *storage.Doc) error) error {
		return w.Update(context.Background(), as, func(tx *storage.Tx) error {
			d, err := tx.Doc("/default-domain/workspaces/note")
			if err == nil {
				err = fn(tx, d)
			}
			return err
		})
	}
	lock := func(tx *storage.Tx, d *storage.Doc) error { _, err := tx.Lock(d); return err }
	unlock := func(tx *storage.Tx, d *storage.Doc) error { _, err := tx.Unlock(d); return err }
	save := func(tx *storage.Tx, d *storage.Doc) error {
		if err := d.Set("dc:title", tx.NewID()); err != nil {
			return err
		}
		_, err := tx.Save(d, storage.SaveOptions{})
		return err
	}
	for name, fn := range map[string]func(*storage.Tx, *storage.Doc) error{"lock": lock, "lock again": lock, "save": save} {
		if err := change(first, fn); err != nil {
			t.Errorf("%s by who has the lock: %v", name, err)
		}
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		return people.DeleteUser(tx, "eve")
	})
	second := hire()
	for name, fn := range map[string]func(*storage.Tx, *storage.Doc) error{"lock": lock, "unlock": unlock, "save": save} {
		if err := change(second, fn); err == nil {
			t.Errorf("%s by another user of the name: allowed", name)
		}
	}
	if err := change(w.System(), unlock); err != nil {
		t.Error(err)
	}
	if err := change(second, lock); err != nil {
		t.Error(err)
	}
}
