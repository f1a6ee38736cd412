package credential_test

import (
	"testing"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// TestMadeAnew has anyone who was let in, or began something that goes on, meet another user of the same name.
func TestMadeAnew(t *testing.T) {
	w := storagetest.NewWorld(t)
	save := func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "bob"}, "secret") }
	w.Write(w.System(), save)
	first, err := w.Principal(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	actor := credential.ActorOf(first)
	acts := func() error {
		return w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
			p, err := actor.Principal(tx)
			if err == nil && p.Identity() != first.Identity() {
				t.Errorf("acts as %s, began as %s", p.Identity(), first.Identity())
			}
			return err
		})
	}
	nothing := func(*storage.Tx) error { return nil }
	w.Write(first, nothing)
	if err := acts(); err != nil {
		t.Error(err)
	}
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") })
	storagetest.WantKind(t, acts(), fault.NotFound, "user")
	w.Write(w.System(), save)
	storagetest.WantKind(t, acts(), fault.NotFound, "user")
	storagetest.WantKind(t, w.Update(t.Context(), first, nothing), fault.Denied, "sign-in")
	second, err := w.Principal(t.Context(), "bob")
	if err != nil || second.Identity() == first.Identity() || actor.Is(second) {
		t.Errorf("%v is %v, %v", second, first, err)
	}
	w.Write(second, nothing)
}

// TestActorOfAKey: what was begun when only the number of a key was kept ends with the key too.
func TestActorOfAKey(t *testing.T) {
	w := storagetest.NewWorld(t)
	var key credential.Key
	w.Write(w.System(), func(tx *storage.Tx) (err error) {
		if err = people.SaveUser(tx, &people.User{Username: "bob"}, ""); err == nil {
			key, _, err = credential.CreateKey(tx, credential.Key{User: "bob", Scope: credential.ScopeWrite})
		}
		return err
	})
	bob, err := w.Principal(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	acts := func(a credential.Actor) error {
		return w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
			_, err := a.Principal(tx)
			return err
		})
	}
	before := credential.Actor{User: "bob", UserID: bob.ID, KeyID: key.ID}
	if err := acts(before); err != nil {
		t.Error(err)
	}
	unknown := before
	unknown.KeyID, unknown.By = 0, storage.Proof{Kind: "face", Name: "bob"}
	storagetest.WantKind(t, acts(unknown), fault.Denied, "sign-in")
	w.Write(w.System(), func(tx *storage.Tx) error { return credential.RevokeKey(tx, key.ID) })
	storagetest.WantKind(t, acts(before), fault.Denied, "sign-in")
}
