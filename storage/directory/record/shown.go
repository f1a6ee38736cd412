package record

import (
	"cmp"
	"encoding/json"

	"catena/storage/fault"
	"catena/storage/internal/row"
)

// shows returns how the directory shows what is kept elsewhere.
func (d *Directory) shows() (Shown, error) {
	all := row.Of[known](d.tx.Repo().Memory()).shown.Load()
	if all == nil || (*all)[d.Shows].Fields == nil {
		return Shown{}, fault.Internal.Errorf("directory %s: %s cannot be shown", d.Name, d.Shows)
	}
	return (*all)[d.Shows], nil
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
	shows, err := d.shows()
	if err != nil {
		return nil, err
	}
	values, err := shows.Fields(name, raw)
	if err != nil {
		return nil, err
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
	shows, err := d.shows()
	if err != nil {
		return nil, false, err
	}
	for _, field := range shows.Named {
		text := q.Starts[field]
		if s, given := q.Equal[field].(string); given && s != "" {
			text = s
		}
		if text != "" {
			names, err = shows.Find(d.tx, text)
			return names, true, err
		}
	}
	return nil, false, nil
}
