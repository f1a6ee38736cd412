package record

import (
	"cmp"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/query"
)

// Query selects entries. Empty parts select everything.
type Query struct {
	Equal    map[string]any    // values by field
	Starts   map[string]string // texts that values begin with
	Contains map[string]string // texts that values hold
	Exact    bool              // Starts and Contains mind the case
	Sort     []storage.SortKey // by field; none: as declared, then by id
	storage.PageOptions
}

// Page is a part of a directory.
type Page struct {
	Directory    *Directory
	Entries      []*Entry
	storage.Page // paging figures
}

// Find returns a page of the entries that match. Of a directory that may not be read it
// finds none.
func (d *Directory) Find(q Query) (*Page, error) {
	entries, page, err := storage.PageOf(d.tx, q.PageOptions, func(take func(*Entry) bool) error { return d.each(q, take) })
	return &Page{d, entries, page}, err
}

// All returns all entries that match, for callers that need them together: each page of Find sorts all of them again. More than most
// are refused.
func (d *Directory) All(q Query, most int) (all []*Entry, err error) {
	more := false
	err = d.each(q, func(e *Entry) bool {
		if more = len(all) == most; more {
			return false
		}
		all = append(all, e)
		return true
	})
	if more {
		return nil, fault.Limit.Errorf("directory %s: more than %d entries", d.Name, most).WithCode(fault.CodeQueryTooCostly)
	}
	return all, err
}

// each calls take with the entries that match, in order, until it returns false.
func (d *Directory) each(q Query, take func(*Entry) bool) error {
	if !d.Readable() {
		return nil
	}
	m, err := d.matcher(q)
	if err != nil {
		return err
	}
	if len(q.Sort) > 0 || len(d.Entries()) > 0 {
		return d.sorted(q, m, take)
	}
	return d.walk(q, m, take)
}

// sorted walks all matching entries in the order asked for, which by default is that of the field ordering and then of the
// declaration; what users added comes last, by id.
func (d *Directory) sorted(q Query, m func(*Entry) bool, take func(*Entry) bool) error {
	for _, k := range q.Sort {
		if d.Schema.Field(k.Field) == nil {
			return d.unknown(k.Field, "sortBy")
		}
	}
	var all []*Entry
	err := d.walk(q, m, func(e *Entry) bool {
		all = append(all, e)
		return true
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b *Entry) int {
		for _, k := range q.Sort {
			order, _ := query.Collate(a.Values[k.Field], b.Values[k.Field])
			if k.Desc {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		if len(q.Sort) == 0 {
			x, _ := a.Values["ordering"].(int64)
			y, _ := b.Values["ordering"].(int64)
			if order := cmp.Or(cmp.Compare(x, y), cmp.Compare(d.Index(a.ID), d.Index(b.ID))); order != 0 {
				return order
			}
		}
		return cmp.Compare(a.ID, b.ID)
	})
	for _, e := range all {
		if !take(e) {
			break
		}
	}
	return nil
}

// unknown is the error of a field that the directory does not have, with what was probably meant.
func (d *Directory) unknown(field, param string) error {
	return fault.Invalid.Errorf("directory %s: unknown field %q%s", d.Name, field, fault.Perhaps(field, d.Schema.Names())).In(param)
}

// matcher returns what decides whether an entry matches.
func (d *Directory) matcher(q Query) (func(*Entry) bool, error) {
	want := map[string]any{}
	for name, v := range q.Equal {
		f := d.Schema.Field(name)
		if f == nil {
			return nil, d.unknown(name, "filters")
		}
		var err error
		if want[name], err = f.Coerce(v); err != nil {
			return nil, err
		}
	}
	for _, texts := range []map[string]string{q.Starts, q.Contains} {
		for name := range texts {
			if d.Schema.Field(name) == nil {
				return nil, d.unknown(name, "filters")
			}
		}
	}
	fold := strings.ToLower
	if q.Exact {
		fold = func(s string) string { return s }
	}
	return func(e *Entry) bool {
		for name, v := range want {
			if idText(e.Values[name]) != idText(v) {
				return false
			}
		}
		for name, text := range q.Starts {
			if !strings.HasPrefix(fold(e.Text(name)), fold(text)) {
				return false
			}
		}
		for name, text := range q.Contains {
			if !strings.Contains(fold(e.Text(name)), fold(text)) {
				return false
			}
		}
		return true
	}, nil
}

// walk calls take with the entries that match, by id, until it returns false. An indexed
// field that is asked for spares reading all rows.
func (d *Directory) walk(q Query, match, take func(*Entry) bool) error {
	if d.Shows != "" {
		return d.walkShown(q, match, take)
	}
	rows, whole, err := d.stored(q)
	if err != nil {
		return err
	}
	declared := d.Entries()
	for len(rows) > 0 || len(declared) > 0 {
		var e *Entry
		if len(rows) == 0 || len(declared) > 0 && declared[0].ID < rows[0].id {
			e, err = d.unstored(declared[0].ID, declared[0].Values, whole, match)
			declared = declared[1:]
		} else {
			if len(declared) > 0 && declared[0].ID == rows[0].id {
				declared = declared[1:]
			}
			e, err = d.decoded(rows[0], match)
			rows = rows[1:]
		}
		if err != nil || e != nil && !take(e) {
			return err
		}
	}
	return nil
}

// unstored returns a declared entry, or nil if it does not match or is stored; whole says that it is known not to be.
func (d *Directory) unstored(id string, values map[string]any, whole bool, match func(*Entry) bool) (*Entry, error) {
	e := &Entry{d.Directory, id, values}
	if !match(e) {
		return nil, nil
	}
	if !whole {
		if raw, err := d.rows().Get(entryKey(d.Name, id)); raw != nil || err != nil {
			return nil, err
		}
	}
	return d.shown(e), nil
}

// decoded returns the entry of a row, or nil if it does not match or is deleted.
func (d *Directory) decoded(r stored, match func(*Entry) bool) (*Entry, error) {
	e, err := d.decode(r.id, r.raw)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil || !match(e) {
		return nil, err
	}
	return e, nil
}

type stored struct {
	id  string
	raw []byte
}

// stored returns the rows that may match, by id, and whether these are all rows.
func (d *Directory) stored(q Query) (rows []stored, whole bool, err error) {
	if r, ok := d.indexRange(q); ok {
		rows, err = d.rowsBy(r)
		return rows, false, err
	}
	at := entryPrefix(d.Name)
	for r, err := range d.rows().Scan(kv.Prefix(at)) {
		if err != nil {
			return nil, false, err
		}
		if len(rows) >= d.tx.Repo().Limits().ScanRows {
			return nil, false, d.tooMany()
		}
		rows = append(rows, stored{string(r.Key[len(at):]), r.Value})
	}
	return rows, true, nil
}

func (d *Directory) tooMany() error {
	return fault.Limit.Errorf("directory %s: more than %d entries to read, filter by an indexed field", d.Name, d.tx.Repo().Limits().ScanRows).
		WithCode(fault.CodeQueryTooCostly)
}

// indexRange returns the index rows of one of the fields asked for.
func (d *Directory) indexRange(q Query) (kv.Range, bool) {
	for _, name := range d.Indexes {
		if v, ok := q.Equal[name]; ok && v != nil && v != "" {
			f := d.Schema.Field(name)
			if c, err := f.Coerce(v); err == nil && c != nil {
				return indexRows(kv.AppendString(indexPrefix(d.Name, name), row.Text(idText(c)))), true
			}
		}
		if text := q.Starts[name]; text != "" {
			whole := kv.AppendString(indexPrefix(d.Name, name), row.Text(text))
			return indexRows(whole[:len(whole)-2]), true // without the end of the text
		}
	}
	return kv.Range{}, false
}

// indexRows are the rows of an index that begin with a prefix.
func indexRows(prefix []byte) kv.Range {
	r := kv.Prefix(prefix)
	r.KeysOnly = true
	return r
}

// Row is what Entry asks the store for.
func (d *Directory) Row(id string) kv.Asked { return storage.Rows(entryKey(d.Name, id)) }

// IndexRows are what Find asks the store for first, to find the entries that have a value in an indexed field; it goes on with their rows.
func (d *Directory) IndexRows(field, value string) kv.Asked {
	r, ok := d.indexRange(Query{Equal: map[string]any{field: value}})
	if !ok {
		return kv.Asked{}
	}
	return kv.Asked{Ranges: []kv.Range{r}}
}

// rowsBy loads the rows that index rows name.
func (d *Directory) rowsBy(index kv.Range) ([]stored, error) {
	var out []stored
	for r, err := range d.rows().Scan(index) {
		if err != nil {
			return nil, err
		}
		if len(out) >= d.tx.Repo().Limits().ScanRows {
			return nil, d.tooMany()
		}
		id, err := indexedEntry(r.Key)
		if err != nil {
			return nil, err
		}
		raw, err := d.rows().Get(entryKey(d.Name, id))
		if err != nil {
			return nil, err
		}
		if raw != nil {
			out = append(out, stored{id, raw})
		}
	}
	slices.SortFunc(out, func(a, b stored) int { return strings.Compare(a.id, b.id) })
	return out, nil
}

// indexedEntry returns the id at the end of an index row's key.
func indexedEntry(key []byte) (string, error) {
	rest := key[2:]
	for range 3 { // directory, field, value
		var err error
		if _, rest, err = kv.DecodeString(rest); err != nil {
			return "", err
		}
	}
	return string(rest), nil
}
