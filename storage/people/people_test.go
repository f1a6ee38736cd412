package people_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/password"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// named is a principal as others are, who need not exist.
func named(name string, groups ...string) *storage.Principal {
	return &storage.Principal{Name: name, Groups: append([]string{storage.Members}, groups...)}
}

// add writes users, each with its groups.
func add(w *storagetest.World, users ...people.User) {
	w.Write(w.System(), func(tx *storage.Tx) error {
		for _, u := range users {
			if err := people.SaveUser(tx, &u, ""); err != nil {
				return err
			}
		}
		return nil
	})
}

// field is the field that an error names.
func field(err error) string {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

func TestNames(t *testing.T) {
	w := storagetest.NewWorld(t)
	for _, c := range []struct {
		name string
		kind fault.Kind // 255: none
	}{
		{"bob", 255},
		{"Bob", 255},
		{"bob@example.com", 255},
		{"a/b", 255},
		{"..", 255},
		{"ミカエル", 255},
		{"e\u0301", 255},
		{"אבג", 255},
		{"\U0001F600", 255},
		{" bob ", 255},
		{strings.Repeat("x", 255), 255},
		{strings.Repeat("ä", 127), 255},
		{"", fault.Invalid},
		{" ", fault.Invalid},
		{"\u00a0\u2003", fault.Invalid},
		{strings.Repeat("x", 256), fault.Limit},
		{strings.Repeat("ä", 128), fault.Limit},
		{"a\x00b", fault.Invalid},
		{"a\nb", fault.Invalid},
		{"a\x7f", fault.Invalid},
		{"a\u0085b", fault.Invalid},
		{"a\xff", fault.Invalid},
		{"\xe2\x82", fault.Invalid},
		{"Everyone", fault.Invalid},
		{storage.SystemName, fault.Invalid},
		{storage.GuestName, fault.Invalid},
	} {
		for what, err := range map[string]error{
			"user": w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: c.name}, "") }),
			"group": w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
				return people.SaveGroup(tx, &people.Group{Name: c.name})
			}),
			"check": people.CheckName(c.name),
		} {
			if c.kind == 255 && err != nil || c.kind != 255 && (!fault.Is(err, c.kind) || field(err) != "name") {
				t.Errorf("%s %q: %v, field %q", what, c.name, err, field(err))
			}
		}
		if c.kind != 255 {
			continue
		}
		w.Read(w.System(), func(tx *storage.Tx) error {
			u, err := people.Lookup(tx, c.name)
			if err != nil || u.Username != c.name || u.ID == 0 || !u.Created.Equal(w.Now) {
				t.Errorf("%q is kept as %+v, %v", c.name, u, err)
			}
			return nil
		})
	}
}

// TestSaveUser: numbers are never used again, what is not asked for stays, and what the server keeps cannot be set.
func TestSaveUser(t *testing.T) {
	w := storagetest.NewWorld(t)
	save := func(u people.User) people.User {
		t.Helper()
		w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &u, "") })
		return u
	}
	first := save(people.User{Username: "ann", ID: 9999, Groups: []string{"members", "powerusers"}})
	created := w.Now
	if first.ID == 9999 || first.ID == 0 {
		t.Errorf("the number is %d", first.ID)
	}
	w.Now = w.Now.AddDate(0, 0, 1)
	second := save(people.User{Username: "ann", ID: 1, Created: w.Now, Email: "a@example.com", Groups: []string{"powerusers", "powerusers"}})
	if second.ID != first.ID || !second.Created.Equal(created) || !second.Updated.Equal(w.Now) {
		t.Errorf("changed: %+v", second)
	}
	w.Read(w.System(), func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, "ann")
		if err != nil || !slices.Equal(u.Groups, []string{"powerusers"}) || u.Email != "a@example.com" {
			t.Errorf("%+v, %v", u, err)
		}
		g, err := people.LookupGroup(tx, "members")
		if err != nil || slices.Contains(g.Users, "ann") {
			t.Errorf("members: %+v, %v", g, err)
		}
		return nil
	})
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "ann") })
	if third := save(people.User{Username: "ann"}); third.ID <= first.ID {
		t.Errorf("made anew, number %d after %d", third.ID, first.ID)
	}
}

// user saves a user in a transaction, group a group.
func user(u people.User) func(*storage.Tx) error {
	return func(tx *storage.Tx) error { return people.SaveUser(tx, &u, "") }
}

func group(g people.Group) func(*storage.Tx) error {
	return func(tx *storage.Tx) error { return people.SaveGroup(tx, &g) }
}

// TestWhoMayWhat: who may change whom, also by groups within groups.
func TestWhoMayWhat(t *testing.T) {
	w := storagetest.NewWorld(t)
	w.Write(w.System(), func(tx *storage.Tx) error {
		return errors.Join(
			people.SaveGroup(tx, &people.Group{Name: "board"}), people.SaveGroup(tx, &people.Group{Name: "staff"}),
			people.SaveGroup(tx, &people.Group{Name: storage.Administrators, Users: []string{storage.AdministratorName}, Groups: []string{"board"}}),
			people.SaveUser(tx, &people.User{Username: "chief", Groups: []string{"board"}}, ""),
			people.SaveUser(tx, &people.User{Username: "ann", TeamID: 4, TeamRole: "member", AccountType: "free", Groups: []string{"staff"}}, ""),
		)
	})
	pat, ann, guest := named("pat", storage.PowerUsers), named("ann"), named("")
	own := people.User{Username: "ann", TeamID: 4, TeamRole: "member", AccountType: "free", Groups: []string{"staff"}}
	with := func(change func(u *people.User)) func(*storage.Tx) error { u := own; change(&u); return user(u) }
	for _, c := range []struct {
		name string
		as   *storage.Principal
		do   func(*storage.Tx) error
		want fault.Kind // 255: allowed
	}{
		{"own address", ann, with(func(u *people.User) { u.Email = "x" }), 255},
		{"own groups in another order, twice", ann, with(func(u *people.User) { u.Groups = []string{"staff", "staff"} }), 255},
		{"own team", ann, with(func(u *people.User) { u.TeamID = 5 }), fault.Denied},
		{"own role", ann, with(func(u *people.User) { u.TeamRole = "owner" }), fault.Denied},
		{"own plan", ann, with(func(u *people.User) { u.AccountType = "team" }), fault.Denied},
		{"own billing", ann, with(func(u *people.User) { u.BillingPeriod = "yearly" }), fault.Denied},
		{"out of a group", ann, with(func(u *people.User) { u.Groups = nil }), fault.Denied},
		{"own name in another case", ann, with(func(u *people.User) { u.Username = "ANN" }), fault.Denied},
		{"delete oneself", ann, func(tx *storage.Tx) error { return people.DeleteUser(tx, "ann") }, fault.Denied},
		{"own password", ann, func(tx *storage.Tx) error { return people.SetPassword(tx, "ann", "new") }, 255},
		{"another's password", ann, func(tx *storage.Tx) error { return people.SetPassword(tx, "chief", "new") }, fault.Denied},
		{"power user, user of a group", pat, with(func(u *people.User) { u.Groups = []string{"members"} }), 255},
		{"power user, member of the board", pat, user(people.User{Username: "chief"}), fault.Denied},
		{"power user, to the board", pat, with(func(u *people.User) { u.Groups = []string{"board"} }), fault.Denied},
		{"power user, the board's password", pat, func(tx *storage.Tx) error { return people.SetPassword(tx, "chief", "x") }, fault.Denied},
		{"power user, delete of the board", pat, func(tx *storage.Tx) error { return people.DeleteUser(tx, "chief") }, fault.Denied},
		{"power user, the board", pat, group(people.Group{Name: "board", Users: []string{"pat"}}), fault.Denied},
		{"power user, a group with the board in it", pat, group(people.Group{Name: "mine", Groups: []string{"board"}}), fault.Denied},
		{"power user, delete the board", pat, func(tx *storage.Tx) error { return people.DeleteGroup(tx, "board") }, fault.Denied},
		{"power user, a group", pat, group(people.Group{Name: "mine", Users: []string{"pat", "gone", ""}, Groups: []string{"staff"}}), 255},
		{"user, a group", ann, group(people.Group{Name: "mine"}), fault.Denied},
		{"user, delete a group", ann, func(tx *storage.Tx) error { return people.DeleteGroup(tx, "mine") }, fault.Denied},
		{"administrators go", w.System(), func(tx *storage.Tx) error { return people.DeleteGroup(tx, storage.Administrators) }, fault.Conflict},
		{"a group in itself", w.System(), group(people.Group{Name: "staff", Groups: []string{"staff"}}), fault.Conflict},
		{"a new group in itself", w.System(), group(people.Group{Name: "loop", Groups: []string{"loop"}}), fault.Conflict},
		{"a circle of three", w.System(), group(people.Group{Name: "board", Groups: []string{storage.Administrators}}), fault.Conflict},
		{"no user", w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "none") }, fault.NotFound},
		{"no group", w.System(), func(tx *storage.Tx) error { return people.DeleteGroup(tx, "none") }, fault.NotFound},
		{"nobody's password", w.System(), func(tx *storage.Tx) error { return people.SetPassword(tx, "", "x") }, fault.NotFound},
		{"a long password", w.System(), func(tx *storage.Tx) error { return people.SetPassword(tx, "ann", strings.Repeat("x", 1<<20)) }, fault.Limit},
		{"nobody", guest, user(people.User{Username: "x"}), fault.Denied},
	} {
		err := w.Update(t.Context(), c.as, c.do)
		if c.want == 255 && err != nil || c.want != 255 && !fault.Is(err, c.want) {
			t.Errorf("%s: %v (%v), want %v", c.name, err, fault.Of(err), c.want)
		}
	}
	err := w.View(t.Context(), w.System(), user(people.User{Username: "x"}))
	storagetest.WantKind(t, err, fault.Invalid, "read-only")
}

// TestMembers: both sides of a membership change together, whoever is saved, and go with either.
func TestMembers(t *testing.T) {
	w := storagetest.NewWorld(t)
	add(w, people.User{Username: "ann"}, people.User{Username: "bob"})
	group := func(name string, users, groups []string) {
		w.Write(w.System(), func(tx *storage.Tx) error {
			return people.SaveGroup(tx, &people.Group{Name: name, Users: users, Groups: groups})
		})
	}
	show := func() (out string) {
		w.Read(w.System(), func(tx *storage.Tx) error {
			for _, name := range []string{"ann", "bob"} {
				if u, err := people.Lookup(tx, name); err == nil {
					out += fmt.Sprint(name, u.Groups)
				}
			}
			for _, name := range []string{"a", "b"} {
				if g, err := people.LookupGroup(tx, name); err == nil {
					above, err := people.GroupsOf(tx, name)
					out += fmt.Sprintf(" %s%v%v%v%v", name, g.Users, g.Groups, above, err)
				}
			}
			return nil
		})
		return out
	}
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"none", func() {}, "ann[]bob[]"},
		{"a group of both, twice", func() { group("a", []string{"ann", "bob", "ann", "", "gone"}, nil) }, "ann[a]bob[a] a[ann bob gone][][]<nil>"},
		{"a group above", func() { group("b", nil, []string{"a", "a"}) }, "ann[a]bob[a] a[ann bob gone][][b]<nil> b[][a][]<nil>"},
		{"one leaves", func() { group("a", []string{"bob"}, nil) }, "ann[]bob[a] a[bob][][b]<nil> b[][a][]<nil>"},
		{"one is saved into it", func() { add(w, people.User{Username: "ann", Groups: []string{"b", "a"}}) }, "ann[a b]bob[a] a[ann bob][][b]<nil> b[ann][a][]<nil>"},
		{"a user goes", func() { w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") }) }, "ann[a b] a[ann][][b]<nil> b[ann][a][]<nil>"},
		{"a group goes", func() { w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteGroup(tx, "a") }) }, "ann[b] b[ann][][]<nil>"},
		{"it comes back empty", func() { group("a", nil, nil) }, "ann[b] a[][][]<nil> b[ann][][]<nil>"},
	} {
		if c.do(); show() != c.want {
			t.Errorf("%s: %s, want %s", c.name, show(), c.want)
		}
	}
}

// TestPasswordLength: a password that is set has so many characters as the server says, and the error names the field.
func TestPasswordLength(t *testing.T) {
	strict := storagetest.Open(t, func(c *storage.Config) { c.Limits.Password = 8 })
	for _, c := range []struct {
		field string
		set   func(tx *storage.Tx, text string) error
	}{
		{"password", func(tx *storage.Tx, text string) error {
			return people.SaveUser(tx, &people.User{Username: "bob"}, text)
		}},
		{"newPassword", func(tx *storage.Tx, text string) error { return people.SetPassword(tx, "bob", text) }},
	} {
		for text, fits := range map[string]bool{"1234567": false, "éééééé7": false, "12345678": true, "": c.field == "password"} {
			err := strict.Update(t.Context(), strict.System(), func(tx *storage.Tx) error { return c.set(tx, text) })
			if (err == nil) != fits || err != nil && (!fault.Is(err, fault.Invalid) || field(err) != c.field || fault.CodeOf(err) != fault.CodeTooShort) {
				t.Errorf("%s %q: %v (%s)", c.field, text, err, field(err))
			}
		}
	}
}

// TestPasswordHashedOnce: a transaction that has lost a race stores what it hashed before.
func TestPasswordHashedOnce(t *testing.T) {
	w := storagetest.NewWorld(t)
	add(w, people.User{Username: "alice"})
	var stored []string
	w.Write(w.System(), func(tx *storage.Tx) error {
		if err := people.SaveUser(tx, &people.User{Username: "bob"}, "correct horse"); err != nil {
			return err
		}
		var row password.Row
		if _, err := tx.Secret(password.Users).Get("bob", &row); err != nil {
			return err
		}
		if stored = append(stored, row.Hash); len(stored) == 1 {
			w.Write(w.System(), func(other *storage.Tx) error { return people.SaveUser(other, &people.User{Username: "bob"}, "") })
		}
		return nil
	})
	if len(stored) != 2 || stored[0] != stored[1] {
		t.Errorf("hashed: %q", stored)
	}
}
