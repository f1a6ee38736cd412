package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/lines"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// csvRun imports rows in a transaction.
type csvRun struct {
	c      *engine.Ctx
	folder *storage.Doc
	keep   bool

	columns []string // of the file; rows lack those in which their cells are empty
}

// csvProblem is what is wrong with a row.
type csvProblem struct {
	label, text string
	params      []string
}

func (p *csvProblem) Error() string { return p.text }

// problem makes the problem of a label, whose message has the same values in it as its translations.
func problem(label, format string, params ...string) error {
	args := make([]any, len(params))
	for i, p := range params {
		args[i] = p
	}
	return &csvProblem{label, fmt.Sprintf(format, args...), params}
}

// row imports a row and says what became of it. An error ends the batch.
func (r csvRun) row(rec lines.Record) (csvEntry, error) {
	e := created
	err := rec.Err
	if err != nil {
		err = problem("errorReadingLine", "Error while reading line: %s", err.Error())
	} else {
		err = r.c.Nest(func() (err error) {
			e, err = r.one(rec.JSON)
			return err
		})
	}
	e.Line = rec.Line
	if p := (*csvProblem)(nil); errors.As(err, &p) {
		e.Status, e.Message, e.Label, e.Params, err = failed, p.text, p.label, p.params, nil
	}
	// Of what is not the row's fault, the others would be told, too.
	if err != nil && !engine.Ends(err) && !fault.Is(err, fault.Internal) && !fault.Is(err, fault.Unavailable) {
		verb, label := "create", "unableToCreate"
		if e.Label != created.Label {
			verb, label = "update", "unableToUpdate"
		}
		e.Status, e.Label, e.Message, e.Params = failed, label, "Unable to "+verb+" document: "+err.Error(), []string{err.Error()}
		err = nil
	}
	e.Label = "label.csv.importer." + e.Label
	return e, err
}

// What the log says of rows that went well.
var (
	created   = csvEntry{Status: "SUCCESS", Message: "Document created", Label: "documentCreated"}
	updated   = csvEntry{Status: "SUCCESS", Message: "Document updated", Label: "documentUpdated"}
	unchanged = csvEntry{Status: "SKIPPED", Message: "Document unchanged", Label: "documentUnchanged"}
)

// one carries out a row, or says what it was about to do.
func (r csvRun) one(raw json.RawMessage) (csvEntry, error) {
	var members map[string]any
	if err := json.Unmarshal(raw, &members); err != nil {
		return created, err
	}
	name, _ := members["name"].(string)
	typ, _ := members["type"].(string)
	props, _ := members["properties"].(map[string]any)
	if uid, _ := members["uid"].(string); uid != "" && members["name"] == nil {
		return r.exported(strings.TrimSpace(uid), members, props)
	}
	name, typ = strings.Trim(strings.TrimSpace(name), "/"), strings.TrimSpace(typ)
	for _, column := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains([]string{"name", "type", "properties"}, column) {
			return created, problem("notExistingField", "Field '%s' does not exist on type '%s'", column, typ)
		}
	}
	switch {
	case name == "" && len(members) == 0:
		return created, problem("emptyLine", "Empty line")
	case name == "":
		return created, problem("missingNameValue", "Missing 'name' value")
	// The path must not lead out of the folder, as .. would.
	case !fs.ValidPath(name) || name == ".":
		return created, fault.Invalid.Errorf("name: %q is not a path", name)
	}
	parent, old, err := r.find(name)
	if err != nil {
		return created, err
	}
	if old != nil {
		return updated, r.update(old, props)
	}
	return created, r.create(parent, path.Base(name), typ, props)
}

// find returns the parent of a document and the document, nil if it is new. One in the trash does not count.
func (r csvRun) find(name string) (parent, old *storage.Doc, err error) {
	parent = r.folder
	if dir := path.Dir(name); dir != "." {
		at := path.Join(r.folder.Path(), dir)
		parent, err = r.c.Tx.Doc(storage.Ref(at))
		if fault.Is(err, fault.NotFound) {
			return nil, nil, problem("parentDoesNotExist", "Parent document '%s' does not exist", at)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	old, err = r.c.Tx.Child(parent, path.Base(name))
	if fault.Is(err, fault.NotFound) || err == nil && old.IsTrashed() {
		return parent, nil, nil
	}
	return parent, old, err
}

func (r csvRun) create(parent *storage.Doc, name, typ string, props map[string]any) error {
	t, ok := storage.TypesOf(r.c.Tx).Type(typ)
	switch {
	case typ == "":
		return problem("missingTypeValue", "Missing 'type' value")
	case !ok:
		return problem("notExistingType", "The type '%s' does not exist", typ)
	case !slices.Contains(parent.Type().SubTypes, typ):
		return problem("notAllowedSubType", "'%s' type is not allowed in '%s'", typ, parent.Type().Name)
	}
	values, err := r.values(t, props)
	if err != nil {
		return err
	}
	d, err := r.c.Tx.Create(parent, typ, name, values)
	if err != nil || !r.keep {
		return err
	}
	for _, xpath := range []string{"dc:created", "dc:modified", "dc:contributors", "dc:lastContributor"} {
		if v, ok := values[xpath]; ok {
			if err := d.Set(xpath, v); err != nil {
				return err
			}
		}
	}
	_, err = r.c.Tx.Save(d, storage.SaveOptions{Quiet: true})
	return err
}

func (r csvRun) update(d *storage.Doc, props map[string]any) error {
	values, err := r.values(d.Type(), props)
	if err != nil {
		return err
	}
	for _, xpath := range slices.Sorted(maps.Keys(values)) {
		if err := d.Set(xpath, values[xpath]); err != nil {
			return err
		}
	}
	_, err = r.c.Tx.Save(d, storage.SaveOptions{Quiet: r.keep})
	return err
}

// values are the cells of a row as values of properties. A property that exists but not in the type is left out:
// a file may have rows of several types.
func (r csvRun) values(t *schema.Type, props map[string]any) (storage.Props, error) {
	out := map[string]any{}
	for _, xpath := range slices.Sorted(maps.Keys(props)) {
		cell, _ := props[xpath].(string)
		f, ok := storage.TypesOf(r.c.Tx).FieldByKey(xpath)
		if !ok {
			return nil, problem("notExistingField", "Field '%s' does not exist on type '%s'", xpath, t.Name)
		}
		if cell = strings.TrimSpace(cell); cell == "" || !hasField(t, f) {
			continue
		}
		v, err := cellValue(f, cell)
		if err != nil {
			return nil, err
		}
		if out[xpath], err = f.Coerce(v); err != nil {
			return nil, problem("cannotConvertFieldValue", "Unable to convert field '%s' with value '%s'", xpath, cell)
		}
	}
	return out, nil
}

func hasField(t *schema.Type, f *schema.Field) bool {
	return slices.ContainsFunc(t.Schemas, func(s *schema.Schema) bool { return slices.Contains(s.Fields, f) })
}

// cellValue reads a cell: a list separated by |, JSON for what has parts, or the text itself.
func cellValue(f *schema.Field, cell string) (any, error) {
	switch {
	case f.Kind == schema.Blob:
		return nil, problem("notExistingFile", "The file '%s' does not exist", cell)
	case f.Kind == schema.Complex:
		v, err := engine.ParseJSON([]byte(cell))
		if err != nil {
			return nil, problem("cannotConvertFieldValue", "Unable to convert field '%s' with value '%s'", f.Key, cell)
		}
		return v, nil
	case f.List:
		var list []any
		for item := range strings.SplitSeq(cell, "|") {
			list = append(list, strings.TrimSpace(item))
		}
		return list, nil
	}
	return cell, nil
}
