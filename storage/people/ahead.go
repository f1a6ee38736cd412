package people

import (
	"slices"

	"catena/storage"
)

// atOnce is how many users or groups are fetched together.
const atOnce = 500

// Ahead tells that users are about to be looked up one after the other. It changes no result: a store across a network fetches all of them
// at once.
func Ahead(t *storage.Tx, users []string) error {
	return ahead(t, users, (*storage.Reads).User)
}

// GroupsAhead is Ahead for groups with their direct members.
func GroupsAhead(t *storage.Tx, groups []string) error {
	return ahead(t, groups, (*storage.Reads).Group)
}

// rowsAhead is Ahead for the rows of a table alone.
func rowsAhead(t *storage.Tx, kind byte, names []string) error {
	return ahead(t, names, func(a *storage.Reads, name string) { a.Row(t.Table(tableOf(kind)), name) })
}

func ahead(t *storage.Tx, names []string, gather func(a *storage.Reads, name string)) error {
	if len(names) < 2 {
		return nil
	}
	for some := range slices.Chunk(names, atOnce) {
		a := storage.ReadsOf(t)
		if a == nil {
			return nil
		}
		for _, name := range some {
			if name != "" {
				gather(a, name)
			}
		}
		if err := a.Fetch(); err != nil {
			return err
		}
	}
	return nil
}

// LookupAll returns users by name.
func LookupAll(t *storage.Tx, names []string) ([]*User, error) {
	if err := Ahead(t, names); err != nil {
		return nil, err
	}
	users := make([]*User, len(names))
	for i, name := range names {
		var err error
		if users[i], err = Lookup(t, name); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// LookupGroups returns groups by name, with their direct members.
func LookupGroups(t *storage.Tx, names []string) ([]*Group, error) {
	if err := GroupsAhead(t, names); err != nil {
		return nil, err
	}
	groups := make([]*Group, len(names))
	for i, name := range names {
		var err error
		if groups[i], err = LookupGroup(t, name); err != nil {
			return nil, err
		}
	}
	return groups, nil
}
