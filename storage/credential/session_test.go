package credential_test

import (
	"context"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
)

func TestSession(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := context.Background()
	w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "pw") })
	if _, _, err := credential.OpenSession(ctx, w.Repo, "ann", "wrong"); !fault.Is(err, fault.Denied) {
		t.Errorf("wrong password: %v", err)
	}
	open := func() string {
		t.Helper()
		token, expires, err := credential.OpenSession(ctx, w.Repo, "ann", "pw")
		if err != nil || expires.Before(w.Now.Add(time.Hour)) {
			t.Fatalf("open: %v, until %v", err, expires)
		}
		if p, err := credential.SignInSession(ctx, w.Repo, token); err != nil || p.Name != "ann" {
			t.Fatalf("session of %v: %v", p, err)
		}
		return token
	}
	over := func(what, token string) {
		t.Helper()
		if _, err := credential.SignInSession(ctx, w.Repo, token); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", what, err)
		}
	}
	list := func(user string) (all []credential.Session) {
		t.Helper()
		w.Read(&storage.Principal{Name: user}, func(tx *storage.Tx) (err error) {
			all, err = credential.Sessions(tx)
			return err
		})
		return all
	}
	one := open()
	own := list("ann")
	if len(own) != 1 || !own[0].Began.Equal(w.Now) || own[0].Current || len(list("bob")) != 0 {
		t.Errorf("sessions: %+v, of another user: %+v", own, list("bob"))
	}
	end := func(user, id string) error {
		return w.Update(ctx, &storage.Principal{Name: user}, func(tx *storage.Tx) error { return credential.EndOwnSession(tx, id) })
	}
	for _, c := range [][2]string{{"bob", own[0].ID}, {"ann", "nope"}} {
		if err := end(c[0], c[1]); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s ends %s: %v", c[0], c[1], err)
		}
	}
	if p, err := credential.SignInSession(ctx, w.Repo, one); err != nil {
		t.Errorf("after others tried to end it: %v", err)
	} else {
		w.Read(p, func(tx *storage.Tx) error {
			if all, err := credential.Sessions(tx); err != nil || len(all) != 1 || !all[0].Current {
				t.Errorf("the session that calls: %+v, %v", all, err)
			}
			return nil
		})
	}
	if err := end("ann", own[0].ID); err != nil || len(list("ann")) != 0 {
		t.Errorf("end: %v, left %+v", err, list("ann"))
	}
	over("ended by its id", one)
	over("no token", "")
	over("made up", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	ended, late := open(), open()
	for range 2 {
		if err := credential.EndSession(ctx, w.Repo, ended); err != nil {
			t.Error(err)
		}
	}
	over("ended", ended)
	start := w.Now
	w.Now = start.Add(13 * time.Hour)
	over("expired", late)
	if err := credential.Sweep(ctx, w.Repo); err != nil {
		t.Error(err)
	}
	w.Now = start
	over("swept", late)
	before := open()
	w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "new") })
	over("after a new password", before)
	w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "pw") })
	gone := open()
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "ann") })
	over("deleted user", gone)
}

// TestSessionsListed has sessions that an earlier version began, which did not list them by user: they are found until they
// have ended, and after that no session of another user is read.
func TestSessionsListed(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := context.Background()
	for _, name := range []string{"ann", "ann2", "bob"} {
		w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: name}, "pw") })
	}
	open := func(user string) string {
		t.Helper()
		token, _, err := credential.OpenSession(ctx, w.Repo, user, "pw")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	want := func(what string, n int) {
		t.Helper()
		w.Read(&storage.Principal{Name: "ann"}, func(tx *storage.Tx) error {
			all, err := credential.Sessions(tx)
			if err != nil || len(all) != n {
				t.Errorf("%s: %d sessions, %v, want %d", what, len(all), err, n)
			}
			return nil
		})
	}
	open("ann")
	credential.Unlist(t, w.Repo)
	open("ann2")
	open("bob")
	want("not listed", 1)
	if err := credential.Open(ctx, w.Repo); err != nil {
		t.Fatal(err)
	}
	want("not listed, in a store that was opened", 1)
	w.Now = w.Now.Add(10 * time.Hour)
	two := open("ann")
	want("one listed of two", 2)
	w.Now = w.Now.Add(3 * time.Hour)
	want("the first has ended", 1)
	open("ann2")
	if n := credential.Reads(t, w.Repo, "ann"); n != 1 {
		t.Errorf("read %d sessions for the one of ann", n)
	}
	if err := credential.EndSession(ctx, w.Repo, two); err != nil {
		t.Fatal(err)
	}
	want("ended", 0)
	if n := credential.Reads(t, w.Repo, "ann"); n != 0 {
		t.Errorf("%d rows are left of a session that was ended", n)
	}
}
