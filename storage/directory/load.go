package directory

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/storage/fault"
	"catena/storage/schema"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Defaults returns the declarations that every server starts with.
func Defaults() fs.FS {
	sub, err := fs.Sub(defaults, "defaults")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return sub
}

// Load reads the *.yaml files of each layer. A later layer adds directories, or replaces
// those of the same name; within a layer a name stands once. Every mistake is reported, with
// file and line, in one Invalid error.
func Load(types *schema.Registry, layers ...fs.FS) (*Registry, error) {
	l := &loader{types: types, declared: map[string]*declaration{}, texts: map[string]map[string]string{}}
	for i, layer := range layers {
		l.layer = i
		names, err := fs.Glob(layer, "*.yaml")
		if err != nil {
			return nil, fault.Invalid.Errorf("directories: %w", err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(layer, name)
			if err != nil {
				return nil, fault.Unavailable.Errorf("directories: %w", err)
			}
			l.file = name
			l.read(data)
		}
	}
	r := l.resolve()
	if len(l.mistakes) > 0 {
		return nil, l.report()
	}
	return r, nil
}

type place struct {
	layer int
	file  string
	line  int
}

type mistake struct {
	place
	text string
}

type declaration struct {
	*Directory
	at, parentAt place
	schema, id   string
	rows         *yaml.Node
}

type loader struct {
	types    *schema.Registry
	layer    int
	file     string
	declared map[string]*declaration
	texts    map[string]map[string]string
	mistakes []mistake
}

func (l *loader) at(n *yaml.Node) place { return place{l.layer, l.file, n.Line} }

func (l *loader) fail(at place, format string, args ...any) {
	l.mistakes = append(l.mistakes, mistake{at, fmt.Sprintf(format, args...)})
}

// report joins the mistakes in the order of layers, files and lines.
func (l *loader) report() error {
	slices.SortStableFunc(l.mistakes, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.layer, b.layer), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	lines := make([]string, len(l.mistakes))
	for i, m := range l.mistakes {
		lines[i] = fmt.Sprintf("%s:%d: %s", m.file, m.line, m.text)
	}
	return fault.Invalid.Errorf("%s", strings.Join(lines, "\n"))
}

// yamlLine is how the parser begins its messages.
var yamlLine = regexp.MustCompile(`line (\d+): `)

// read takes in one file.
func (l *loader) read(data []byte) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		at, text := place{l.layer, l.file, 1}, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			at.line, _ = strconv.Atoi(m[1])
			text = strings.Replace(text, m[0], "", 1)
		}
		l.fail(at, "%s", text)
		return
	}
	if len(doc.Content) == 0 {
		return
	}
	l.pairs(doc.Content[0], func(key, value *yaml.Node) {
		if key.Value != "directories" {
			l.fail(l.at(key), "unknown key %s", key.Value)
			return
		}
		l.pairs(value, l.directory)
	})
}

// pairs calls fn with each key and value of a mapping; a key stands once.
func (l *loader) pairs(n *yaml.Node, fn func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		if n.Tag != "!!null" {
			l.fail(l.at(n), "keys with values expected")
		}
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			l.fail(l.at(key), "plain key expected")
		case seen[key.Value]:
			l.fail(l.at(key), "key %s: stands twice", key.Value)
		case value.Kind == yaml.AliasNode:
			l.fail(l.at(value), "key %s: aliases are not allowed", key.Value)
		default:
			fn(key, value)
		}
		seen[key.Value] = true
	}
}

// directory reads one declaration; its entries wait until every schema is known.
func (l *loader) directory(key, n *yaml.Node) {
	d := &declaration{Directory: &Directory{Name: key.Value}, at: l.at(key), id: "id"}
	l.pairs(n, func(key, value *yaml.Node) {
		var err error
		switch key.Value {
		case "schema":
			err = value.Decode(&d.schema)
		case "idField":
			err = value.Decode(&d.id)
		case "parent":
			d.parentAt, err = l.at(value), value.Decode(&d.Parent)
		case "types":
			err = value.Decode(&d.Types)
		case "readers":
			err = value.Decode(&d.Readers)
		case "writers":
			err = value.Decode(&d.Writers)
		case "password":
			err = value.Decode(&d.Password)
		case "numbered":
			err = value.Decode(&d.Numbered)
		case "readOnly":
			err = value.Decode(&d.ReadOnly)
		case "indexes":
			err = value.Decode(&d.Indexes)
		case "entries":
			d.rows = value
		default:
			l.fail(l.at(key), "unknown key %s", key.Value)
		}
		if err != nil {
			l.fail(l.at(value), "key %s: text, a list of texts, or true or false expected", key.Value)
		}
	})
	if old, ok := l.declared[key.Value]; ok && old.at.layer == l.layer {
		l.fail(d.at, "%s: declared before at %s:%d", key.Value, old.at.file, old.at.line)
		return
	}
	l.declared[key.Value] = d
}

// resolve turns the declarations into a registry.
func (l *loader) resolve() *Registry {
	r := &Registry{byName: map[string]*Directory{}, texts: l.texts}
	for _, name := range slices.Sorted(maps.Keys(l.declared)) {
		d := l.declared[name]
		if l.fields(d) {
			l.entries(d)
		}
		r.byName[name] = d.Directory
		r.list = append(r.list, d.Directory)
	}
	for _, name := range slices.Sorted(maps.Keys(l.declared)) {
		d := l.declared[name]
		if d.Parent != "" && r.byName[d.Parent] == nil {
			l.fail(d.parentAt, "directory %s: no directory %s", name, d.Parent)
		}
	}
	return r
}

// fields finds the schema of a directory and checks the fields it names.
func (l *loader) fields(d *declaration) bool {
	s, ok := l.types.Schema(d.schema)
	if !ok {
		l.fail(d.at, "directory %s: no schema %q", d.Name, d.schema)
		return false
	}
	d.Schema = s
	for _, f := range s.Fields {
		if f.List || f.Kind >= schema.Blob {
			l.fail(d.at, "directory %s: field %s: a %s cannot be in a directory", d.Name, f.Name, f.TypeName())
			return false
		}
	}
	if d.ID = s.Field(d.id); d.ID == nil {
		l.fail(d.at, "directory %s: no field %q", d.Name, d.id)
		return false
	}
	if d.Numbered && d.ID.Kind != schema.Integer && d.ID.Kind != schema.Long {
		l.fail(d.at, "directory %s: field %s: is not a number", d.Name, d.id)
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
			l.fail(d.at, "directory %s: no field %q", d.Name, name)
		}
	}
	return true
}

// entries reads the entries of a declaration: an id, then fields by name and texts by language.
func (l *loader) entries(d *declaration) {
	if d.rows == nil {
		return
	}
	l.layer, l.file = d.at.layer, d.at.file
	l.pairs(d.rows, func(key, n *yaml.Node) {
		e := Entry{ID: key.Value, Values: map[string]any{d.ID.Name: key.Value}}
		id, err := d.ID.Coerce(key.Value)
		if err != nil || key.Value == "" {
			l.fail(l.at(key), "entry %q: not an id", key.Value)
			return
		}
		e.Values[d.ID.Name] = id
		for _, f := range d.Schema.Fields {
			if f.Default != nil {
				e.Values[f.Name] = f.Default
			}
		}
		l.pairs(n, func(key, value *yaml.Node) { l.value(d, &e, key, value) })
		d.entries = append(d.entries, e)
	})
	slices.SortFunc(d.entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
}

// value reads a field of an entry, or its label in a language.
func (l *loader) value(d *declaration, e *Entry, key, n *yaml.Node) {
	name := key.Value
	if d.Schema.Field(name) == nil && len(name) == 2 {
		if d.Schema.Field("label_"+name) != nil {
			name = "label_" + name
		} else if d.Schema.Field("label") != nil {
			text := "label.directories." + d.Name + "." + e.ID
			if l.texts[name] == nil {
				l.texts[name] = map[string]string{}
			}
			l.texts[name][text] = n.Value
			e.Values["label"] = text
			return
		}
	}
	f := d.Schema.Field(name)
	if f == nil || f == d.ID || n.Kind != yaml.ScalarNode {
		l.fail(l.at(key), "entry %s: no field %q of a single value", e.ID, key.Value)
		return
	}
	v, err := f.Coerce(n.Value)
	if err != nil {
		l.fail(l.at(n), "entry %s: %s", e.ID, err)
		return
	}
	e.Values[name] = v
}
