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
