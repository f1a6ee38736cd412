package bulk

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"catena/engine"
	"catena/engine/lines"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/search"
)

var load = engine.Op{
	Name:     "Bulk.Load",
	Label:    "Load Documents",
	Category: "Services",
	Doc: "Creates documents from records: objects with type, parent, name and properties. Members and columns whose names have a colon are properties. " +
		"Records are the parameter, or the lines of a file of JSON Lines or CSV as the input. Everything happens in the transaction of the call; a record that is rejected changes nothing and does not stop the others. " +
		"The result says for each record what became of it. POST /api/v1/bulk loads any number of records, in transactions of bounded size.",
	Callers: engine.Anyone,
	Result:  openapi.List(openapi.Fixed("line:integer status", "uid path code error")),
	Run:     engine.Overload(engine.On(loadParams.records).As("void", "list"), engine.On(loadParams.file).As("blob", "list")),
}

type loadParams struct {
	Records  []any  `json:"records,omitzero" doc:"The records, unless a file is the input."`
	Into     string `json:"into,omitzero" doc:"Path or id of the folder for records that have no parent; parents are relative to it unless they begin with / or are ids."`
	Type     string `json:"type" default:"File" doc:"Type of documents whose records have none."`
	Key      string `json:"key,omitzero" doc:"What identifies a document, so that records can be loaded again: name, within its parent, or an indexed text property by xpath."`
	Existing string `json:"existing" default:"skip" enum:"reject,skip,update" doc:"What becomes of a record whose document exists already."`
}

// The most records of one call, and the most bytes of one of them. A call is one transaction, which has
// to fit into memory and must end within the time of a call. Files of any length are for the address of
// the loader, which makes a transaction of each part.
const (
	maxLoad   = 1000
	maxRecord = 1 << 20
)

func (p loadParams) records(c *engine.Ctx, _ engine.Void) ([]any, error) {
	if len(p.Records) > maxLoad {
		return nil, fault.Limit.Errorf("records: %d, at most %d are allowed", len(p.Records), maxLoad).In("records")
	}
	l, err := p.loader(c)
	if err != nil {
		return nil, err
	}
	records, bad := make([]loaded, len(p.Records)), make([]error, len(p.Records))
	for i, raw := range p.Records {
		records[i], bad[i] = readLoaded(raw)
	}
	if err := l.ahead(records); err != nil {
		return nil, err
	}
	out := make([]any, len(p.Records))
	for i, rec := range records {
		if out[i], err = l.load(i+1, rec, bad[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// file loads the records of a file one by one. A record that is invalid is reported with its line and does not stop the others.
func (p loadParams) file(c *engine.Ctx, b *storage.Blob) ([]any, error) {
	typ, _, _ := strings.Cut(b.Type, ";")
	in, err := b.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := lines.NewReader(in, cmp.Or(lines.Types[typ], lines.Named(b.Name), lines.JSON), maxRecord)
	if err != nil {
		return nil, err
	}
	l, err := p.loader(c)
	if err != nil {
		return nil, err
	}
	var out []any
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fault.Wrap(err, "file %s", b.Name)
		case len(out) == maxLoad:
			return nil, fault.Limit.Errorf("file %s: more than %d records", b.Name, maxLoad).WithCode(fault.CodeDocuments)
		}
		record, bad := loaded{}, rec.Err
		if bad == nil {
			record, bad = readLoaded(rec.JSON)
		}
		one, err := l.load(rec.Line, record, bad)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
}

// loader loads records. Its folders are documents of this transaction and must not outlive it.
type loader struct {
	loadParams
	c       *engine.Ctx
	folders map[string]*storage.Doc // parents by what records call them
}

// The key must have an index: without one, each record would read all documents to find its own,
// and a thousand records would read them a thousand times.
func (p loadParams) loader(c *engine.Ctx) (*loader, error) {
	if p.Key != "" && p.Key != "name" {
		if f, ok := storage.TypesOf(c.Tx).FieldByKey(p.Key); !ok || f.Kind != schema.String || f.List || !f.Index {
			return nil, fault.Invalid.Errorf("key %q: must be name, or a text property that is declared with index: true", p.Key).In("key")
		}
	}
	return &loader{loadParams: p, c: c, folders: map[string]*storage.Doc{}}, nil
}

// load makes a document of a record, and says what it did. An error ends the call.
func (l *loader) load(line int, rec loaded, bad error) (map[string]any, error) {
	out := map[string]any{"line": int64(line)}
	err := bad
	if err == nil {
		err = l.c.Nest(func() error { return l.one(rec, out) })
		if err != nil {
			clear(l.folders) // some may have been made by what was undone
		}
	}
	switch {
	case err == nil:
		return out, nil
	// These are not the record's fault, and the next record would meet them, too. Reporting the
	// record as rejected would have the client correct what is right.
	case engine.Ends(err) || fault.Is(err, fault.Internal) || fault.Is(err, fault.Unavailable):
		return nil, fault.Wrap(err, "record %d", line)
	}
	out = map[string]any{"line": int64(line), "status": "rejected", "code": fault.Word(err), "error": err.Error()}
	return out, nil
}

// loaded is what a record says.
type loaded struct {
	Type, Parent, Name string
	Properties         map[string]any
}

func readLoaded(raw any) (loaded, error) {
	var rec loaded
	m, ok := raw.(map[string]any)
	if text, isText := raw.(json.RawMessage); isText {
		ok = json.Unmarshal(text, &m) == nil && m != nil
	}
	if !ok {
		return rec, fault.Invalid.Errorf("record: must be an object")
	}
	rec.Properties = map[string]any{}
	if given := m["properties"]; given != nil {
		props, ok := given.(map[string]any)
		if !ok {
			return rec, fault.Invalid.Errorf("properties: must be an object").In("properties")
		}
		maps.Copy(rec.Properties, props)
	}
	// Unknown members are refused: a misspelt column would otherwise be dropped in silence from
	// every record of a file.
	texts := map[string]*string{"name": &rec.Name, "parent": &rec.Parent, "type": &rec.Type}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		into := texts[name]
		text, isText := m[name].(string)
		switch {
		case name == "properties" || into != nil && m[name] == nil:
		case into != nil && !isText:
			return rec, fault.Invalid.Errorf("%s: must be a text", name).In(name)
		case into != nil:
			*into = strings.TrimSpace(text)
		case strings.Contains(name, ":"):
			rec.Properties[name] = m[name]
		default:
			return rec, fault.Invalid.Errorf("member %q: is unknown; records have name, parent, type, and properties such as dc:title", name).In(name)
		}
	}
	return rec, nil
}

// one carries out a record. Create and Save check the permissions, as for any caller; the loader itself
// grants nothing.
func (l *loader) one(rec loaded, out map[string]any) error {
	converted, err := l.c.Convert(rec.Properties, "properties")
	if err != nil {
		return err
	}
	props, _ := converted.(storage.Props)
	folder, err := l.folder(rec.Parent)
	if err != nil {
		return err
	}
	old, err := l.find(folder, rec, props)
	if err != nil {
		return err
	}
	d, status := old, "skipped"
	switch {
	case old == nil:
		status = "created"
		title, _ := props["dc:title"].(string)
		d, err = l.c.Tx.Create(folder, cmp.Or(rec.Type, l.Type), cmp.Or(rec.Name, l.c.Tx.Repo().NameOf(title)), props)
	case l.Existing == "reject":
		return fault.Exists.Errorf("document %s: exists already", old.Path())
	case l.Existing == "update":
		status = "updated"
		// A document keeps its type for life. Only a type that the record names itself is compared,
		// not the default.
		if rec.Type != "" && rec.Type != old.Type().Name {
			return fault.Conflict.Errorf("document %s: is of type %s, not %s", old.Path(), old.Type().Name, rec.Type).In("type")
		}
		err = setProperties(l.c, old, props)
	}
	if err != nil {
		return err
	}
	out["status"], out["uid"], out["path"] = status, d.ID(), d.Path()
	return nil
}

// folder finds the parent of a record.
func (l *loader) folder(name string) (*storage.Doc, error) {
	if f := l.folders[name]; f != nil {
		return f, nil
	}
	ref := storage.Ref(cmp.Or(name, l.Into))
	if ref == "" {
		return nil, fault.Invalid.Errorf("parent: is missing, and there is no folder to load into").In("parent")
	}
	// A parent is an id, an absolute path, or else relative to the folder to load into. Join cleans
	// the path, so ".." can lead out of that folder, but not to anything that the caller could not
	// name with an absolute path.
	if name != "" && l.Into != "" && name[0] != '/' && uuid.Validate(name) != nil {
		top, err := l.folder("")
		if err != nil {
			return nil, err
		}
		ref = storage.Ref(path.Join(top.Path(), name))
	}
	f, err := l.c.Tx.Doc(ref)
	if err != nil {
		return nil, fault.Wrap(err, "parent").In("parent")
	}
	// Most records of a file share a few parents. The bound keeps a file with a parent for each
	// record from holding all.
	if len(l.folders) < maxLoad {
		l.folders[name] = f
	}
	return f, nil
}

// ahead has a store across a network fetch at once what identifies the records. What is wrong with a record is said when it is loaded.
func (l *loader) ahead(records []loaded) error {
	if l.Key == "" {
		return nil
	}
	if l.Key != "name" {
		var texts []string
		for _, rec := range records {
			if text, _ := rec.Properties[l.Key].(string); text != "" {
				texts = append(texts, text)
			}
		}
		return search.LookupAhead(l.c.Tx, l.Key, texts)
	}
	names := map[string][]string{}
	for _, rec := range records {
		if rec.Name != "" {
			if name, err := l.c.Tx.Repo().CleanName(rec.Name); err == nil {
				names[rec.Parent] = append(names[rec.Parent], name)
			}
		}
	}
	for _, parent := range slices.Sorted(maps.Keys(names)) {
		folder, err := l.folder(parent)
		if engine.Ends(err) {
			return err
		}
		if err != nil {
			continue
		}
		if err := storage.ChildrenAhead(l.c.Tx, folder, names[parent]); err != nil {
			return err
		}
	}
	return nil
}

// find returns the document that a record is of, nil if it is new or nothing identifies it.
func (l *loader) find(folder *storage.Doc, rec loaded, props storage.Props) (*storage.Doc, error) {
	switch l.Key {
	case "":
		return nil, nil
	case "name":
		if rec.Name == "" {
			return nil, fault.Invalid.Errorf("name: is missing, but documents are identified by it").In("name")
		}
		name, err := l.c.Tx.Repo().CleanName(rec.Name) // so that the record finds what it created the last time
		if err != nil {
			return nil, err
		}
		d, err := l.c.Tx.Child(folder, name)
		if fault.Is(err, fault.NotFound) {
			return nil, nil
		}
		return d, err
	}
	text, _ := props[l.Key].(string)
	if text == "" {
		return nil, fault.Invalid.Errorf("property %s: is missing, but documents are identified by it", l.Key).In(l.Key)
	}
	found, err := search.Lookup(l.c.Tx, l.Key, text)
	if err != nil {
		return nil, err
	}
	// What is in the trash does not count as existing: loading a file again restores what was
	// thrown away as new documents.
	found = slices.DeleteFunc(found, (*storage.Doc).IsTrashed)
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, fault.Conflict.Errorf("property %s: several documents have the value %q", l.Key, text).In(l.Key)
}
