package people

import (
	"maps"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
)

// maxGroupsWithin bounds how many groups within a group are looked at.
const maxGroupsWithin = 1_000

// SuggestUsers returns users of whom each word begins some name, by name: up to limit, and
// whether there are more. Names that are not nil are the only ones looked at. No search is
// longer than it takes to find one too many.
func SuggestUsers(t *storage.Tx, words, among []string, limit int) ([]*User, bool, error) {
	names, more, err := suggest(t, nameOfUser, words, among, limit)
	if err != nil {
		return nil, false, err
	}
	users, err := LookupAll(t, names)
	return users, more && err == nil, err
}

// SuggestGroups returns groups of which name or label begins with a text, without their
// members: up to limit, and whether there are more.
func SuggestGroups(t *storage.Tx, text string, limit int) ([]*Group, bool, error) {
	names, more, err := suggest(t, nameOfGroup, []string{text}, nil, limit)
	if err != nil {
		return nil, false, err
	}
	if err := rowsAhead(t, nameOfGroup, names); err != nil {
		return nil, false, err
	}
	groups := make([]*Group, len(names))
	for i, name := range names {
		groups[i] = &Group{}
		if _, err = t.Table(layout.GroupTable).Get(name, groups[i]); err != nil {
			return nil, false, err
		}
	}
	return groups, more, nil
}

func suggest(t *storage.Tx, kind byte, words, among []string, limit int) (names []string, more bool, err error) {
	if t.Principal().Name == "" {
		return nil, false, storage.ErrNobody
	}
	found := map[string]bool{}
	take := func(name string) bool {
		found[name] = true
		return len(found) <= limit
	}
	words = foldWords(words)
	switch {
	case among != nil:
		err = matching(t, kind, words, among, take)
	case len(words) == 0:
		err = named(t, kind, "", "", take)
	default:
		err = namedByAll(t, kind, words, take)
	}
	names = slices.SortedFunc(maps.Keys(found), compareNames)
	if more = len(names) > limit; more {
		names = names[:limit]
	}
	return names, more, err
}

// namedByAll calls take for those of whom each word begins a name, maybe more than once.
func namedByAll(t *storage.Tx, kind byte, words []string, take func(name string) bool) error {
	var rest []map[string]bool
	for _, word := range words[1:] {
		found, err := allNamed(t, kind, word)
		if err != nil {
			return err
		}
		rest = append(rest, found)
	}
	read := 0
	err := eachNamed(t, kind, words[0], "", func(_, name string) bool {
		if read++; read > t.Repo().Limits().ScanRows {
			return false
		}
		if slices.ContainsFunc(rest, func(found map[string]bool) bool { return !found[name] }) {
			return true
		}
		return take(name)
	})
	if err == nil && read > t.Repo().Limits().ScanRows {
		return fault.Limit.Errorf("search %q: more than %d results", words[0], t.Repo().Limits().ScanRows).WithCode(fault.CodeQueryTooCostly)
	}
	return err
}

// UsersWithin returns the names of the users who are in a group directly or, if sub, in a
// group within it. A group that does not exist has none.
func UsersWithin(t *storage.Tx, group string, sub bool) ([]string, error) {
	users, todo, seen := []string{}, []string{group}, map[string]bool{group: true}
	for len(todo) > 0 {
		g, err := LookupGroup(t, todo[0])
		todo = todo[1:]
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		users = append(users, g.Users...)
		if len(users) > t.Repo().Limits().ScanRows || len(seen) > maxGroupsWithin {
			return nil, fault.Limit.Errorf("group %s: has more than %d users or %d groups", group, t.Repo().Limits().ScanRows, maxGroupsWithin).
				WithCode(fault.CodeQueryTooCostly)
		}
		for _, name := range g.Groups {
			if sub && !seen[name] {
				seen[name] = true
				todo = append(todo, name)
			}
		}
	}
	return users, nil
}

// foldWords folds what is looked for and leaves out what stands for everything.
func foldWords(words []string) (out []string) {
	for _, s := range words {
		if s = row.Text(strings.Trim(s, " *%")); s != "" {
			out = append(out, s)
		}
	}
	return out
}
