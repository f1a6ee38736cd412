package schema

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
	"catena/storage/fault"
)

// maxNesting bounds complex fields inside complex fields.
const maxNesting = 6

// file takes in one file.
func (l *loader) file(root *yaml.Node) {
	l.Each(root, declare.Keys{
		"schemas":    func(n *yaml.Node) { l.named(n, l.schema) },
		"facets":     func(n *yaml.Node) { l.named(n, l.facet) },
		"lifeCycles": func(n *yaml.Node) { l.named(n, l.lifeCycle) },
		"types":      func(n *yaml.Node) { l.named(n, l.docType) },
		"metadata":   func(n *yaml.Node) { l.named(n, l.metadataMapping) },
		"versioning": func(n *yaml.Node) { l.named(n, l.versioningRule) },
	})
}

// named reads a mapping whose keys are names.
func (l *loader) named(n *yaml.Node, fn func(key *yaml.Node, value *yaml.Node)) {
	fieldReader{&l.Reader}.named(n, fn)
}

// ReadFields reads declarations of fields: a name with its type alone, or with a mapping that says more. Before
// stands in front of the names in what is said of mistakes, and in the keys.
func ReadFields(r *declare.Reader, n *yaml.Node, before string) []*Field {
	return fieldReader{r}.fields(n, before, 1)
}

// fieldReader reads declarations of fields.
type fieldReader struct{ *declare.Reader }

func (l fieldReader) named(n *yaml.Node, fn func(key *yaml.Node, value *yaml.Node)) {
	l.Pairs(n, func(key, value *yaml.Node) {
		if !isName(key.Value) {
			l.Fail(l.At(key), "malformed name %q", key.Value)
			return
		}
		fn(key, value)
	})
}

func (l *loader) schema(key, n *yaml.Node) {
	d := &schemaDecl{Schema: &Schema{Name: key.Value}, at: l.At(key)}
	var fields *yaml.Node
	l.Each(n, declare.Keys{
		"prefix": l.Text(&d.Prefix),
		"label":  l.Text(&d.Label),
		"fields": func(n *yaml.Node) { fields = n }, "indexes": l.indexes(&d.indexes),
	})
	if d.Prefix != "" && !isName(d.Prefix) {
		l.Fail(d.at, "schema %s: malformed prefix %q", d.Name, d.Prefix)
	}
	if fields != nil {
		d.Fields = ReadFields(&l.Reader, fields, d.Space()+":")
	}
	declare.Put(&l.Reader, l.schemas, key, func(d *schemaDecl) declare.Position { return d.at }, d)
}

func (l fieldReader) fields(n *yaml.Node, before string, depth int) (out []*Field) {
	l.named(n, func(key, value *yaml.Node) {
		if f := l.field(key, value, before, depth); f != nil {
			out = append(out, f)
		}
	})
	return out
}

// field reads one field: its type alone, or a mapping.
func (l fieldReader) field(key, n *yaml.Node, before string, depth int) *Field {
	f := &Field{Name: key.Value, Key: before + key.Value}
	if depth > maxNesting {
		l.Fail(l.At(key), "field %s: nested too deeply", f.Key)
		return nil
	}
	var typ, pattern string
	var parts, value *yaml.Node
	f.Search = true
	if n.Kind == yaml.ScalarNode {
		typ = n.Value
	} else {
		l.Each(n, declare.Keys{
			"type": l.Text(&typ), "fields": func(n *yaml.Node) { parts = n }, "default": func(n *yaml.Node) { value = n },
			"required": l.Flag(&f.Required), "index": l.index(f), "search": l.Flag(&f.Search), "resolver": l.Text(&f.Resolver),
			"min": l.Bound(&f.Min), "max": l.Bound(&f.Max), "minLength": l.Count(&f.MinLength), "maxLength": l.Count(&f.MaxLength),
			"pattern": l.Text(&pattern), "enum": l.Texts(&f.Enum),
		})
	}
	bare, list := strings.CutSuffix(typ, "[]")
	kind, ok := kindNamed(bare)
	if !ok {
		l.Fail(l.At(key), "field %s: unknown type %q%s", f.Key, typ, fault.Perhaps(bare, kindNames))
		return nil
	}
	f.Kind, f.List = kind, list
	inside := f.Key + "/"
	if list {
		inside += "*/"
	}
	if parts != nil {
		f.Fields = l.fields(parts, inside, depth+1)
	}
	l.complete(f, key, pattern, value)
	return f
}

// index reads whether a field has an index: true, false or sparse.
func (l fieldReader) index(f *Field) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		if f.Sparse = n.Kind == yaml.ScalarNode && n.Value == "sparse"; f.Sparse {
			f.Index = true
			return
		}
		l.Flag(&f.Index)(n)
	}
}

// complete checks what depends on the field's kind.
func (l fieldReader) complete(f *Field, key *yaml.Node, pattern string, value *yaml.Node) {
	if (f.Kind == Complex) != (len(f.Fields) > 0) {
		l.Fail(l.At(key), "field %s: complex fields, and only those, must have fields", f.Key)
	}
	if f.Index && f.Kind >= Blob {
		l.Fail(l.At(key), "field %s: a %s cannot be indexed", f.Key, f.Kind)
	}
	f.Search = f.Search && f.Kind == String && f.Resolver == ""
	if f.Resolver != "" && f.Kind != String {
		l.Fail(l.At(key), "field %s: only text fields can be references", f.Key)
	}
	if pattern != "" {
		// The group keeps an alternative at the top, "a|b", from binding to one anchor only. Go's
		// expressions take linear time, so a pattern cannot hang a save.
		whole, err := regexp.Compile(`^(?:` + pattern + `)$`)
		if err != nil {
			l.Fail(l.At(key), "field %s: pattern: %s", f.Key, err)
		}
		f.Pattern, f.whole = pattern, whole
	}
	f.item = f.makeItem()
	if value == nil {
		return
	}
	var v any
	err := value.Decode(&v)
	if err == nil {
		f.Default, err = f.Coerce(v)
	}
	if err == nil {
		for _, broken := range f.Validate(f.Default) {
			err = errors.Join(err, errors.New(broken.Message))
		}
	}
	if err != nil {
		l.Fail(l.At(value), "field %s: default: %s", f.Key, err)
	}
}

func (l *loader) facet(key, n *yaml.Node) {
	d := &facetDecl{Facet: &Facet{Name: key.Value}, at: l.At(key)}
	l.Each(n, declare.Keys{"label": l.Text(&d.Label), "schemas": l.Words(&d.schemas)})
	declare.Put(&l.Reader, l.facets, key, func(d *facetDecl) declare.Position { return d.at }, d)
}

func (l *loader) lifeCycle(key, n *yaml.Node) {
	d := &lifeCycleDecl{LifeCycle: &LifeCycle{Name: key.Value}, at: l.At(key)}
	l.Each(n, declare.Keys{
		"initial": l.Text(&d.Initial),
		"states":  l.Texts(&d.States),
		"transitions": func(n *yaml.Node) {
			l.named(n, func(key, n *yaml.Node) {
				t := Transition{Name: key.Value}
				l.Each(n, declare.Keys{"from": l.Texts(&t.From), "to": l.Text(&t.To)})
				d.Transitions = append(d.Transitions, t)
			})
		},
	})
	if !slices.Contains(d.States, d.Initial) {
		l.Fail(d.at, "life cycle %s: unknown initial state %q%s", d.Name, d.Initial, fault.Perhaps(d.Initial, slices.Values(d.States)))
	}
	for _, t := range d.Transitions {
		for _, state := range append(slices.Clip(t.From), t.To) {
			if !slices.Contains(d.States, state) {
				l.Fail(d.at, "life cycle %s: transition %s: unknown state %q%s", d.Name, t.Name, state, fault.Perhaps(state, slices.Values(d.States)))
			}
		}
	}
	declare.Put(&l.Reader, l.lifeCycles, key, func(d *lifeCycleDecl) declare.Position { return d.at }, d)
}

func (l *loader) docType(key, n *yaml.Node) {
	d := &typeDecl{Type: &Type{Name: key.Value}, at: l.At(key)}
	l.Each(n, declare.Keys{
		"parent": l.Word(&d.parent), "label": l.Text(&d.Label), "icon": l.Text(&d.Icon), "lifeCycle": l.Word(&d.lifeCycle),
		"schemas": l.Words(&d.schemas), "facets": l.Words(&d.facets), "subTypes": l.Words(&d.subTypes), "prefetch": l.Words(&d.prefetch),
		"containers": l.Words(&d.containers),
		"indexes":    l.indexes(&d.indexes),
	})
	d.Parent = d.parent.Text
	declare.Put(&l.Reader, l.types, key, func(d *typeDecl) declare.Position { return d.at }, d)
}
