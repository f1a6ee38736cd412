package entity

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/people"
	"catena/storage/search"
)

// Form is what the results of an operation are on the wire.
type Form struct {
	Schemas     []map[string]any // of the JSON, one of several; references lead to openapi.Forms and to Definitions
	Definitions map[string]any   // of Go types, by name
	File        bool             // it may be a file or several
	Nothing     bool             // it may be nothing
	Any         bool             // it may be any value: the operation does not say more
}

// FormOf describes what Append writes of the results of an operation. Bare, maps and lists are those that AppendValue writes, and
// of texts and numbers nothing is said.
func FormOf(d *engine.Def, bare bool) Form {
	f := Form{Definitions: map[string]any{}}
	for _, o := range d.Run.Outcomes() {
		f.add(d, o, bare)
	}
	return f
}

// wireNames are the forms of values by type, those of results of which only the word is known by the word.
var wireNames = map[any]string{
	reflect.TypeFor[*storage.Doc]():       "Document",
	reflect.TypeFor[storage.Docs]():       "Documents",
	reflect.TypeFor[*storage.Page]():      "Documents",
	reflect.TypeFor[*storage.EntryPage](): "LogEntries",
	reflect.TypeFor[storage.Entry]():      "LogEntry",
	reflect.TypeFor[*search.Rows]():       "RecordSet",
	reflect.TypeFor[[]storage.ACL]():      "ACP",

	reflect.TypeFor[*people.User]():      "User",
	reflect.TypeFor[*people.UserPage]():  "Users",
	reflect.TypeFor[*people.Group]():     "Group",
	reflect.TypeFor[*people.GroupPage](): "Groups",
	reflect.TypeFor[*record.Entry]():     "DirectoryEntry",
	reflect.TypeFor[*record.Page]():      "DirectoryEntries",

	reflect.TypeFor[*workflow.Instance]():    "Workflow",
	reflect.TypeFor[workflow.InstanceList](): "Workflows",
	reflect.TypeFor[*workflow.Model]():       "Workflow",
	reflect.TypeFor[workflow.ModelList]():    "Workflows",
	reflect.TypeFor[*workflow.Graph]():       "Graph",
	reflect.TypeFor[*workflow.Task]():        "Task",
	reflect.TypeFor[*workflow.TaskPage]():    "Tasks",

	"document": "Document", "documents": "Documents", "paginable": "LogEntries", "recordset": "RecordSet",
}

// FormName is the name of the form in which values are written that an operation returns; "" if they are no entities of their own.
func FormName(o engine.Outcome) string { return wireNames[keyOf(o)] }

// Written reports whether values of a form have a Go type, which this package writes: elsewhere they look otherwise.
func Written(form string) bool {
	for _, name := range wireNames {
		if name == form {
			return true
		}
	}
	return false
}

// keyOf finds what is returned in the tables: the type, or the word if there is none.
func keyOf(o engine.Outcome) any {
	if o.Type != nil && o.Type.Kind() != reflect.Interface {
		return o.Type
	}
	return o.Word
}

// plainTypes are what is known of plain values: the word that wrapped writes, and the schema of the value.
var plainTypes = map[any]struct{ word, typ string }{
	reflect.TypeFor[string]():         {"string", "string?"},
	reflect.TypeFor[storage.Ref]():    {"string", "string"},
	reflect.TypeFor[bool]():           {"boolean", "boolean"},
	reflect.TypeFor[int]():            {"number", "integer"},
	reflect.TypeFor[int64]():          {"number", "integer"},
	reflect.TypeFor[float64]():        {"number", "number"},
	reflect.TypeFor[time.Time]():      {"date", "moment?"},
	reflect.TypeFor[[]string]():       {"list", "array"},
	reflect.TypeFor[storage.Refs]():   {"list", "array"},
	reflect.TypeFor[storage.Props]():  {"map", "object"},
	reflect.TypeFor[map[string]any](): {"map", ""},
	reflect.TypeFor[[]any]():          {"list", ""},

	"string": {"string", "string?"}, "boolean": {"boolean", "boolean"}, "integer": {"number", "integer"}, "int": {"number", "integer"}, "long": {"number", "integer"},
	"float": {"number", "number"}, "double": {"number", "number"}, "date": {"date", "moment?"}, "stringlist": {"list", "array"},
	"properties": {"map", "object"}, "map": {"map", "object"}, "list": {"list", "array"},
}

// add adds what a function returns.
func (f *Form) add(d *engine.Def, o engine.Outcome, bare bool) {
	if f.addNamed(o, bare) {
		return
	}
	key := keyOf(o)
	schema, definitions := o.Schema(d)
	maps.Copy(f.Definitions, definitions)
	plain := plainTypes[key]
	if schema == nil && plain.typ != "" {
		schema = openapi.Type(plain.typ)
	}
	switch scalar := plain.typ != "" && o.Word != "map" && o.Word != "properties"; {
	case schema == nil || bare && scalar:
		f.Any, f.File = true, true
	case openapi.IsEntity(schema), bare && !defines(o):
		f.put(schema)
	case schema["$ref"] == openapi.RefPath+"Value":
		f.put(openapi.Ref("Entity"))
		f.File = true
	default:
		f.put(wrapping(o, plain.word, schema))
		if plain.word == "list" && o.Type == nil {
			f.put(openapi.Ref("Documents")) // which a list of nothing but documents is
		}
	}
}

// addNamed adds files, nothing, and entities, which need no schema of their own, and reports whether it was one of those.
func (f *Form) addNamed(o engine.Outcome, bare bool) bool {
	name := wireNames[keyOf(o)]
	switch {
	case o.Word == "blob", o.Word == "bloblist", o.Word == "blobs", o.Type == reflect.TypeFor[*storage.Blob]():
		f.File = true
	case o.Word == "void":
		f.Nothing = true
		if o.Passes != "" && !bare {
			f.passed(o.Passes)
		}
	case name != "":
		f.put(openapi.Ref(name))
	default:
		return false
	}
	return true
}

// passed adds what an operation without a result returns of its input.
func (f *Form) passed(word string) {
	switch name := wireNames[word]; {
	case name != "":
		f.put(openapi.Ref(name))
	case word == "blob", word == "bloblist", word == "blobs":
		f.File = true
	default: // an input that it does not look at
		f.put(openapi.Ref("Input"))
		f.File = true
	}
}

// defines reports whether a value is of a Go type that is written as a member in any case.
func defines(o engine.Outcome) bool {
	if o.Type == nil {
		return false
	}
	_, plain := plainTypes[o.Type]
	return !plain && o.Type.Kind() != reflect.Interface
}

// wrapping is the schema of what wrapped writes of a value.
func wrapping(o engine.Outcome, word string, value map[string]any) map[string]any {
	typ := openapi.Type("string")
	switch {
	case word != "":
		typ = map[string]any{"const": word}
	case o.Type != nil && o.Type.Kind() != reflect.Interface:
		typ = map[string]any{"const": "object"}
	}
	return openapi.Object("entity-type", typ, "value", value)
}

// put adds a schema that is not there.
func (f *Form) put(schema map[string]any) {
	if !slices.ContainsFunc(f.Schemas, func(s map[string]any) bool { return reflect.DeepEqual(s, schema) }) {
		f.Schemas = append(f.Schemas, schema)
	}
}
