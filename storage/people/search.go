package people

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// UserPage is a part of a list of users.
type UserPage struct {
	Users        []*User
	storage.Page // paging figures
}

// GroupPage is a part of a list of groups.
type GroupPage struct {
	Groups       []*Group
	storage.Page // paging figures
}

const (
	nameOfUser  = 1
	nameOfGroup = 2
)

// namesKey marks a store in which every user and group has rows for its names.
var namesKey = layout.MetaKey("names")

// names are what a user is found by.
func (u *User) names() []string {
	if u == nil {
		return nil
	}
	return nameTexts(u.Username, u.FirstName, u.LastName, u.Email)
}

func (g *Group) names() []string { return nameTexts(g.Name, g.Label) }

// tableOf is the table of users, or of groups.
func tableOf(kind byte) string {
	if kind == nameOfUser {
		return layout.UserTable
	}
	return layout.GroupTable
}

// namesIn are the names in the row of a user or group.
func namesIn(kind byte, name string, raw []byte) ([]string, error) {
	var who interface{ names() []string } = &User{}
	if kind == nameOfGroup {
		who = &Group{}
	}
	if err := json.Unmarshal(raw, who); err != nil {
		return nil, fault.Internal.Errorf("%s: row %q: %w", tableOf(kind), name, err)
	}
	return who.names(), nil
}

// nameTexts folds names and leaves empty and equal ones out.
func nameTexts(names ...string) (out []string) {
	for _, s := range names {
		if s = nameText(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// nameText is a name as its row has it.
func nameText(name string) string { return row.Text(strings.TrimSpace(name)) }

// setNames writes the rows by which somebody is found.
func setNames(t *storage.Tx, kind byte, who string, old, new []string) error {
	for _, s := range old {
		if !slices.Contains(new, s) {
			if err := inside(t).KV().Delete(nameKey(kind, s, who)); err != nil {
				return err
			}
		}
	}
	for _, s := range new {
		if err := inside(t).KV().Set(nameKey(kind, s, who), nil); err != nil {
			return err
		}
	}
	return nil
}

func nameKey(kind byte, text, who string) []byte {
	return append(kv.AppendString([]byte{layout.NameSpace, kind}, text), who...)
}

// openNames writes the rows of names in a store that has none yet.
func openNames(ctx context.Context, r *storage.Repo) error {
	done := r.IsPart() // names are there once for all repositories
	err := r.View(ctx, r.System(), func(t *storage.Tx) error {
		v, err := inside(t).KV().Get(namesKey)
		done = done || v != nil
		return err
	})
	if err != nil || done {
		return err
	}
	return r.Update(ctx, r.System(), func(t *storage.Tx) error {
		for _, kind := range []byte{nameOfUser, nameOfGroup} {
			for name, raw := range t.Table(tableOf(kind)).Scan("", "", false, 0) {
				names, err := namesIn(kind, name, raw)
				if err != nil {
					return err
				}
				if err := setNames(t, kind, name, nil, names); err != nil {
					return err
				}
			}
		}
		return inside(t).KV().Set(namesKey, []byte{1})
	})
}

// named calls take with the names of those, by name, of whom some name begins with a text and who come behind another one;
// nothing, "*" and "%" stand for all. The order is that of the names in any case.
func named(t *storage.Tx, kind byte, text, after string, take func(name string) bool) error {
	if text = row.Text(strings.Trim(text, " *%")); text == "" {
		// Of the rows of everybody, the one for the name that they are called by is taken: it is the only one with its
		// text, and these rows are in order.
		return eachNamed(t, kind, "", after, func(text, name string) bool { return text != nameText(name) || take(name) })
	}
	found, err := allNamed(t, kind, text)
	if err != nil {
		return err
	}
	for _, name := range slices.SortedFunc(maps.Keys(found), compareNames) {
		if behind(name, after) && !take(name) {
			break
		}
	}
	return nil
}

// behind reports whether a name comes after another one, "": before all.
func behind(name, after string) bool { return after == "" || compareNames(name, after) > 0 }

// compareNames orders names in any case, those that differ by case alone by their bytes.
func compareNames(a, b string) int {
	return cmp.Or(strings.Compare(nameText(a), nameText(b)), strings.Compare(a, b))
}

// allNamed returns all of whom some name begins with a folded text.
func allNamed(t *storage.Tx, kind byte, text string) (map[string]bool, error) {
	found := map[string]bool{}
	err := eachNamed(t, kind, text, "", func(_, who string) bool {
		found[who] = true
		return len(found) <= t.Repo().Limits().ScanRows
	})
	if err == nil && len(found) > t.Repo().Limits().ScanRows {
		err = fault.Limit.Errorf("search %q: more than %d results", text, t.Repo().Limits().ScanRows).WithCode(fault.CodeQueryTooCostly)
	}
	return found, err
}

// UsersNamed returns the names, in order, of the users of whom some name begins with a text.
func UsersNamed(t *storage.Tx, text string) ([]string, error) { return namesOf(t, nameOfUser, text) }

// GroupsNamed returns the names, in order, of the groups of which some name begins with a text.
func GroupsNamed(t *storage.Tx, text string) ([]string, error) { return namesOf(t, nameOfGroup, text) }

func namesOf(t *storage.Tx, kind byte, text string) ([]string, error) {
	if t.Principal().Name == "" {
		return nil, storage.ErrNobody
	}
	found, err := allNamed(t, kind, row.Text(text))
	return slices.SortedFunc(maps.Keys(found), compareNames), err
}

// eachNamed calls take for each name that begins with a folded text, in their order, with whose it is; behind the row for the
// name that somebody is called by, "": from the first.
func eachNamed(t *storage.Tx, kind byte, text, after string, take func(name, who string) bool) error {
	whole := nameKey(kind, text, "")
	names := kv.Prefix(whole[:len(whole)-2]) // without the end of the text
	names.KeysOnly = true
	if after != "" {
		names.Start = append(nameKey(kind, nameText(after), after), 0)
	}
	for r, err := range inside(t).KV().Scan(names) {
		if err != nil {
			return err
		}
		name, who, err := kv.DecodeString(r.Key[2:])
		if err != nil || !take(name, string(who)) {
			return err
		}
	}
	return nil
}

// pageOf collects the names of a page.
func pageOf(t *storage.Tx, o storage.PageOptions, walk func(after string, take func(name string) bool) error) ([]string, storage.Page, error) {
	if t.Principal().Name == "" {
		return nil, storage.Page{}, storage.ErrNobody
	}
	return storage.PageByName(t, o, walk)
}

// members collects a page of the names of members, who exist and match a text.
func members(t *storage.Tx, kind byte, text string, names []string, o storage.PageOptions) ([]string, storage.Page, error) {
	return pageOf(t, o, func(after string, take func(string) bool) error {
		left := slices.DeleteFunc(InOrder(names), func(name string) bool { return !behind(name, after) })
		return matching(t, kind, []string{text}, left, take)
	})
}

// SearchUsers returns a page of the users of whom name, first name, last name or address
// begins with a text, by name.
func SearchUsers(t *storage.Tx, text string, o storage.PageOptions) (*UserPage, error) {
	names, page, err := pageOf(t, o, func(after string, take func(string) bool) error { return named(t, nameOfUser, text, after, take) })
	if err != nil {
		return nil, err
	}
	return userPage(t, names, page)
}

// SearchGroups returns a page of the groups of which name or label begins with a text.
func SearchGroups(t *storage.Tx, text string, o storage.PageOptions) (*GroupPage, error) {
	names, page, err := pageOf(t, o, func(after string, take func(string) bool) error { return named(t, nameOfGroup, text, after, take) })
	if err != nil {
		return nil, err
	}
	return groupPage(t, names, page)
}

// MemberUsers returns a page of the users who are in a group directly and match a text.
// Members that do not exist are left out.
func MemberUsers(t *storage.Tx, group, text string, o storage.PageOptions) (*UserPage, error) {
	g, err := LookupGroup(t, group)
	if err != nil {
		return nil, err
	}
	names, page, err := members(t, nameOfUser, text, g.Users, o)
	if err != nil {
		return nil, err
	}
	return userPage(t, names, page)
}

// MemberGroups returns a page of the groups that are in a group directly and match a text.
func MemberGroups(t *storage.Tx, group, text string, o storage.PageOptions) (*GroupPage, error) {
	g, err := LookupGroup(t, group)
	if err != nil {
		return nil, err
	}
	names, page, err := members(t, nameOfGroup, text, g.Groups, o)
	if err != nil {
		return nil, err
	}
	return groupPage(t, names, page)
}

// InOrder are names in the order in which searches find them: small letters are not behind capitals.
func InOrder(names []string) []string {
	texts := make(map[string]string, len(names))
	for _, name := range names {
		texts[name] = nameText(name)
	}
	return slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(strings.Compare(texts[a], texts[b]), strings.Compare(a, b))
	})
}

// matching calls take with those of the names who exist and are found by each of the words.
func matching(t *storage.Tx, kind byte, words, names []string, take func(string) bool) error {
	words = foldWords(words)
	for some := range slices.Chunk(names, atOnce) {
		if err := rowsAhead(t, kind, some); err != nil {
			return err
		}
		for _, name := range some {
			ok, err := hasWords(t, kind, words, name)
			if err != nil {
				return err
			}
			if ok && !take(name) {
				return nil
			}
		}
	}
	return nil
}

// hasWords reports whether somebody exists and is found by each of the folded words.
func hasWords(t *storage.Tx, kind byte, words []string, name string) (bool, error) {
	raw, err := t.Table(tableOf(kind)).Row(name)
	if err != nil || raw == nil {
		return false, err
	}
	texts, err := namesIn(kind, name, raw)
	if err != nil {
		return false, err
	}
	other := func(word string) bool {
		return !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, word) })
	}
	return !slices.ContainsFunc(words, other), nil
}

func userPage(t *storage.Tx, names []string, page storage.Page) (*UserPage, error) {
	users, err := LookupAll(t, names)
	if err != nil {
		return nil, err
	}
	return &UserPage{Page: page, Users: users}, nil
}

func groupPage(t *storage.Tx, names []string, page storage.Page) (*GroupPage, error) {
	groups, err := LookupGroups(t, names)
	if err != nil {
		return nil, err
	}
	return &GroupPage{Page: page, Groups: groups}, nil
}

// Owner keeps users with their personal workspaces.
var Owner = storage.Owner{Name: "people", Seed: seed, Open: openNames}

func inside(t *storage.Tx) storage.Internal { return t.Internal(row.Ordered{}) }

// seed writes the groups and the administrator that a fresh repository has.
func seed(t *storage.Tx, password string) error {
	for _, g := range [...]Group{
		{Name: storage.Administrators, Label: "Administrators group"},
		{Name: storage.Members, Label: "Members group"},
		{Name: storage.PowerUsers, Label: "Power users group"},
	} {
		if err := SaveGroup(t, &g); err != nil {
			return err
		}
	}
	if err := inside(t).KV().Set(namesKey, []byte{1}); err != nil {
		return err
	}
	return SaveUser(t, &User{Username: storage.AdministratorName, Groups: []string{storage.Administrators}}, password)
}
