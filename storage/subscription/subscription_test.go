package subscription_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
	"catena/storage/subscription"
)

// open is a repository with folders that anyone may read, and what somebody does with one.
type desk struct {
	*storagetest.World
	t *testing.T
}

func open(t *testing.T, users ...string) *desk {
	t.Helper()
	w := &desk{storagetest.NewWorld(t), t}
	w.Write(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		for _, name := range []string{"f", "g"} {
			if err != nil {
				return err
			}
			_, err = tx.Create(root, "Folder", name, nil)
		}
		for _, name := range users {
			err = errors.Join(err, people.SaveUser(tx, &people.User{Username: name}, ""))
		}
		return err
	})
	return w
}

func (w *desk) principal(name string) *storage.Principal {
	w.t.Helper()
	p, err := w.Principal(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *desk) on(as *storage.Principal, path string, do func(tx *storage.Tx, d *storage.Doc) error) error {
	return w.Update(w.t.Context(), as, func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(path))
		if err != nil {
			return err
		}
		return do(tx, d)
	})
}

func (w *desk) subscribers(notification, path string) (users []string) {
	w.t.Helper()
	err := w.on(w.System(), path, func(tx *storage.Tx, d *storage.Doc) (err error) {
		users, err = subscription.Subscribers(tx, notification, []string{d.ID(), d.ID()})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return users
}

func TestNotifications(t *testing.T) {
	names := subscription.Notifications()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) || len(names) != 8 {
		t.Errorf("%q", names)
	}
	for event, want := range map[string]string{"documentTrashed": "Removal", "documentCreatedByCopy": "Creation", "lifecycle_transition_event": "Workflow Change", "": "", "nope": "", "DocumentTrashed": ""} {
		if got := subscription.NotificationOf(event); got != want {
			t.Errorf("%s: %q", event, got)
		}
	}
}

// TestAsked: what is asked for wrongly is refused, and names the field.
func TestAsked(t *testing.T) {
	w := open(t, "ann")
	ann := w.principal("ann")
	for _, c := range []struct {
		name string
		as   *storage.Principal
		want []string
		kind fault.Kind
	}{
		{"unknown", ann, []string{"Creation", "Nope"}, fault.Invalid},
		{"another case", ann, []string{"creation"}, fault.Invalid},
		{"empty", ann, []string{""}, fault.Invalid},
		{"the server", w.System(), nil, fault.Denied},
		{"nobody", &storage.Principal{}, nil, fault.Denied},
	} {
		for what, do := range map[string]func(*storage.Tx, *storage.Doc, ...string) error{"add": subscription.Add, "remove": subscription.Remove} {
			err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
				d, err := tx.Doc("/f")
				if err != nil {
					return err
				}
				return do(tx.As(c.as), d, c.want...)
			})
			var e *fault.Error
			if !fault.Is(err, c.kind) || c.kind == fault.Invalid && (!errors.As(err, &e) || e.Field != "notifications") {
				t.Errorf("%s, %s: %v", what, c.name, err)
			}
		}
	}
	err := w.View(t.Context(), ann, func(tx *storage.Tx) error {
		_, err := subscription.Subscribers(tx, "Creation", nil)
		return err
	})
	storagetest.WantKind(t, err, fault.Denied, "not visible")
	if got := w.subscribers("Creation", "/f"); len(got) != 0 {
		t.Errorf("subscribed all the same: %v", got)
	}
}

// TestLimits: a user has as many subscriptions as are allowed, and so has a document; ending one makes room.
func TestLimits(t *testing.T) {
	w := &desk{t: t}
	w.World = storagetest.NewWorld(t)
	w.Repo = storagetest.Open(t, func(c *storage.Config) { c.Bounds = c.Bounds.With(subscription.Limits{User: 3, Document: 4}) })
	err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		for _, name := range []string{"f", "g"} {
			if err == nil {
				_, err = tx.Create(root, "Folder", name, nil)
			}
		}
		return errors.Join(err, people.SaveUser(tx, &people.User{Username: "ann"}, ""), people.SaveUser(tx, &people.User{Username: "an"}, ""))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user, path string
		remove     bool
		names      string
		limit      bool
	}{
		{"ann", "/f", false, "Creation Removal Move", false},
		{"ann", "/f", false, "Creation", false}, // has it
		{"ann", "/g", false, "Creation", true},
		{"ann", "/f", false, "Comment", true},
		{"an", "/f", false, "Creation Removal", true}, // of the document
		{"an", "/f", false, "Creation", false},
		{"ann", "/f", true, "Move Removal Move", false},
		{"an", "/f", false, "Creation Removal Move", false},
		{"an", "/g", false, "Creation", true},
		{"ann", "/g", false, "Creation", false},
	} {
		do := subscription.Add
		if c.remove {
			do = subscription.Remove
		}
		err := w.on(w.principal(c.user), c.path, func(tx *storage.Tx, d *storage.Doc) error { return do(tx, d, strings.Fields(c.names)...) })
		if c.limit != fault.Is(err, fault.Limit) || !c.limit && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestUsersAlike: users whose names begin or end alike, or have separators in them, have subscriptions of their own.
func TestUsersAlike(t *testing.T) {
	names := []string{"a", "ab", "a/b", "b", "a b", "A", "a\u0301", "Creation/a", "../a", "ä", "\U0001F600"}
	w := open(t, names...)
	for i, name := range names {
		if err := w.on(w.principal(name), "/f", func(tx *storage.Tx, d *storage.Doc) error { return subscription.Add(tx, d, "Creation", "Move") }); err != nil {
			t.Fatal(err)
		}
		if got := w.subscribers("Creation", "/f"); len(got) != i+1 || !slices.Contains(got, name) {
			t.Errorf("%q: %q", name, got)
		}
	}
	for i, name := range names {
		w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, name) })
		if got := w.subscribers("Move", "/f"); len(got) != len(names)-i-1 || slices.Contains(got, name) {
			t.Errorf("%q is gone: %q", name, got)
		}
	}
}

// TestModel compares random calls with a model: who subscribes to what of which document.
func TestModel(t *testing.T) {
	users, paths, all := []string{"ann", "bob"}, []string{"/f", "/g"}, subscription.Notifications()
	w := open(t, users...)
	rnd := rand.New(rand.NewPCG(3, 3))
	model := map[string]bool{}
	for range 150 {
		user, path := users[rnd.IntN(2)], paths[rnd.IntN(2)]
		var names []string
		for range rnd.IntN(3) {
			names = append(names, all[rnd.IntN(len(all))])
		}
		do, there := subscription.Add, true
		if rnd.IntN(2) == 0 {
			do, there = subscription.Remove, false
		}
		if err := w.on(w.principal(user), path, func(tx *storage.Tx, d *storage.Doc) error { return do(tx, d, names...) }); err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 {
			names = all
		}
		for _, name := range names {
			model[user+path+name] = there
		}
		err := w.on(w.principal(user), path, func(tx *storage.Tx, d *storage.Doc) error {
			have, err := subscription.Find(tx, d)
			for _, name := range all {
				if slices.Contains(have, name) != model[user+path+name] {
					err = fmt.Errorf("%s %s: has %q, model %v", user, path, have, model)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		name := all[rnd.IntN(len(all))]
		got := w.subscribers(name, path)
		for _, user := range users {
			if slices.Contains(got, user) != model[user+path+name] {
				t.Fatalf("%s %s: subscribers %q", name, path, got)
			}
		}
	}
}
