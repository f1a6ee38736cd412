package vault_test

import (
	"net/url"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
	"catena/storage/vault"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		url, address string
		want         bool
	}{
		{"https://api.example.com", "https://api.example.com/v1/x?q=1", true},
		{"https://api.example.com/v1", "https://api.example.com/v1", true},
		{"https://api.example.com/v1/", "https://API.example.com/v1/x", true},
		{"https://api.example.com/v1", "https://api.example.com/v10", false},
		{"https://api.example.com/v1", "https://api.example.com/v1/../v2", false},
		{"https://api.example.com/v1", "https://api.example.com/v1/%2e%2e/v2", false},
		{"https://api.example.com/v1", "https://api.example.com/v1%2f..%2fv2", false},
		{"https://api.example.com", "http://api.example.com/", false},
		{"https://api.example.com", "https://api.example.com.evil.org/", false},
		{"https://api.example.com", "https://api.example.com:8443/", false},
	} {
		u, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&vault.Credential{URL: c.url}).Covers(u); got != c.want {
			t.Errorf("%s for %s: %v", c.url, c.address, got)
		}
	}
}

func TestGrants(t *testing.T) {
	repo := storagetest.Open(t, nil)
	system := func(f func(tx *storage.Tx) error) {
		t.Helper()
		if err := repo.Update(t.Context(), repo.System(), f); err != nil {
			t.Fatal(err)
		}
	}
	system(func(tx *storage.Tx) error {
		for _, name := range []string{"bob", "eve"} {
			if err := people.SaveUser(tx, &people.User{Username: name}, ""); err != nil {
				return err
			}
		}
		_, err := vault.Put(tx, vault.Credential{Name: "api", Kind: vault.Bearer, URL: "https://a.example/", Users: []string{"bob"}, Chains: []string{"Test.Call"}}, "token-1")
		return err
	})
	at, _ := url.Parse("https://a.example/x")
	use := func(user, chain string, at *url.URL) (string, error) {
		p, err := repo.Principal(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		var secret string
		err = repo.View(t.Context(), p, func(tx *storage.Tx) (err error) {
			_, secret, err = vault.Use(tx, "api", chain, at)
			return err
		})
		return secret, err
	}
	for _, c := range []struct {
		user, chain string
		ok          bool
	}{{"bob", "", true}, {"eve", "", false}, {"eve", "Test.Call", true}, {"eve", "Test.Other", false}, {"Administrator", "", true}} {
		secret, err := use(c.user, c.chain, at)
		if c.ok && (err != nil || secret != "token-1") || !c.ok && !fault.Is(err, fault.Denied) {
			t.Errorf("%+v: %q, %v", c, secret, err)
		}
	}
	elsewhere, _ := url.Parse("https://b.example/x")
	if _, err := use("bob", "", elsewhere); !fault.Is(err, fault.Denied) {
		t.Errorf("another address: %v", err)
	}
	system(func(tx *storage.Tx) error {
		if _, err := vault.Put(tx, vault.Credential{Name: "api", Kind: vault.Bearer, URL: "https://b.example/"}, ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("the secret was bound to another address without being given: %v", err)
		}
		_, err := vault.Put(tx, vault.Credential{Name: "api", Kind: vault.Bearer, URL: "https://a.example/", Users: []string{"bob", "eve"}}, "")
		return err
	})
	if secret, err := use("eve", "", at); err != nil || secret != "token-1" {
		t.Errorf("changed grants: %q, %v", secret, err)
	}
	system(func(tx *storage.Tx) error { return people.DeleteUser(tx, "eve") })
	system(func(tx *storage.Tx) error {
		c, err := vault.Get(tx, "api")
		if err == nil && len(c.Users) != 1 {
			t.Errorf("granted to %v", c.Users)
		}
		return err
	})
	p, err := repo.Principal(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	_ = repo.View(t.Context(), p, func(tx *storage.Tx) error {
		if _, err := vault.List(tx); !fault.Is(err, fault.Denied) {
			t.Errorf("bob lists credentials: %v", err)
		}
		return nil
	})
}
