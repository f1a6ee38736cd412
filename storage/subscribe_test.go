package storage_test

import (
	"errors"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/subscription"
)

// Whether anybody has subscribed is known at once, whatever was known before.
func TestAnySubscription(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "Folder", nil)
	w.grant("/f", "ann:Read")
	any := func() (on bool) {
		w.update(w.System(), func(tx *storage.Tx) (err error) {
			on, err = subscription.Any(tx)
			return err
		})
		return on
	}
	for range 2 {
		if any() {
			t.Error("somebody before anybody")
		}
	}
	w.update(user("ann"), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		return subscription.Add(tx, d, "Creation")
	})
	for range 2 {
		if !any() {
			t.Error("nobody after somebody")
		}
	}
}

// A subscription counts until it ends, the document goes, or the user does.
func TestSubscriptionsCount(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.Bounds = c.Bounds.With(subscription.Limits{User: 2}) })
	for _, path := range []string{"/f", "/g", "/h"} {
		w.make(path, "Folder", nil)
		w.grant(path, "ann:Read")
	}
	subscribe := func(path string, names ...string) error {
		return w.Update(t.Context(), user("ann"), func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(path))
			if err != nil {
				return err
			}
			return subscription.Add(tx, d, names...)
		})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(subscribe("/f", "Creation", "Creation"))
	must(subscribe("/g", "Creation"))
	must(subscribe("/g", "Creation"))
	wantKind(t, subscribe("/h", "Creation"), fault.Limit, "at most 2")
	w.update(user("ann"), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err == nil {
			err = subscription.Remove(tx, d)
		}
		return err
	})
	must(subscribe("/h", "Creation"))
	wantKind(t, subscribe("/h", "Removal"), fault.Limit, "at most 2")
	w.update(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/g")
		if err == nil {
			err = tx.Delete(d)
		}
		return err
	})
	must(subscribe("/h", "Removal"))
	w.update(w.System(), func(tx *storage.Tx) error {
		h, err := tx.Doc("/h")
		if err != nil {
			return err
		}
		for _, there := range []bool{true, false} {
			users, err := subscription.Subscribers(tx, "Removal", []string{h.ID()})
			if err != nil || (len(users) == 1) != there {
				t.Errorf("there %t: %v %v", there, users, err)
			}
			if !there {
				break
			}
			if err := people.SaveUser(tx, &people.User{Username: "ann"}, ""); err != nil {
				return err
			}
			if err := people.DeleteUser(tx, "ann"); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestSubscriberMadeAnew removes a document that somebody who goes has subscribed to: another user of the name is told
// of nothing.
func TestSubscriberMadeAnew(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "Folder", nil)
	ann := func() *storage.Principal {
		w.update(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "") })
		p, err := w.Principal(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var id string
	subscribers := func() (users []string) {
		w.update(w.System(), func(tx *storage.Tx) (err error) {
			users, err = subscription.Subscribers(tx, "Removal", []string{id})
			return err
		})
		return users
	}
	first := *ann()
	first.Admin = true
	w.update(&first, func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		id = d.ID()
		return errors.Join(subscription.Add(tx, d), tx.Delete(d))
	})
	if users := subscribers(); len(users) != 1 {
		t.Errorf("%v, want ann, who is yet to be told", users)
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		return people.DeleteUser(tx, "ann")
	})
	ann()
	if users := subscribers(); len(users) != 0 {
		t.Errorf("made anew: %v is told", users)
	}
}
