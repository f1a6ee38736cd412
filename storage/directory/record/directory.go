// Package record keeps the entries of directories: declared ones, unless a row overrides them, and those that users
// have added. It decides who sees and changes them; which directories there are is package directory's.
//
// A row of this package overrides the entry of a declaration with the same id, and a marker hides one that
// was deleted. So a new version of the program can bring new entries without undoing what administrators have
// changed.
package record

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"

	"catena/storage"
	"catena/storage/directory"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/password"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/schema"
)

// Directory is a directory as one principal sees it.
type Directory struct {
	*directory.Directory
	tx  *storage.Tx
	raw bool // fields kept as a hash are shown
}

// Entry is one entry of a directory.
type Entry struct {
	Directory *directory.Directory
	ID        string
	Values    map[string]any // by field, in the form Coerce returns; what is not set is missing
}

// maxID bounds the identifier of an entry, in bytes.
const maxID = 512

// In returns the directory of a name.
func In(tx *storage.Tx, name string) (*Directory, error) {
	all := Registry(tx)
	d, ok := all.Directory(name)
	if !ok {
		return nil, fault.NotFound.Errorf("directory %s: does not exist%s", name, fault.Perhaps(name, all.Names()))
	}
	if tx.Principal().Name == "" {
		return nil, storage.ErrNobody
	}
	return &Directory{Directory: d, tx: tx}, nil
}

// Inside returns the directory of a name with all that is kept of its entries, for packages below storage.
func Inside(tx *storage.Tx, name string, _ row.Ordered) (*Directory, error) {
	d, err := In(tx.As(tx.Repo().System()), name)
	if err == nil {
		d.raw = true
	}
	return d, err
}

// inside is the same directory as the server itself sees it, with all that is kept.
func (d *Directory) inside(of *directory.Directory) *Directory {
	return &Directory{Directory: of, tx: d.tx.As(d.tx.Repo().System()), raw: true}
}

// rows are the rows of all directories.
func (d *Directory) rows() *kv.Tx { return d.tx.Internal(row.Ordered{}).KV() }

// Readable reports whether the principal sees the entries.
func (d *Directory) Readable() bool { return len(d.Readers) == 0 || d.tx.Principal().Is(d.Readers...) }

// Writable reports whether the principal may change entries.
func (d *Directory) Writable() bool {
	if len(d.Writers) == 0 {
		return d.tx.Principal().Is(storage.PowerUsers)
	}
	return d.tx.Principal().Is(d.Writers...)
}

func (d *Directory) mayWrite() error {
	switch {
	case d.ReadOnly:
		return fault.Invalid.Errorf("directory %s: is read-only", d.Name)
	case !d.Writable():
		return fault.Denied.Errorf("directory %s: '%s' may not change it", d.Name, d.tx.Principal().Name)
	}
	return d.tx.MayWrite()
}

func (d *Directory) missing(id string) error {
	return fault.NotFound.Errorf("directory %s: entry %s does not exist", d.Name, id)
}

// Entry returns the entry with an id. Of a directory that may not be read it finds none.
func (d *Directory) Entry(id string) (*Entry, error) {
	if id == "" || len(id) > maxID || !d.Readable() {
		return nil, d.missing(id)
	}
	if d.Shows != "" {
		return d.shownEntry(id)
	}
	raw, err := d.rows().Get(entryKey(d.Name, id))
	if err != nil {
		return nil, err
	}
	if raw != nil {
		return d.decode(id, raw)
	}
	if e, ok := d.Directory.Entry(id); ok {
		return &Entry{d.Directory, id, maps.Clone(e.Values)}, nil
	}
	return nil, d.missing(id)
}

// gone is the row of a declared entry that was removed.
const gone = "null"

// decode reads the row of an entry; that of a removed one is NotFound.
func (d *Directory) decode(id string, raw []byte) (*Entry, error) {
	if string(raw) == gone {
		return nil, d.missing(id)
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(raw, &members)
	e := &Entry{d.Directory, id, make(map[string]any, len(members))}
	for name, value := range members {
		if f := d.Schema.Field(name); f != nil && err == nil {
			e.Values[name], err = f.ParseJSON(value)
		}
	}
	if err != nil {
		return nil, fault.Internal.Errorf("directory %s: entry %q: %w", d.Name, id, err)
	}
	if d.Password != "" && !d.raw {
		e.Values[d.Password] = ""
	}
	return e, nil
}

// Create adds an entry. Values are by field; those of fields the directory does not have are
// left out.
func (d *Directory) Create(values map[string]any) (*Entry, error) {
	if err := d.mayWrite(); err != nil {
		return nil, err
	}
	e := &Entry{Directory: d.Directory, Values: map[string]any{}}
	for _, f := range d.Schema.Fields {
		if f.Default != nil {
			e.Values[f.Name] = f.Default
		}
	}
	if d.Numbered {
		n, err := d.tx.Next("directory:" + d.Name)
		if err != nil {
			return nil, err
		}
		values = maps.Clone(values)
		if values == nil {
			values = map[string]any{}
		}
		values[d.ID.Name] = n
	}
	if err := d.set(e, values); err != nil {
		return nil, err
	}
	e.ID = idText(e.Values[d.ID.Name])
	switch {
	case e.ID == "":
		return nil, fault.Invalid.Errorf("directory %s: an entry must have a value for %s", d.Name, d.ID.Name).In(d.ID.Name)
	case len(e.ID) > maxID:
		return nil, fault.Limit.Errorf("directory %s: id of %d bytes, limit %d", d.Name, len(e.ID), maxID)
	}
	if _, err := d.inside(d.Directory).Entry(e.ID); !fault.Is(err, fault.NotFound) {
		return nil, cmp.Or[error](err, fault.Exists.Errorf("directory %s: entry %s already exists", d.Name, e.ID))
	}
	return d.shown(e), d.put(nil, e)
}

// Update changes the values given of an entry; its id stays.
func (d *Directory) Update(id string, values map[string]any) (*Entry, error) {
	if err := d.mayWrite(); err != nil {
		return nil, err
	}
	old, err := d.inside(d.Directory).Entry(id)
	if err != nil {
		return nil, err
	}
	e := &Entry{d.Directory, id, maps.Clone(old.Values)}
	given := maps.Clone(values)
	delete(given, d.ID.Name)
	if err := d.set(e, given); err != nil {
		return nil, err
	}
	return d.shown(e), d.put(old, e)
}

// Delete removes an entry. One that entries below it name as their parent stays.
func (d *Directory) Delete(id string) error {
	if err := d.mayWrite(); err != nil {
		return err
	}
	old, err := d.inside(d.Directory).Entry(id)
	if err != nil {
		return err
	}
	for _, below := range Registry(d.tx).Below(d.Name) {
		found, err := d.inside(below).Find(Query{Equal: map[string]any{"parent": id}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1}})
		if err != nil {
			return err
		}
		if len(found.Entries) > 0 {
			return fault.Conflict.Errorf("directory %s: entry %s is the parent of %s in %s", d.Name, id, found.Entries[0].ID, below.Name)
		}
	}
	return d.put(old, nil)
}

// set coerces values into an entry. A secret is kept as a hash; an empty one changes nothing.
func (d *Directory) set(e *Entry, values map[string]any) error {
	for _, f := range d.Schema.Fields {
		given, ok := values[f.Name]
		if !ok {
			continue
		}
		v, err := f.Coerce(given)
		if err != nil {
			return err
		}
		for _, broken := range f.Validate(v) {
			return fault.Invalid.Errorf("directory %s: %s", d.Name, broken.Message).In(f.Name)
		}
		if f.Name == d.Password {
			text, _ := v.(string)
			if text == "" {
				continue
			}
			if v, err = password.Of(d.tx.Repo().Memory()).Hash(d.tx.Context(), text); err != nil {
				return err
			}
		}
		if v == nil {
			delete(e.Values, f.Name)
			continue
		}
		e.Values[f.Name] = v
	}
	return nil
}

// shown is an entry as it may be seen.
func (d *Directory) shown(e *Entry) *Entry {
	if d.Password == "" || d.raw {
		return e
	}
	out := &Entry{e.Directory, e.ID, maps.Clone(e.Values)}
	out.Values[d.Password] = ""
	return out
}

// put writes an entry, or that it is gone, with its index rows.
func (d *Directory) put(old, e *Entry) error {
	rows := d.rows()
	if err := d.index(old, rows.Delete); err != nil {
		return err
	}
	if err := d.index(e, func(key []byte) error { return rows.Set(key, nil) }); err != nil {
		return err
	}
	id := cmp.Or(e, old).ID
	storage.NoteChange(d.tx, "record", "directory "+d.Name+"/"+id)
	key := entryKey(d.Name, id)
	if e != nil {
		return rows.Set(key, e.encode())
	}
	if _, declared := d.Directory.Entry(id); declared {
		return rows.Set(key, []byte(gone))
	}
	return rows.Delete(key)
}

// index calls write with the keys of the index rows of an entry, nil for none.
func (d *Directory) index(e *Entry, write func(key []byte) error) error {
	if e == nil {
		return nil
	}
	for _, name := range d.Indexes {
		if v, ok := e.Values[name]; ok {
			if err := write(indexKey(d.Name, name, idText(v), e.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Entry) encode() []byte {
	dst := []byte{'{'}
	for _, f := range e.Directory.Schema.Fields {
		v, ok := e.Values[f.Name]
		if !ok {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = f.AppendJSON(append(schema.AppendString(dst, f.Name), ':'), v, nil)
	}
	return append(dst, '}')
}

// Text returns the text of a value, "" if it is not set.
func (e *Entry) Text(field string) string { return idText(e.Values[field]) }

// idText is a value as ids and index rows spell it.
func idText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return ""
	}
	return string((&schema.Field{Kind: schema.Date}).AppendJSON(nil, v, nil))
}

// Kinds of rows: an entry by directory and id, and the ids of entries by directory, field and value.
const (
	rowKind   = 1
	indexKind = 2
)

func entryKey(dir, id string) []byte { return append(entryPrefix(dir), id...) }

func entryPrefix(dir string) []byte { return kv.AppendString([]byte{layout.EntrySpace, rowKind}, dir) }

func indexPrefix(dir, field string) []byte {
	return kv.AppendString(kv.AppendString([]byte{layout.EntrySpace, indexKind}, dir), field)
}

func indexKey(dir, field, text, id string) []byte {
	return append(kv.AppendString(indexPrefix(dir, field), row.Text(text)), id...)
}
