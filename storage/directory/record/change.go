package record

import (
	"encoding/json"
	"errors"
	"slices"

	"catena/storage"
	"catena/storage/directory"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/schema"
)

// Loss is what an entry would lose by another declaration of its directory.
type Loss struct {
	What  string // "directory colors is removed", "directory colors: field hue is removed"
	Place string // where it would be declared: "directories/colors"
	Entry string // the id of one that has it
}

// Losses returns what other declarations would take from entries that are kept. It reads the rows of the directories of which something
// would be gone, and is refused if those are more than the limit of rows.
func Losses(t *storage.Tx, next *directory.Registry) (all []Loss, err error) {
	left := t.Repo().Limits().ScanRows
	for _, old := range Registry(t).Directories() {
		if old.Shows != "" {
			continue
		}
		to, _ := next.Directory(old.Name)
		found, err := losses(t, old, to, &left)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// losses are those of one directory, which is removed if to is nil.
func losses(t *storage.Tx, old, to *directory.Directory, left *int) ([]Loss, error) {
	what, fields := lost(old, to)
	if what == "" && len(fields) == 0 {
		return nil, nil
	}
	var all []Loss
	for e, err := range kept(t, old) {
		if *left--; *left < 0 {
			return nil, fault.Limit.Errorf("directory %s: more entries may be concerned than limit-rows allows to read", old.Name)
		}
		if err != nil {
			return nil, err
		}
		if what != "" {
			return []Loss{{"directory " + old.Name + what, "directories/" + old.Name, e.id}}, nil
		}
		for name, raw := range e.members {
			if now, ok := fields[name]; ok && unread(to.Schema.Field(name), raw) {
				all = append(all, Loss{"directory " + old.Name + ": field " + name + now, "directories/" + old.Name + "/schema", e.id})
				delete(fields, name)
			}
		}
	}
	return all, nil
}

// lost says what all entries would lose, "" if they lose nothing together, and which fields would be gone or of another kind.
func lost(old, to *directory.Directory) (what string, fields map[string]string) {
	switch {
	case to == nil:
		return " is removed", nil
	case to.Shows != "":
		return " would show " + to.Shows, nil
	case to.ID.Name != old.ID.Name || to.ID.Kind != old.ID.Kind:
		return ": its ids would be those of field " + to.ID.Name, nil
	case to.Password != old.Password:
		return ": another field would be the password", nil
	}
	fields = map[string]string{}
	for _, f := range old.Schema.Fields {
		switch is := to.Schema.Field(f.Name); {
		case is == nil:
			fields[f.Name] = " is removed"
		case is.Kind != f.Kind:
			fields[f.Name] = " would be " + is.TypeName() + " instead of " + f.TypeName()
		}
	}
	return "", fields
}

// unread reports whether a field could not have a value that is kept; nil: there is no field.
func unread(f *schema.Field, raw json.RawMessage) bool {
	if f == nil {
		return true
	}
	_, err := f.ParseJSON(raw)
	return err != nil
}

// keptEntry is a row of a directory.
type keptEntry struct {
	id      string
	members map[string]json.RawMessage
}

// kept walks the entries of which there are rows, by id.
func kept(t *storage.Tx, of *directory.Directory) func(yield func(keptEntry, error) bool) {
	return func(yield func(keptEntry, error) bool) {
		at := entryPrefix(of.Name)
		for r, err := range t.Internal(row.Ordered{}).KV().Scan(kv.Prefix(at)) {
			e := keptEntry{}
			if err == nil {
				if e.id = string(r.Key[len(at):]); string(r.Value) == gone {
					continue
				}
				err = json.Unmarshal(r.Value, &e.members)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Rebuild writes the index rows that other declarations would make others of, in the transaction that deploys these.
func Rebuild(t *storage.Tx, next *directory.Registry) error {
	for _, old := range Registry(t).Directories() {
		to, ok := next.Directory(old.Name)
		if !ok || old.Shows != "" || to.Shows != "" {
			continue
		}
		stays := func(name string) bool {
			return slices.Contains(old.Indexes, name) && slices.Contains(to.Indexes, name) && old.Schema.Field(name).Kind == to.Schema.Field(name).Kind
		}
		for _, name := range old.Indexes {
			if stays(name) {
				continue
			}
			if err := dropIndex(t, old.Name, name); err != nil {
				return err
			}
		}
		if err := addIndexes(t, to, slices.DeleteFunc(slices.Clone(to.Indexes), stays)); err != nil {
			return err
		}
	}
	return nil
}

func dropIndex(t *storage.Tx, dir, field string) error {
	rows := t.Internal(row.Ordered{}).KV()
	all := kv.Prefix(indexPrefix(dir, field))
	all.KeysOnly = true
	var keys [][]byte
	for r, err := range rows.Scan(all) {
		if err != nil {
			return err
		}
		keys = append(keys, slices.Clone(r.Key))
	}
	var errs []error
	for _, key := range keys {
		errs = append(errs, rows.Delete(key))
	}
	return errors.Join(errs...)
}

// addIndexes writes the rows of indexes that entries have none of yet.
func addIndexes(t *storage.Tx, of *directory.Directory, names []string) error {
	if len(names) == 0 {
		return nil
	}
	d := &Directory{Directory: of, tx: t, raw: true}
	added := *of
	added.Indexes = names
	var entries []*Entry
	for e, err := range kept(t, of) {
		if err != nil {
			return err
		}
		values := map[string]any{}
		for _, name := range names {
			f := of.Schema.Field(name)
			if raw, ok := e.members[name]; ok && f != nil {
				if values[name], err = f.ParseJSON(raw); err != nil {
					return fault.Internal.Errorf("directory %s: entry %q: %w", of.Name, e.id, err)
				}
			}
		}
		entries = append(entries, &Entry{&added, e.id, values})
	}
	rows := d.rows()
	d.Directory = &added
	for _, e := range entries {
		if err := d.index(e, func(key []byte) error { return rows.Set(key, nil) }); err != nil {
			return err
		}
	}
	return nil
}
