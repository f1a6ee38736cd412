package people_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
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
	user := func(u people.User) func(*storage.Tx) error {
		return func(tx *storage.Tx) error { return people.SaveUser(tx, &u, "") }
	}
	group := func(g people.Group) func(*storage.Tx) error {
		return func(tx *storage.Tx) error { return people.SaveGroup(tx, &g) }
	}
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

// TestSearch: people are found by the beginning of each of their names, in any case, in the order of their names.
func TestSearch(t *testing.T) {
	w := storagetest.NewWorld(t)
	add(w, people.User{Username: "ann", FirstName: "Ann", LastName: "Smith", Email: "ANN@example.com"}, people.User{Username: "Bob", FirstName: " Änne ", LastName: "von Smith"},
		people.User{Username: "cy", FirstName: "an*n", LastName: strings.Repeat("long", 100)}, people.User{Username: "ANN", LastName: "O'Neil"}, people.User{Username: "Ωmega", LastName: "ΣΣ"})
	for _, c := range []struct{ text, want string }{
		{"", "Administrator ANN ann Bob cy Ωmega"},
		{"*", "Administrator ANN ann Bob cy Ωmega"},
		{" %* ", "Administrator ANN ann Bob cy Ωmega"},
		{"a", "Administrator ANN ann cy"},
		{"AN", "ANN ann cy"},
		{"ann@EX", "ann"},
		{"smith", "ann"},
		{"von smith", "Bob"},
		{"von  smith", ""},
		{"än", "Bob"},
		{"a\u0308n", ""},
		{"an*n", "cy"},
		{"ann*", "ANN ann"},
		{"*nn", ""},
		{"o'n", "ANN"},
		{"ωM", "Ωmega"},
		{"σσ", "Ωmega"},
		{"\x00", ""},
		{"\xff", ""},
		{strings.Repeat("long", 100), "cy"},
		{strings.Repeat("long", 99) + "other", "cy"},
		{strings.Repeat("x", 5000), ""},
	} {
		w.Read(named("any"), func(tx *storage.Tx) error {
			page, err := people.SearchUsers(tx, c.text, storage.PageOptions{})
			var got []string
			if err == nil {
				for _, u := range page.Users {
					got = append(got, u.Username)
				}
			}
			if s := strings.Join(got, " "); err != nil || s != c.want {
				t.Errorf("%.20q: %q, %v, want %q", c.text, s, err, c.want)
			}
			return nil
		})
	}
	w.Read(named(""), func(tx *storage.Tx) error {
		for name, err := range map[string]error{
			"users": second(people.SearchUsers(tx, "", storage.PageOptions{})), "groups": second(people.SearchGroups(tx, "", storage.PageOptions{})), "names": second(people.UsersNamed(tx, "a")),
			"group names": second(people.GroupsNamed(tx, "a")), "lookup": second(people.Lookup(tx, "ann")), "group": second(people.LookupGroup(tx, "members")), "table": second(people.UserTable(tx)),
		} {
			if !fault.Is(err, fault.Denied) {
				t.Errorf("%s for nobody: %v", name, err)
			}
		}
		return nil
	})
}

func second[T any](_ T, err error) error { return err }

// TestSearchPages walks pages of every size and sees everyone once.
func TestSearchPages(t *testing.T) {
	w := storagetest.NewWorld(t)
	var want []string
	for i := range 23 {
		name := fmt.Sprintf("u%02d", i)
		add(w, people.User{Username: name, LastName: "same", Groups: []string{"members"}})
		want = append(want, name)
	}
	for _, size := range []int{1, 2, 5, 11, 22, 23, 24, 100} {
		for _, search := range []func(tx *storage.Tx, o storage.PageOptions) (*people.UserPage, error){
			func(tx *storage.Tx, o storage.PageOptions) (*people.UserPage, error) {
				return people.SearchUsers(tx, "SAME", o)
			},
			func(tx *storage.Tx, o storage.PageOptions) (*people.UserPage, error) {
				return people.MemberUsers(tx, "members", "u", o)
			},
		} {
			var byOffset []string
			w.Read(named("any"), func(tx *storage.Tx) error {
				for range 40 {
					page, err := search(tx, storage.PageOptions{Offset: len(byOffset), Limit: size})
					if err != nil {
						return err
					}
					for _, u := range page.Users {
						byOffset = append(byOffset, u.Username)
					}
					if page.Total != len(want) || page.HasNext != (len(byOffset) < len(want)) {
						t.Errorf("size %d: total %d, next %v after %d", size, page.Total, page.HasNext, len(byOffset))
					}
					if !page.HasNext {
						break
					}
				}
				return nil
			})
			if !slices.Equal(byOffset, want) {
				t.Errorf("size %d: %v", size, byOffset)
			}
		}
	}
}

// TestNamesFollow: who has another name is found by it, and no longer by the one of before.
func TestNamesFollow(t *testing.T) {
	w := storagetest.NewWorld(t)
	found := func(text string) (names []string) {
		w.Read(w.System(), func(tx *storage.Tx) (err error) { names, err = people.UsersNamed(tx, text); return err })
		return names
	}
	add(w, people.User{Username: "ann", LastName: "Smith", Email: "smith@a.example"})
	add(w, people.User{Username: "ann", LastName: "Miller", Email: "SMITH"})
	for text, want := range map[string]int{"smith@": 0, "smith": 1, "miller": 1, "ann": 1, "": 2} {
		if got := found(text); len(got) != want {
			t.Errorf("%q: %v, want %d", text, got, want)
		}
	}
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "ann") })
	if got := append(found("smith"), found("ann")...); len(got) != 0 {
		t.Errorf("gone, and found: %v", got)
	}
}

// TestSuggest: each word begins one of the names of somebody.
func TestSuggest(t *testing.T) {
	w := storagetest.NewWorld(t)
	add(w, people.User{Username: "ann", FirstName: "Ann", LastName: "Smith"}, people.User{Username: "anna", FirstName: "Anna", LastName: "Miller"}, people.User{Username: "smi", FirstName: "Andy"})
	for _, c := range []struct {
		words, among []string
		limit        int
		want         string
		more         bool
	}{
		{[]string{"an"}, nil, 10, "ann anna smi", false},
		{[]string{"an", "smi"}, nil, 10, "ann smi", false},
		{[]string{"SMI", "an", "an"}, nil, 10, "ann smi", false},
		{[]string{"an"}, nil, 2, "ann anna", true},
		{[]string{"an"}, nil, 3, "ann anna smi", false},
		{[]string{"an"}, nil, 0, "", true},
		{[]string{"none"}, nil, 0, "", false},
		{[]string{"", "*", " "}, nil, 2, "Administrator ann", true},
		{nil, nil, 10, "Administrator ann anna smi", false},
		{[]string{"an"}, []string{"smi", "none", "ann", "smi"}, 10, "ann smi", false},
		{[]string{"mil"}, []string{"ann"}, 10, "", false},
		{[]string{"an"}, []string{}, 10, "", false},
	} {
		w.Read(named("any"), func(tx *storage.Tx) error {
			users, more, err := people.SuggestUsers(tx, c.words, c.among, c.limit)
			var got []string
			for _, u := range users {
				got = append(got, u.Username)
			}
			if s := strings.Join(got, " "); err != nil || s != c.want || more != c.more {
				t.Errorf("%q among %q, %d: %q, %v, %v; want %q, %v", c.words, c.among, c.limit, s, more, err, c.want, c.more)
			}
			return nil
		})
	}
	w.Read(named("any"), func(tx *storage.Tx) error {
		groups, more, err := people.SuggestGroups(tx, "MEM", 5)
		if err != nil || more || len(groups) != 1 || groups[0].Name != "members" || groups[0].Users != nil {
			t.Errorf("groups %+v, %v, %v", groups, more, err)
		}
		return nil
	})
}

// TestWithin: users of groups within groups, however often a group is met.
func TestWithin(t *testing.T) {
	w := storagetest.NewWorld(t)
	w.Write(w.System(), func(tx *storage.Tx) error {
		var err error
		for _, g := range []people.Group{{Name: "leaf", Users: []string{"d"}}, {Name: "left", Users: []string{"b"}, Groups: []string{"leaf"}}, {Name: "right", Users: []string{"c"}, Groups: []string{"leaf", "gone"}}, {Name: "top", Users: []string{"a"}, Groups: []string{"left", "right"}}} {
			err = errors.Join(err, people.SaveGroup(tx, &g))
		}
		return err
	})
	for _, c := range []struct {
		group string
		sub   bool
		want  string
	}{{"top", false, "a"}, {"top", true, "a b c d"}, {"leaf", true, "d"}, {"none", true, ""}, {"", true, ""}} {
		w.Read(w.System(), func(tx *storage.Tx) error {
			users, err := people.UsersWithin(tx, c.group, c.sub)
			if s := strings.Join(users, " "); err != nil || s != c.want {
				t.Errorf("%s, %v: %q, %v", c.group, c.sub, s, err)
			}
			return nil
		})
	}
	few := storagetest.Open(t, func(c *storage.Config) { c.Limits.ScanRows = 3 })
	if err := few.Update(t.Context(), few.System(), func(tx *storage.Tx) error {
		for n, want := range map[int]bool{3: true, 4: false} {
			g := people.Group{Name: "g", Users: []string{"a", "b", "c", "d"}[:n]}
			if err := people.SaveGroup(tx, &g); err != nil {
				return err
			}
			if _, err := people.UsersWithin(tx, "g", true); want != (err == nil) || !want && fault.CodeOf(err) != fault.CodeQueryTooCostly {
				t.Errorf("%d users, 3 are read: %v", n, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestHomes: everybody has one workspace, whatever the name, and it is nobody else's.
func TestHomes(t *testing.T) {
	w := storagetest.NewWorld(t)
	names := []string{
		"bob", "Bob", "bob ", " bob", "bob\u00a0", "bob%20", ".", "..", "%2E", "a/b", "a%2Fb", "a-b", "ミカエル", "e\u0301", "é", "bob.1772366400000",
		strings.Repeat("x", 255), strings.Repeat("x", 254) + "/", strings.Repeat("/", 255), strings.Repeat("/", 254) + "%", strings.Repeat("ä", 127) + "/", strings.Repeat("ä", 126) + "//",
	}
	seen := map[string]string{}
	for _, name := range names {
		add(w, people.User{Username: name})
		var id string
		for range 2 { // made, and found again
			w.Write(named(name), func(tx *storage.Tx) error {
				d, err := people.Home(tx, true)
				if err != nil {
					return err
				}
				if id != "" && d.ID() != id {
					t.Errorf("%.20q has two workspaces", name)
				}
				if id = d.ID(); d.Title() != name {
					t.Errorf("%.20q: the title is %.20q", name, d.Title())
				}
				return nil
			})
		}
		if other := seen[id]; other != "" {
			t.Errorf("%.20q has the workspace of %.20q", name, other)
		}
		seen[id] = name
		w.Read(named("somebody"), func(tx *storage.Tx) error {
			if _, err := tx.Doc(storage.Ref(id)); !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
				t.Errorf("%.20q: others see it: %v", name, err)
			}
			if d, err := people.Home(tx, false); d != nil || err != nil {
				t.Errorf("somebody has %v, %v", d, err)
			}
			return nil
		})
	}
	for _, name := range names { // whoever gets the name next has another one
		w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, name) })
		add(w, people.User{Username: name})
		w.Write(named(name), func(tx *storage.Tx) error {
			if d, err := people.Home(tx, false); d != nil || err != nil {
				t.Errorf("%.20q, made anew, has %v, %v", name, d, err)
			}
			d, err := people.Home(tx, true)
			if err == nil && seen[d.ID()] != "" {
				t.Errorf("%.20q, made anew, has the workspace of %.20q", name, seen[d.ID()])
			}
			return err
		})
	}
	err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { _, err := people.Home(tx, true); return err })
	storagetest.WantKind(t, err, fault.Invalid, "the server itself")
}

// TestPassword: a password signs in by itself only, and not at all once its user is gone.
func TestPassword(t *testing.T) {
	w := storagetest.NewWorld(t)
	long := strings.Repeat("p", 200)
	for i, text := range []string{"a", "Ä\u0308", "\U0001F600", " spaces ", "a\x00b", long} {
		w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, text) })
		for other, want := range map[string]bool{text: true, text + "x": false, strings.ToUpper(text) + " ": false, "": false} {
			if _, err := credential.SignIn(context.Background(), w.Repo, "ann", other); want != (err == nil) {
				t.Errorf("%d: %.10q for %.10q: %v", i, other, text, err)
			}
		}
		w.Now = w.Now.AddDate(0, 0, 1) // wrong ones are forgotten
	}
	w.Write(w.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "ann", Email: "kept"}, "")
	})
	if _, err := credential.SignIn(t.Context(), w.Repo, "ann", long); err != nil {
		t.Errorf("a change without a password: %v", err)
	}
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "ann") })
	add(w, people.User{Username: "ann"})
	if _, err := credential.SignIn(t.Context(), w.Repo, "ann", long); !fault.Is(err, fault.Denied) {
		t.Errorf("of the user of before: %v", err)
	}
}
