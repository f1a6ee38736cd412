package record

import (
	"cmp"
	"encoding/json"

	"catena/storage/fault"
	"catena/storage/people"
)

// shownNames are the fields of entries that stand for users and groups by which these are
// found without reading all.
var shownNames = map[string][]string{
	"groups": {"groupname", "grouplabel"},
	"users":  {"username", "firstName", "lastName", "email"},
}

// shownEntry is the entry that stands for a user or group.
func (d *Directory) shownEntry(name string) (*Entry, error) {
	var raw json.RawMessage
	ok, err := d.tx.Table(d.Shows).Get(name, &raw)
	if err != nil || !ok {
		return nil, cmp.Or(err, d.missing(name))
	}
	return d.standIn(name, raw)
}

// standIn makes an entry of the row of a user or group. Passwords are not in these rows, and
// their field reads as of every directory.
func (d *Directory) standIn(name string, raw []byte) (*Entry, error) {
	var values map[string]string
	switch d.Shows {
	case "users":
		var u people.User
		if err := json.Unmarshal(raw, &u); err != nil {
			return nil, fault.Internal.Errorf("user %s: %w", name, err)
		}
		values = map[string]string{"username": name, "firstName": u.FirstName, "lastName": u.LastName, "email": u.Email, "company": u.Company}
	default:
		var g people.Group
		if err := json.Unmarshal(raw, &g); err != nil {
			return nil, fault.Internal.Errorf("group %s: %w", name, err)
		}
		values = map[string]string{"groupname": name, "grouplabel": g.Label, "description": g.Description}
	}
	e := &Entry{d.Directory, name, map[string]any{}}
	for field, text := range values {
		if text != "" && d.Schema.Field(field) != nil {
			e.Values[field] = text
		}
	}
	return d.shown(e), nil
}

// walkShown calls take with the entries that match, by name, until it returns false.
func (d *Directory) walkShown(q Query, match, take func(*Entry) bool) error {
	visit := func(name string, raw []byte) (bool, error) {
		e, err := d.standIn(name, raw)
		return err == nil && (!match(e) || take(e)), err
	}
	if names, ok, err := d.shownBy(q); ok || err != nil {
		for _, name := range names {
			var raw json.RawMessage
			if there, err := d.tx.Table(d.Shows).Get(name, &raw); err != nil {
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
	for name, raw := range d.tx.Table(d.Shows).Scan("", "", false, 0) {
		if read++; read > d.tx.Repo().Limits().ScanRows {
			return d.tooMany()
		}
		if more, err := visit(name, raw); !more {
			return err
		}
	}
	return d.tx.Err()
}

// shownBy returns the names of those whom a field asked for finds, if one does.
func (d *Directory) shownBy(q Query) (names []string, ok bool, err error) {
	for _, field := range shownNames[d.Shows] {
		text := q.Starts[field]
		if s, given := q.Equal[field].(string); given && s != "" {
			text = s
		}
		if text != "" {
			if d.Shows == "users" {
				names, err = people.UsersNamed(d.tx, text)
			} else {
				names, err = people.GroupsNamed(d.tx, text)
			}
			return names, true, err
		}
	}
	return nil, false, nil
}
