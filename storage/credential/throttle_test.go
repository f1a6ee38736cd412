package credential_test

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// from is a context for a client of an address.
func from(ctx context.Context, address string) context.Context {
	return credential.WithClient(ctx, netip.MustParseAddr(address), "")
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// attacker is the nth address of a botnet.
func attacker(n int) string { return fmt.Sprintf("2001:db8:%x:%x::1", n>>16, n&0xffff) }

// evaluated reports whether a wrong password was looked at.
func evaluated(t *testing.T, w *storagetest.World, ctx context.Context, user string) bool {
	t.Helper()
	_, err := credential.SignIn(ctx, w.Repo, user, "wrong")
	if !fault.Is(err, fault.Denied) {
		t.Fatalf("%s: %v", user, err)
	}
	return fault.CodeOf(err) != fault.CodeTooManyAttempts
}

// TestSignInUnderAttack has ten thousand addresses guess at an account for a day: at most 1,000 guesses are looked at,
// the same for a name that does not exist, and who signed in before gets in by address and by device all the time, also
// after a restart.
func TestSignInUnderAttack(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := t.Context()
	check(t, credential.Open(ctx, w.Repo))
	w.Write(w.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "bob"}, "right password")
	})
	in := func(ctx context.Context) error {
		_, err := credential.SignIn(ctx, w.Repo, "bob", "right password")
		return err
	}
	home := from(ctx, "192.0.2.1")
	if err := in(home); err != nil {
		t.Fatal(err)
	}
	device, _, err := credential.Device(ctx, w.Repo, "bob")
	if err != nil {
		t.Fatal(err)
	}
	abroad := credential.WithClient(ctx, netip.MustParseAddr("198.51.100.7"), device)
	looked, ghost := 0, 0
	const guesses = 3000
	for i := range guesses {
		if evaluated(t, w, from(ctx, attacker(i)), "bob") {
			looked++
		}
		if evaluated(t, w, from(ctx, attacker(i)), "ghost") {
			ghost++
		}
		w.Now = w.Now.Add(24 * time.Hour / guesses)
		if i%500 != 499 {
			continue
		}
		if i == 1499 { // what was counted and who is known outlive the process
			check(t, credential.Flush(ctx, w.Repo))
			check(t, credential.Open(ctx, w.Repo))
		}
		if err := in(home); err != nil {
			t.Errorf("guess %d: from a known address: %v", i, err)
		}
		w.Now = w.Now.Add(10 * time.Minute) // a password found right is remembered for five
		if err := in(abroad); err != nil {
			t.Errorf("guess %d: from a known device: %v", i, err)
		}
	}
	if looked > 1040 || looked < 500 { // the pauses add an hour
		t.Errorf("%d of %d guesses are looked at, want 1,000", looked, guesses)
	}
	if ghost != looked {
		t.Errorf("%d guesses at a name that does not exist are looked at, %d at one that does", ghost, looked)
	}
	w.Write(w.System(), func(tx *storage.Tx) error { return people.SetPassword(tx, "bob", "another password") })
	for range 200 {
		evaluated(t, w, from(ctx, attacker(1)), "bob")
	}
	if !evaluated(t, w, home, "bob") {
		t.Error("a known address is shut out")
	}
	if evaluated(t, w, credential.WithClient(ctx, netip.MustParseAddr("198.51.100.99"), device), "bob") {
		t.Error("a device is known that signed in by a password that has changed")
	}
}

// TestSignInFromOneAddress has one address guess at a thousand names in turn.
func TestSignInFromOneAddress(t *testing.T) {
	w := storagetest.NewWorld(t)
	looked := 0
	for i := range 1000 {
		if evaluated(t, w, from(t.Context(), fmt.Sprintf("2001:db8::%x", i)), fmt.Sprint("user", i)) {
			looked++
		}
	}
	if looked != 100 {
		t.Errorf("%d of 1000 guesses from one network are looked at", looked)
	}
	if !evaluated(t, w, from(t.Context(), "192.0.2.9"), "Administrator") {
		t.Error("another address is shut out")
	}
	w.Read(w.System(), func(tx *storage.Tx) error {
		page, err := tx.Entries(storage.EntryFilter{Events: []string{"signInRefused"}, PageOptions: storage.PageOptions{Limit: 10}})
		if err != nil {
			return err
		}
		if len(page.Entries) != 1 || page.Entries[0].Extended["address"] != "2001:db8::/64" {
			t.Errorf("records of the attack: %v", page.Entries)
		}
		return nil
	})
	if failed, refused := credential.Attempts(w.Repo); failed != 101 || refused != 900 {
		t.Errorf("%d wrong, %d not looked at", failed, refused)
	}
}

// TestManySignInsAtOnce opens fifty connections at once with the right password, as clients do after the server has
// started: none is taken for a guess. Fifty with as many wrong passwords are, and the operator is told.
func TestManySignInsAtOnce(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := from(t.Context(), "192.0.2.1")
	w.Write(w.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "bob"}, "right password")
	})
	atOnce := func(text func(i int) string) (refused int64) {
		var all sync.WaitGroup
		var n atomic.Int64
		for i := range 50 {
			all.Go(func() {
				if _, err := credential.SignIn(ctx, w.Repo, "bob", text(i)); fault.CodeOf(err) == fault.CodeTooManyAttempts {
					n.Add(1)
				}
			})
		}
		all.Wait()
		return n.Load()
	}
	if n := atOnce(func(int) string { return "right password" }); n > 0 {
		t.Errorf("%d of 50 sign-ins with the right password are refused", n)
	}
	if n := atOnce(func(i int) string { return fmt.Sprint("wrong", i) }); n != 40 {
		t.Errorf("%d of 50 wrong passwords are refused, want 40", n)
	}
	w.Read(w.System(), func(tx *storage.Tx) error {
		page, err := tx.Entries(storage.EntryFilter{Events: []string{"signInRefused"}, PageOptions: storage.PageOptions{Limit: 10}})
		if err != nil {
			return err
		}
		if len(page.Entries) != 1 || page.Entries[0].Extended["user"] != "bob" || page.Entries[0].Extended["address"] != "192.0.2.1/32" {
			t.Errorf("records of the attack: %v", page.Entries)
		}
		return nil
	})
}

// TestWrongPasswordsAreKept restarts between wrong passwords: they are not forgiven. Those of ten thousand names cost few
// commits, and the rows end by themselves.
func TestWrongPasswordsAreKept(t *testing.T) {
	w := storagetest.NewWorld(t)
	ctx := from(t.Context(), "192.0.2.1")
	check(t, credential.Open(ctx, w.Repo))
	for range 5 {
		for range 2 {
			evaluated(t, w, ctx, "Administrator")
		}
		check(t, credential.Flush(ctx, w.Repo))
		check(t, credential.Open(ctx, w.Repo))
	}
	if evaluated(t, w, ctx, "Administrator") {
		t.Error("a restart forgives wrong passwords")
	}
	w.Now = w.Now.Add(-5 * time.Hour) // the clock is set back
	if evaluated(t, w, ctx, "Administrator") {
		t.Error("an earlier clock forgives wrong passwords")
	}
	w.Now = w.Now.Add(2 * time.Minute)
	if !evaluated(t, w, ctx, "Administrator") {
		t.Error("an earlier clock keeps an account closed for hours")
	}
}
