package credential_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/people"
	"catena/storage/storagetest"
)

func TestSignInBacksOff(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := t.Context()
	for i := range 30 {
		_, err := credential.SignIn(ctx, w.Repo, "Administrator", "wrong")
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Denied || (f.Code == fault.CodeTooManyAttempts) != (i >= 10) {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
	if _, err := credential.SignIn(ctx, w.Repo, "Administrator", storagetest.Password); !fault.Is(err, fault.Denied) {
		t.Errorf("right password while backing off: %v", err)
	}
	_, err := credential.SignIn(ctx, w.Repo, "stranger", "wrong")
	storagetest.WantKind(t, err, fault.Denied, "wrong user name or password")
	w.Now = w.Now.Add(16 * time.Minute)
	if _, err := credential.SignIn(ctx, w.Repo, "Administrator", storagetest.Password); err != nil {
		t.Error(err)
	}
	for range 20 {
		credential.SignIn(ctx, w.Repo, "Administrator", "wrong")
	}
	if _, err := credential.SignIn(ctx, w.Repo, "Administrator", storagetest.Password); err != nil {
		t.Errorf("a password checked before is locked out by a stranger: %v", err)
	}
}

func TestKeys(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := t.Context()
	w.Write(w.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "bob"}, "")
	})
	bob := &storage.Principal{Name: "bob"}
	var read, write, short string
	var id int64
	w.Write(bob, func(tx *storage.Tx) error {
		var err error
		var k credential.Key
		if _, read, err = credential.CreateKey(tx, credential.Key{Scope: credential.ScopeRead, Name: "r"}); err != nil {
			return err
		}
		if k, write, err = credential.CreateKey(tx, credential.Key{Scope: credential.ScopeWrite, Revision: "B"}); err != nil {
			return err
		}
		id = k.ID
		_, short, err = credential.CreateKey(tx, credential.Key{Scope: credential.ScopeWrite, Expires: w.Now.Add(time.Hour)})
		return err
	})
	p, err := credential.SignInKey(ctx, w.Repo, read)
	if err != nil || !p.ReadOnly || p.Name != "bob" || !slices.Contains(p.Groups, "members") {
		t.Errorf("read key: %+v %v", p, err)
	}
	p, err = credential.SignInKey(ctx, w.Repo, write)
	if err != nil || p.ReadOnly || p.KeyID != id || p.Revision != "B" {
		t.Errorf("write key: %+v %v", p, err)
	}
	if _, err := credential.SignInKey(ctx, w.Repo, short); err != nil {
		t.Error(err)
	}
	used := w.Now
	w.Now = w.Now.Add(2 * time.Hour)
	flip := []byte(write)
	flip[len(flip)-2] ^= 1
	for _, bad := range []string{"", "cat_", "cat_1_", "cat_99_x", "cat_-1_x", string(flip), short, write + "x", strings.Repeat("cat_1_", 100)} {
		_, err := credential.SignInKey(ctx, w.Repo, bad)
		storagetest.WantKind(t, err, fault.Denied, "not valid")
	}
	if err := credential.Sweep(ctx, w.Repo); err != nil {
		t.Fatal(err)
	}
	w.Read(bob, func(tx *storage.Tx) error {
		keys, err := credential.Keys(tx, "bob")
		if err != nil || len(keys) != 3 || !keys[0].LastUsed.Equal(used) {
			t.Errorf("keys: %+v %v", keys, err)
		}
		_, err = credential.Keys(tx, "")
		storagetest.WantKind(t, err, fault.Denied, "keys of all users: not visible to 'bob'")
		return nil
	})
	storagetest.WantKind(t, w.Update(ctx, &storage.Principal{Name: "eve"}, func(tx *storage.Tx) error { return credential.RevokeKey(tx, id) }), fault.NotFound, "key")
	w.Write(bob, func(tx *storage.Tx) error { return credential.RevokeKey(tx, id) })
	_, err = credential.SignInKey(ctx, w.Repo, write)
	storagetest.WantKind(t, err, fault.Denied, "not valid")
	w.Write(w.System(), func(tx *storage.Tx) error {
		if err := people.DeleteUser(tx, "bob"); err != nil {
			return err
		}
		return people.SaveUser(tx, &people.User{Username: "bob"}, "")
	})
	_, err = credential.SignInKey(ctx, w.Repo, read)
	storagetest.WantKind(t, err, fault.Denied, "not valid") // another bob
	w.Read(w.System(), func(tx *storage.Tx) error {
		if keys, err := credential.Keys(tx, "bob"); err != nil || len(keys) != 0 {
			t.Errorf("keys of another bob: %+v %v", keys, err)
		}
		return nil
	})

	var dump bytes.Buffer
	if err := w.DB.Dump(ctx, &dump); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{strings.SplitN(read, "_", 3)[2], storagetest.Password} {
		if bytes.Contains(dump.Bytes(), []byte(secret)) {
			t.Errorf("the store holds the secret %s", secret)
		}
	}
}

// TestOpen opens a store from before keys were listed by user.
func TestOpen(t *testing.T) {
	w := storagetest.NewWorld(t)
	keysOf := row.Secret{Name: "keysOf"}
	w.Write(w.System(), func(tx *storage.Tx) error {
		for _, name := range []string{"ann", "bob", "bobby"} {
			if err := people.SaveUser(tx, &people.User{Username: name}, ""); err != nil {
				return err
			}
			for range 2 {
				if _, _, err := credential.CreateKey(tx, credential.Key{User: name, Scope: credential.ScopeRead}); err != nil {
					return err
				}
			}
		}
		for key := range tx.Secret(keysOf).Scan("", "", false, 0) {
			if err := tx.Secret(keysOf).Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
	for range 2 {
		if err := credential.Open(t.Context(), w.Repo); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") })
	w.Read(w.System(), func(tx *storage.Tx) error {
		for user, want := range map[string][]int64{"ann": {1, 2}, "bob": nil, "bobby": {5, 6}, "": {1, 2, 5, 6}} {
			keys, err := credential.Keys(tx, user)
			var got []int64
			for _, k := range keys {
				got = append(got, k.ID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("keys of %q: %v %v, want %v", user, got, err, want)
			}
		}
		return nil
	})
	err := w.Update(t.Context(), &storage.Principal{Name: "eve"}, func(tx *storage.Tx) error { return credential.Owner.Leave(tx, "ann") })
	storagetest.WantKind(t, err, fault.Conflict, "user ann: still exists")
}
