package storage

import (
	"encoding/json"
	"maps"
	"slices"

	"catena/storage/fault"
)

// shownNames are the fields of entries that stand for users and groups by which these are
// found without reading all.
var shownNames = map[string][]string{
	groupsTable: {"groupname", "grouplabel"},
	usersTable:  {"username", "firstName", "lastName", "email"},
}

// shownEntry is the entry that stands for a user or group.
func (d *Directory) shownEntry(name string) (*DirectoryEntry, error) {
	var raw json.RawMessage
	ok, err := d.t.Table(d.Shows).Get(name, &raw)
	if err != nil || !ok {
		return nil, firstError(err, d.missing(name))
	}
	return d.standIn(name, raw)
}

// standIn makes an entry of the row of a user or group. Passwords are not in these rows, and
// their field reads as of every directory.
func (d *Directory) standIn(name string, raw []byte) (*DirectoryEntry, error) {
	var values map[string]string
	switch d.Shows {
	case usersTable:
		var u User
		if err := json.Unmarshal(raw, &u); err != nil {
			return nil, fault.Internal.Errorf("user %s: %w", name, err)
		}
		values = map[string]string{"username": name, "firstName": u.FirstName, "lastName": u.LastName, "email": u.Email, "company": u.Company}
	default:
		var g Group
		if err := json.Unmarshal(raw, &g); err != nil {
			return nil, fault.Internal.Errorf("group %s: %w", name, err)
		}
		values = map[string]string{"groupname": name, "grouplabel": g.Label, "description": g.Description}
	}
	e := &DirectoryEntry{d.Directory, name, map[string]any{}}
	for field, text := range values {
		if text != "" && d.Schema.Field(field) != nil {
			e.Values[field] = text
		}
	}
	return d.shown(e), nil
}

// walkShown calls take with the entries that match, by name, until it returns false.
func (d *Directory) walkShown(q DirectoryQuery, match, take func(*DirectoryEntry) bool) error {
	visit := func(name string, raw []byte) (bool, error) {
		e, err := d.standIn(name, raw)
		return err == nil && (!match(e) || take(e)), err
	}
	if names, ok, err := d.shownBy(q); ok || err != nil {
		for _, name := range names {
			var raw json.RawMessage
			if there, err := d.t.Table(d.Shows).Get(name, &raw); err != nil {
				return err
			} else if !there {
				continue
			}
			if more, err := visit(name, raw); !more {
				return err
			}
		}
		return err
	}
	read := 0
	for row, err := range d.t.Table(d.Shows).rows("", "", false, 0) {
		if err != nil {
			return err
		}
		if read++; read > d.t.repo.limits.ScanRows {
			return d.tooMany()
		}
		if more, err := visit(string(row.Key[len(d.Shows)+2:]), row.Value); !more {
			return err
		}
	}
	return nil
}

// shownBy returns the names of those whom a field asked for finds, if one does.
func (d *Directory) shownBy(q DirectoryQuery) (names []string, ok bool, err error) {
	kind := byte(nameOfGroup)
	if d.Shows == usersTable {
		kind = nameOfUser
	}
	for _, field := range shownNames[d.Shows] {
		text := q.Starts[field]
		if s, given := q.Equal[field].(string); given && s != "" {
			text = s
		}
		if text = entryIndexText(text); text == "" {
			continue
		}
		found, err := d.t.allNamed(kind, text)
		return slices.Sorted(maps.Keys(found)), true, err
	}
	return nil, false, nil
}
