package directory

import (
	"embed"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

//go:embed defaults/*.yaml defaults/entries/*.yaml
var defaults embed.FS

// builtIn is the layer of Defaults. The entries of its larger directories have a file each in folder entries.
type builtIn struct{ fs.FS }

// Defaults returns the declarations that every server starts with.
func Defaults() fs.FS { return builtIn{declare.Folder(defaults, "defaults")} }

// Load reads the *.yaml files of each layer. A later layer adds directories, or replaces
// those of the same name; within a layer a name stands once. Every mistake is reported, with
// file and line, in one Invalid error.
func Load(types *schema.Registry, layers ...fs.FS) (*Registry, error) {
	l := newLoader(types, layers...)
	if err := l.Files(l.file, layers...); err != nil {
		return nil, err
	}
	r := l.resolve()
	if err := l.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// Build reads the built-in declarations, and texts that add to them or replace some, as Load reads layers. It returns all mistakes
// instead of a registry if there are any.
func Build(types *schema.Registry, sources []declare.Source) (*Registry, []declare.Mistake, error) {
	l := newLoader(types, Defaults(), nil)
	if err := l.Files(l.file, l.layers[0]); err != nil {
		return nil, nil, err
	}
	for _, s := range sources {
		l.Source(1, s, l.file)
	}
	r := l.resolve()
	if wrong := l.Mistakes(); len(wrong) > 0 {
		return nil, wrong, nil
	}
	return r, nil, nil
}

func newLoader(types *schema.Registry, layers ...fs.FS) *loader {
	return &loader{types: types, layers: layers, declared: map[string]*declaration{}}
}

func (l *loader) file(root *yaml.Node) {
	l.Each(root, declare.Keys{"directories": func(n *yaml.Node) { l.Pairs(n, l.directory) }})
}

type declaration struct {
	*Directory
	at, parentAt declare.Position
	schema, id   string
	rows         *yaml.Node
}

type loader struct {
	declare.Reader
	types    *schema.Registry
	layers   []fs.FS
	declared map[string]*declaration
}

// directory reads one declaration; its entries wait until every schema is known.
func (l *loader) directory(key, n *yaml.Node) {
	d := &declaration{Directory: &Directory{Name: key.Value}, at: l.At(key), id: "id"}
	var parent declare.Name
	l.Each(n, declare.Keys{
		"schema": l.Text(&d.schema), "idField": l.Text(&d.id), "parent": l.Word(&parent), "types": l.Texts(&d.Types),
		"readers": l.Texts(&d.Readers), "writers": l.Texts(&d.Writers), "password": l.Text(&d.Password),
		"numbered": l.Flag(&d.Numbered), "readOnly": l.Flag(&d.ReadOnly), "indexes": l.Texts(&d.Indexes), "shows": l.Text(&d.Shows),
		"entries": func(n *yaml.Node) { d.rows = n },
	})
	d.Parent, d.parentAt = parent.Text, parent.At
	switch d.Shows {
	case "":
	case "groups", "users":
		d.ReadOnly = true
	default:
		l.Fail(d.at, "directory %s: must show users or groups, not %q", d.Name, d.Shows)
	}
	declare.Put(&l.Reader, l.declared, key, func(d *declaration) declare.Position { return d.at }, d)
}

// resolve turns the declarations into a registry.
func (l *loader) resolve() *Registry {
	r := &Registry{byName: map[string]*Directory{}}
	for _, name := range slices.Sorted(maps.Keys(l.declared)) {
		d := l.declared[name]
		if l.fields(d) {
			l.contents(d)
		}
		r.byName[name] = d.Directory
		r.list = append(r.list, d.Directory)
	}
	for _, name := range slices.Sorted(maps.Keys(l.declared)) {
		d := l.declared[name]
		if d.Parent != "" && r.byName[d.Parent] == nil {
			l.Unknown("directory "+name, "directory", declare.Name{Text: d.Parent, At: d.parentAt}, maps.Keys(r.byName))
		}
	}
	return r
}

// fields finds the schema of a directory and checks the fields it names.
func (l *loader) fields(d *declaration) bool {
	s, ok := l.types.Schema(d.schema)
	if !ok {
		l.Fail(d.at, "directory %s: unknown schema %q%s", d.Name, d.schema, fault.Perhaps(d.schema, l.types.SchemaNames()))
		return false
	}
	d.Schema = s
	for _, f := range s.Fields {
		if f.List || f.Kind >= schema.Blob {
			l.Fail(d.at, "directory %s: field %s: a directory cannot have a field of type %s", d.Name, f.Name, f.TypeName())
			return false
		}
	}
	if d.ID = s.Field(d.id); d.ID == nil {
		l.Fail(d.at, "directory %s: unknown field %q%s", d.Name, d.id, fault.Perhaps(d.id, s.Names()))
		return false
	}
	if d.Numbered && d.ID.Kind != schema.Integer && d.ID.Kind != schema.Long {
		l.Fail(d.at, "directory %s: field %s: must be a number", d.Name, d.id)
	}
	named := slices.Clone(d.Indexes)
	if d.Parent != "" {
		named = append(named, "parent")
		if !slices.Contains(d.Indexes, "parent") {
			d.Indexes = append(d.Indexes, "parent")
		}
	}
	if d.Password != "" {
		named = append(named, d.Password)
	}
	for _, name := range named {
		if s.Field(name) == nil {
			l.Fail(d.at, "directory %s: unknown field %q%s", d.Name, name, fault.Perhaps(name, s.Names()))
		}
	}
	return true
}

// contents reads the entries of a declaration. Those that have a file are read when they are first asked for: that takes
// longer than everything else that is declared, and most servers never ask for most of them.
func (l *loader) contents(d *declaration) {
	if d.rows != nil {
		l.Return(d.at)
		c := l.entries(d.Directory, d.rows)
		d.read = func() contents { return c }
		return
	}
	d.read = func() contents { return contents{} }
	layer, ok := l.layers[d.at.Layer].(builtIn)
	if !ok {
		return
	}
	name := "entries/" + d.Name + ".yaml"
	if _, err := fs.Stat(layer, name); err != nil {
		return
	}
	read := func(l *loader) (c contents) {
		err := l.File(d.at.Layer, layer, name, func(root *yaml.Node) { c = l.entries(d.Directory, root) })
		if err != nil {
			panic(err) // it is part of the program
		}
		return c
	}
	// A schema that replaces a built-in one may not have the fields of the entries.
	if !d.Schema.BuiltIn() {
		c := read(l)
		d.read = func() contents { return c }
		return
	}
	types := l.types
	d.read = sync.OnceValue(func() contents {
		l := &loader{types: types}
		c := read(l)
		if err := l.Err(); err != nil {
			panic(err) // a test reads them all
		}
		return c
	})
}

// entries reads entries: an id, then fields by name and texts by language.
func (l *loader) entries(d *Directory, rows *yaml.Node) contents {
	c := contents{texts: map[string]map[string]string{}}
	l.Pairs(rows, func(key, n *yaml.Node) {
		e := Entry{ID: key.Value, Values: map[string]any{d.ID.Name: key.Value}, index: len(c.entries)}
		id, err := d.ID.Coerce(key.Value)
		if err != nil || key.Value == "" {
			l.Fail(l.At(key), "entry %q: not a valid id", key.Value)
			return
		}
		e.Values[d.ID.Name] = id
		for _, f := range d.Schema.Fields {
			if f.Default != nil {
				e.Values[f.Name] = f.Default
			}
		}
		l.Pairs(n, func(key, value *yaml.Node) { l.value(d, &e, c.texts, key, value) })
		c.entries = append(c.entries, e)
	})
	slices.SortFunc(c.entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return c
}

// value reads a field of an entry, or its label in a language.
func (l *loader) value(d *Directory, e *Entry, texts map[string]map[string]string, key, n *yaml.Node) {
	name := key.Value
	if d.Schema.Field(name) == nil && len(name) == 2 {
		if d.Schema.Field("label_"+name) != nil {
			name = "label_" + name
		} else if d.Schema.Field("label") != nil {
			if texts[name] == nil {
				texts[name] = map[string]string{}
			}
			texts[name][e.ID] = n.Value
			e.Values["label"] = labels + d.Name + "." + e.ID
			return
		}
	}
	f := d.Schema.Field(name)
	if f == nil || f == d.ID || n.Kind != yaml.ScalarNode {
		l.Fail(l.At(key), "entry %s: there is no single-valued field %q%s", e.ID, key.Value, fault.Perhaps(key.Value, d.Schema.Names()))
		return
	}
	v, err := f.Coerce(n.Value)
	if err != nil {
		l.Fail(l.At(n), "entry %s: %s", e.ID, err)
		return
	}
	e.Values[name] = v
}
