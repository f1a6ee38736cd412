// Package directory holds operations on directories: vocabularies and other tables of small entries. What a directory
// holds, who may read and change it, and how entries are found is decided by storage; here entries become the JSON
// that clients of the operations expect.
//
// Two groups of operations are in this package. Those of the platform's catalogue take and return JSON as
// files, as its clients exchange it; those named after single entries serve the REST addresses, with entities
// and pages.
package directory

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	directories "catena/storage/directory"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Ops are the operations on directories.
var Ops = []engine.Op{
	create,
	createEntries,
	createVocabularyEntry,
	deleteEntries,
	entries,
	list,
	page,
	projection,
	read,
	readEntries,
	remove,
	suggestEntries,
	update,
	updateEntries,
}

// Known are the operations, with the names of directories in the texts that call them checked.
func Known(all func() *directories.Registry) []engine.Op {
	if all == nil {
		return Ops
	}
	known := func(name string) error {
		if _, ok := all().Directory(name); ok {
			return nil
		}
		return fault.Missing("directory", name, all().Names())
	}
	ops := slices.Clone(Ops)
	for i := range ops {
		ops[i].Constants = map[string]func(string) error{"directory": known, "directoryName": known, "vocabularyName": known}
	}
	return ops
}

// category is where lists of operations show those of the catalogue.
const category = "Services"

// maxEntries bounds how many entries one call reads or writes.
// Every entry is in memory while an answer is written, and a tree of suggestions is sorted as a
// whole.
const maxEntries = 10_000

// jsonBlob makes a file of JSON.
func jsonBlob(v any) (*storage.Blob, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("entries.json", "application/json", body), nil
}

// manager returns a directory to somebody who may look after it.
// Managers are administrators and power users, unless the declaration of the directory names its
// writers. The platform answers others with 500; here it is 403.
func manager(c *engine.Ctx, name string) (*record.Directory, error) {
	d, err := record.In(c.Tx, name)
	if err != nil {
		return nil, err
	}
	if !d.Writable() {
		return nil, fault.Denied.Errorf("directory %s: '%s' may not change it", name, c.As.Name)
	}
	return d, nil
}

// objects reads a text that holds a JSON array.
func objects[T any](text string) ([]T, error) {
	var list []T
	d := json.NewDecoder(strings.NewReader(text))
	// Numbers keep their digits: a large one must not become a float on its way into a field.
	d.UseNumber()
	// Text behind the array is an error, as it hints at a mistake of the sender's; null is not an array.
	if err := d.Decode(&list); err != nil || list == nil || d.More() {
		return nil, fault.Invalid.Errorf("entries: must be a JSON array").In("entries")
	}
	if len(list) > maxEntries {
		return nil, fault.Limit.Errorf("entries: %d, limit %d", len(list), maxEntries).In("entries")
	}
	return list, nil
}

// find returns an entry. An address may have a slash behind the id that is not part of it.
func find(d *record.Directory, id string) (*record.Entry, error) {
	e, err := d.Entry(id)
	// The id with the slash is tried first, because ids may end in one.
	if short, cut := strings.CutSuffix(id, "/"); cut && fault.Is(err, fault.NotFound) {
		if e, err2 := d.Entry(short); err2 == nil {
			return e, nil
		}
	}
	return e, err
}

// all returns every entry that a query selects.
func all(d *record.Directory, q record.Query) ([]*record.Entry, error) { return d.All(q, maxEntries) }

// object is an entry as the operations show it: its fields, unset ones null.
func object(e *record.Entry) map[string]any {
	m := make(map[string]any, len(e.Directory.Schema.Fields))
	for _, f := range e.Directory.Schema.Fields {
		v := e.Values[f.Name]
		// Dates have the form that document properties have in JSON, not Go's.
		if f.Kind == schema.Date && v != nil {
			v = json.RawMessage(f.AppendJSON(nil, v, nil))
		}
		m[f.Name] = v
	}
	return m
}

// translated is object with the label in a language.
// A label without a translation stays as it is stored.
func translated(c *engine.Ctx, e *record.Entry, lang string) map[string]any {
	m := object(e)
	if label, ok := m["label"].(string); ok {
		m["label"] = record.Registry(c.Tx).Text(language(c, lang), label)
	}
	return m
}

// language is the one asked for, or that of the chain around, or English.
func language(c *engine.Ctx, lang string) string {
	if lang == "" {
		lang, _ = c.Vars["lang"].(string)
	}
	return lang
}

// given returns the values of an entity: its properties, with the id that stands beside them.
func given(d *record.Directory, entity map[string]any) (map[string]any, error) {
	if kind, ok := entity["entity-type"].(string); ok && kind != "directoryEntry" {
		return nil, fault.Invalid.Errorf("entity-type: must be directoryEntry, not %q", kind).In("entity-type")
	}
	values, ok := entity["properties"].(map[string]any)
	if !ok && entity["properties"] != nil {
		return nil, fault.Invalid.Errorf("properties: must be an object").In("properties")
	}
	out := make(map[string]any, len(values)+1)
	// Clients may write a field with the prefix of its schema, as among the properties of
	// documents.
	for name, v := range values {
		out[strings.TrimPrefix(name, d.Schema.Space()+":")] = v
	}
	if out[d.ID.Name] == nil && entity["id"] != nil {
		out[d.ID.Name] = entity["id"]
	}
	return out, nil
}

// ignored tells the caller which fields of an entry the directory does not have. They are left out rather than refused,
// because clients send back whole entries of other directories.
func ignored(c *engine.Ctx, d *record.Directory, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if d.Schema.Field(name) == nil {
			c.Ignore(name)
		}
	}
}

// hasField refuses the name of a field that the directory does not have.
func hasField(d *record.Directory, param, name string) error {
	if d.Schema.Field(name) != nil {
		return nil
	}
	known := func(yield func(string) bool) {
		for _, f := range d.Schema.Fields {
			if !yield(f.Name) {
				return
			}
		}
	}
	return fault.Invalid.Errorf("%s: directory %s has no field %q%s", param, d.Name, name, fault.Perhaps(name, known)).In(param)
}
