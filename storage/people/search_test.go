package people_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
)

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
			if got := byCursor(w, size, search); !slices.Equal(got, want) {
				t.Errorf("size %d by cursor: %v", size, got)
			}
		}
		all := func(tx *storage.Tx, o storage.PageOptions) (*people.UserPage, error) {
			return people.SearchUsers(tx, "*", o)
		}
		if got := byCursor(w, size, all); !slices.Equal(got, append([]string{"Administrator"}, want...)) {
			t.Errorf("all, size %d by cursor: %v", size, got)
		}
	}
}

// byCursor walks the pages of a search by their cursors.
func byCursor(w *storagetest.World, size int, search func(*storage.Tx, storage.PageOptions) (*people.UserPage, error)) (names []string) {
	after := ""
	for range 40 {
		w.Read(named("any"), func(tx *storage.Tx) error {
			page, err := search(tx, storage.PageOptions{Limit: size, After: after, Offset: 7 * len(after)})
			if err != nil {
				return err
			}
			for _, u := range page.Users {
				names = append(names, u.Username)
			}
			after = page.Next
			return nil
		})
		if after == "" {
			break
		}
	}
	return names
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
		for _, g := range []people.Group{
			{Name: "leaf", Users: []string{"d"}},
			{Name: "left", Users: []string{"b"}, Groups: []string{"leaf"}},
			{Name: "right", Users: []string{"c"}, Groups: []string{"leaf", "gone"}},
			{Name: "top", Users: []string{"a"}, Groups: []string{"left", "right"}},
		} {
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
