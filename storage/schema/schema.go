// Package schema defines what documents consist of: types, schemas, facets and life cycles, declared in YAML and
// immutable once loaded. It knows the kinds of property values, finds them by xpath, takes in what clients send
// (Coerce), writes and reads their JSON form and checks constraints. It stores nothing and decides nothing about
// permissions, resolvers or versions: storage does.
//
// A registry is made of all declarations at once and never changes: every document in memory points to its type. Changed
// declarations make another registry, and stored documents are then read by what is declared there (Losses says what they would
// lose by it).
package schema

import (
	"iter"
	"maps"
	"regexp"
	"slices"

	"catena/storage/fault"
)

// Kind is the kind of value a field holds, or its items if the field is a list.
type Kind uint8

// The kinds of field.
const (
	String  Kind = iota
	Integer      // 32 bits, held as int64
	Long
	Double
	Boolean
	Date // UTC, milliseconds
	Blob
	Complex
)

// kinds is the table of the kinds of field. The linter exhaustive sees to it that it names all of them, and
// so does every switch over kinds: after adding one, the linter lists what else has to know it.
var kinds = map[Kind]struct {
	name   string
	number bool
	scalar bool // neither a file nor parts of its own
}{
	String:  {name: "string", scalar: true},
	Integer: {name: "integer", scalar: true, number: true},
	Long:    {name: "long", scalar: true, number: true},
	Double:  {name: "double", scalar: true, number: true},
	Boolean: {name: "boolean", scalar: true},
	Date:    {name: "date", scalar: true},
	Blob:    {name: "blob"},
	Complex: {name: "complex"},
}

// String returns the kind's name as declarations and the REST description spell it.
func (k Kind) String() string { return kinds[k].name }

// Number reports whether values of the kind are numbers.
func (k Kind) Number() bool { return kinds[k].number }

// Scalar reports whether values of the kind are neither files nor objects.
func (k Kind) Scalar() bool { return kinds[k].scalar }

// kindNamed returns the kind of a name.
func kindNamed(name string) (Kind, bool) {
	for k, facts := range kinds {
		if facts.name == name {
			return k, true
		}
	}
	return 0, false
}

// kindNames are the names of the kinds in their order.
func kindNames(yield func(string) bool) {
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		if !yield(kinds[k].name) {
			return
		}
	}
}

// Field is one property of a schema, or a part of a complex one.
type Field struct {
	Name     string
	Key      string // xpath of the field: "dc:title", inside a list "files:files/*/file"
	Kind     Kind
	List     bool
	Fields   []*Field // of a complex field, or of the items of a complex list
	Default  any      // in the form Coerce returns; nil without one
	Required bool
	Index    bool
	Sparse   bool   // the index leaves out documents without a value: most documents have none
	Search   bool   // full text finds it: text that refers to nothing, unless declared otherwise
	Resolver string // what the text refers to: "user", "group", "document", "directory:nature"
	Constraints

	item *Field // what Item returns
}

// Constraints limit the values of a field; a list's constraints hold for each item.
type Constraints struct {
	Min, Max             *float64
	MinLength, MaxLength int    // in characters; 0 means no limit
	Pattern              string // a regular expression that matches the whole text
	Enum                 []string

	whole *regexp.Regexp // Pattern, compiled
}

// Sub returns the part of a complex field called name, or nil.
func (f *Field) Sub(name string) *Field { return byName(f.Fields, name) }

// TypeName returns the field's type as descriptions spell it: "string", "date", "string[]".
func (f *Field) TypeName() string {
	if f.List {
		return f.Kind.String() + "[]"
	}
	return f.Kind.String()
}

// Schema is a named group of fields.
type Schema struct {
	Name   string
	Prefix string // "" means that the name stands before the colon
	Label  string
	Fields []*Field

	Indexes []*Index // over several fields, for all documents with the schema

	layer int // that declares it, from 0
}

// BuiltIn reports whether the schema is declared in the first layer, which is part of the program.
func (s *Schema) BuiltIn() bool { return s.layer == 0 }

// Space returns what stands before the colon in the keys of the schema's fields.
func (s *Schema) Space() string {
	if s.Prefix != "" {
		return s.Prefix
	}
	return s.Name
}

// Field returns the field called name, without prefix, or nil.
func (s *Schema) Field(name string) *Field { return byName(s.Fields, name) }

// Names are the names of the fields, in their order.
func (s *Schema) Names() iter.Seq[string] { return namesOf(s.Fields) }

func namesOf(fields []*Field) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range fields {
			if !yield(f.Name) {
				return
			}
		}
	}
}

func byName(fields []*Field, name string) *Field {
	for _, f := range fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Facet marks documents and may bring schemas with it.
type Facet struct {
	Name    string
	Label   string
	Schemas []*Schema
}

// Type is a type of document. Facets and Schemas include what the parent type and
// the facets bring.
type Type struct {
	Name, Parent, Label string
	Icon                string
	Facets              []string
	Schemas             []*Schema
	SubTypes            []string // types the user interface offers inside; REST does not enforce them
	Prefetch            []string // keys a list line shows
	LifeCycle           *LifeCycle
	Indexes             []*Index // over several fields, for the documents of the type and of types below it
}

// HasFacet reports whether every document of the type has the facet.
func (t *Type) HasFacet(name string) bool { return slices.Contains(t.Facets, name) }

// HasSchema reports whether every document of the type has the schema.
func (t *Type) HasSchema(name string) bool {
	return slices.ContainsFunc(t.Schemas, func(s *Schema) bool { return s.Name == name })
}

// LifeCycle is a set of states and the transitions between them.
type LifeCycle struct {
	Name, Initial string
	States        []string
	Transitions   []Transition // in the order they are declared
}

// Transition leads from one of several states to one.
type Transition struct {
	Name string
	From []string // empty means any state but To
	To   string
}

func (t Transition) leaves(state string) bool {
	if len(t.From) == 0 {
		return state != t.To
	}
	return slices.Contains(t.From, state)
}

// Follow returns the state the transition leads to from state. A transition that does
// not exist is Invalid, one that state does not allow is a Conflict.
func (l *LifeCycle) Follow(state, transition string) (string, error) {
	known := false
	for _, t := range l.Transitions {
		if t.Name != transition {
			continue
		}
		if t.leaves(state) {
			return t.To, nil
		}
		known = true
	}
	if known {
		return "", fault.Conflict.Errorf("transition %s: not allowed in state %s", transition, state)
	}
	return "", fault.Invalid.Errorf("transition %s: not in life cycle %s", transition, l.Name)
}

// Allowed returns the names of the transitions that leave state.
func (l *LifeCycle) Allowed(state string) []string {
	var names []string
	for _, t := range l.Transitions {
		if t.leaves(state) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Registry holds every declaration. It never changes once loaded.
type Registry struct {
	types      map[string]*Type
	schemas    map[string]*Schema
	facets     map[string]*Facet
	lifeCycles map[string]*LifeCycle
	under      map[string][]string
	fields     map[string]*Field

	typeList   []*Type
	schemaList []*Schema
	facetList  []*Facet
	versioning []*VersioningRule // by order
	metadata   map[string]*MetadataMapping

	metadataRules []*MetadataMapping
}

// Type returns the document type called name.
func (r *Registry) Type(name string) (*Type, bool) { t, ok := r.types[name]; return t, ok }

// TypeNames are the names of all types, in no order.
func (r *Registry) TypeNames() iter.Seq[string] { return maps.Keys(r.types) }

// FacetNames are the names of all facets, in no order.
func (r *Registry) FacetNames() iter.Seq[string] { return maps.Keys(r.facets) }

// SchemaNames are the names of all schemas, in no order.
func (r *Registry) SchemaNames() iter.Seq[string] { return maps.Keys(r.schemas) }

// Types returns the document types by name.
func (r *Registry) Types() []*Type { return slices.Clone(r.typeList) }

// Schema returns the schema called name.
func (r *Registry) Schema(name string) (*Schema, bool) { s, ok := r.schemas[name]; return s, ok }

// Schemas returns the schemas by name.
func (r *Registry) Schemas() []*Schema { return slices.Clone(r.schemaList) }

// Facet returns the facet called name.
func (r *Registry) Facet(name string) (*Facet, bool) { f, ok := r.facets[name]; return f, ok }

// Facets returns the facets by name.
func (r *Registry) Facets() []*Facet { return slices.Clone(r.facetList) }

// LifeCycle returns the life cycle called name.
func (r *Registry) LifeCycle(name string) (*LifeCycle, bool) {
	l, ok := r.lifeCycles[name]
	return l, ok
}

// States are those of all life cycles, in no order; one that several have is there for each.
func (r *Registry) States() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, l := range r.lifeCycles {
			for _, state := range l.States {
				if !yield(state) {
					return
				}
			}
		}
	}
}

// Under returns the type and the types below it by name, or nothing if there is no such
// type. Every type but relations is below Document.
func (r *Registry) Under(typeName string) []string { return slices.Clone(r.under[typeName]) }

// SchemasOf returns the schemas of a document: those of its type, then those that its
// own facets add.
func (r *Registry) SchemasOf(t *Type, facets []string) []*Schema {
	out := t.Schemas
	for _, name := range facets {
		f, ok := r.facets[name]
		if !ok || t.HasFacet(name) {
			continue
		}
		for _, s := range f.Schemas {
			if !slices.Contains(out, s) {
				out = append(slices.Clip(out), s)
			}
		}
	}
	return out
}

// FieldByKey returns the field with the exact key, "dc:title", among all schemas.
func (r *Registry) FieldByKey(key string) (*Field, bool) {
	f, ok := r.fields[key]
	return f, ok
}
