package schema

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNesting bounds complex fields inside complex fields.
const maxNesting = 6

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
	l.each(doc.Content[0], keys{
		"schemas":    func(n *yaml.Node) { l.named(n, l.schema) },
		"facets":     func(n *yaml.Node) { l.named(n, l.facet) },
		"lifeCycles": func(n *yaml.Node) { l.named(n, l.lifeCycle) },
		"types":      func(n *yaml.Node) { l.named(n, l.docType) },
		"metadata":   func(n *yaml.Node) { l.named(n, l.metadataMapping) },
		"versioning": func(n *yaml.Node) { l.named(n, l.versioningRule) },
	})
}

func (l *loader) at(n *yaml.Node) place { return place{l.layer, l.file, n.Line} }

// keys says what to do with each key that a mapping may have.
type keys map[string]func(*yaml.Node)

// pairs calls fn with each key and value of a mapping; a key stands once.
func (l *loader) pairs(n *yaml.Node, fn func(key, value *yaml.Node)) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		l.fail(l.at(n), "keys with values expected")
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

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func (l *loader) each(n *yaml.Node, known keys) {
	l.pairs(n, func(key, value *yaml.Node) {
		if fn, ok := known[key.Value]; ok {
			fn(value)
			return
		}
		l.fail(l.at(key), "unknown key %s", key.Value)
	})
}

func (l *loader) named(n *yaml.Node, fn func(key *yaml.Node, value *yaml.Node)) {
	l.pairs(n, func(key, value *yaml.Node) {
		if !isName(key.Value) {
			l.fail(l.at(key), "malformed name %q", key.Value)
			return
		}
		fn(key, value)
	})
}

// put adds a declaration, or replaces the one of an earlier layer.
func put[D any](l *loader, all map[string]*D, key *yaml.Node, at func(*D) place, d *D) {
	if old, ok := all[key.Value]; ok && at(old).layer == l.layer {
		l.fail(l.at(key), "%s: declared before at %s:%d", key.Value, at(old).file, at(old).line)
		return
	}
	all[key.Value] = d
}

func (l *loader) text(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			l.fail(l.at(n), "text expected")
			return
		}
		*into = n.Value
	}
}

func (l *loader) flag(into *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := n.Decode(into); err != nil {
			l.fail(l.at(n), "true or false expected")
		}
	}
}

func (l *loader) count(into *int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := n.Decode(into); err != nil || *into < 0 {
			l.fail(l.at(n), "number of at least 0 expected")
		}
	}
}

func (l *loader) bound(into **float64) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || n.Kind != yaml.ScalarNode {
			l.fail(l.at(n), "number expected")
			return
		}
		*into = &v
	}
}

func (l *loader) word(into *name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		l.text(&into.text)(n)
		into.at = l.at(n)
	}
}

func (l *loader) words(into *[]name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			l.fail(l.at(n), "list expected")
			return
		}
		for _, item := range n.Content {
			var w name
			l.word(&w)(item)
			*into = append(*into, w)
		}
	}
}

func (l *loader) texts(into *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var all []name
		l.words(&all)(n)
		for _, w := range all {
			*into = append(*into, w.text)
		}
	}
}

func (l *loader) schema(key, n *yaml.Node) {
	d := &schemaDecl{Schema: &Schema{Name: key.Value}, at: l.at(key)}
	var fields *yaml.Node
	l.each(n, keys{
		"prefix": l.text(&d.Prefix),
		"label":  l.text(&d.Label),
		"fields": func(n *yaml.Node) { fields = n },
	})
	if d.Prefix != "" && !isName(d.Prefix) {
		l.fail(d.at, "schema %s: malformed prefix %q", d.Name, d.Prefix)
	}
	if fields != nil {
		d.Fields = l.fields(fields, d.Space()+":", 1)
	}
	put(l, l.schemas, key, func(d *schemaDecl) place { return d.at }, d)
}

func (l *loader) fields(n *yaml.Node, before string, depth int) (out []*Field) {
	l.named(n, func(key, value *yaml.Node) {
		if f := l.field(key, value, before, depth); f != nil {
			out = append(out, f)
		}
	})
	return out
}

// field reads one field: its type alone, or a mapping.
func (l *loader) field(key, n *yaml.Node, before string, depth int) *Field {
	f := &Field{Name: key.Value, Key: before + key.Value}
	if depth > maxNesting {
		l.fail(l.at(key), "field %s: nested too deep", f.Key)
		return nil
	}
	var typ, pattern string
	var parts, value *yaml.Node
	f.Search = true
	if n.Kind == yaml.ScalarNode {
		typ = n.Value
	} else {
		l.each(n, keys{
			"type": l.text(&typ), "fields": func(n *yaml.Node) { parts = n }, "default": func(n *yaml.Node) { value = n },
			"required": l.flag(&f.Required), "index": l.flag(&f.Index), "search": l.flag(&f.Search), "resolver": l.text(&f.Resolver),
			"min": l.bound(&f.Min), "max": l.bound(&f.Max), "minLength": l.count(&f.MinLength), "maxLength": l.count(&f.MaxLength),
			"pattern": l.text(&pattern), "enum": l.texts(&f.Enum),
		})
	}
	bare, list := strings.CutSuffix(typ, "[]")
	kind := slices.Index(kindNames[:], bare)
	if kind < 0 {
		l.fail(l.at(key), "field %s: no type %q", f.Key, typ)
		return nil
	}
	f.Kind, f.List = Kind(kind), list
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

// complete checks what depends on the field's kind.
func (l *loader) complete(f *Field, key *yaml.Node, pattern string, value *yaml.Node) {
	if (f.Kind == Complex) != (len(f.Fields) > 0) {
		l.fail(l.at(key), "field %s: fields are for complex fields, and only for those", f.Key)
	}
	if f.Index && f.Kind >= Blob {
		l.fail(l.at(key), "field %s: a %s cannot be indexed", f.Key, f.Kind)
	}
	f.Search = f.Search && f.Kind == String && f.Resolver == ""
	if f.Resolver != "" && f.Kind != String {
		l.fail(l.at(key), "field %s: only text can refer to something", f.Key)
	}
	if pattern != "" {
		whole, err := regexp.Compile(`^(?:` + pattern + `)$`)
		if err != nil {
			l.fail(l.at(key), "field %s: pattern: %s", f.Key, err)
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
		l.fail(l.at(value), "field %s: default: %s", f.Key, err)
	}
}

func (l *loader) facet(key, n *yaml.Node) {
	d := &facetDecl{Facet: &Facet{Name: key.Value}, at: l.at(key)}
	l.each(n, keys{"label": l.text(&d.Label), "schemas": l.words(&d.schemas)})
	put(l, l.facets, key, func(d *facetDecl) place { return d.at }, d)
}

func (l *loader) lifeCycle(key, n *yaml.Node) {
	d := &lifeCycleDecl{LifeCycle: &LifeCycle{Name: key.Value}, at: l.at(key)}
	l.each(n, keys{
		"initial": l.text(&d.Initial),
		"states":  l.texts(&d.States),
		"transitions": func(n *yaml.Node) {
			l.named(n, func(key, n *yaml.Node) {
				t := Transition{Name: key.Value}
				l.each(n, keys{"from": l.texts(&t.From), "to": l.text(&t.To)})
				d.Transitions = append(d.Transitions, t)
			})
		},
	})
	if !slices.Contains(d.States, d.Initial) {
		l.fail(d.at, "life cycle %s: no initial state %q", d.Name, d.Initial)
	}
	for _, t := range d.Transitions {
		for _, state := range append(slices.Clip(t.From), t.To) {
			if !slices.Contains(d.States, state) {
				l.fail(d.at, "life cycle %s: transition %s: no state %q", d.Name, t.Name, state)
			}
		}
	}
	put(l, l.lifeCycles, key, func(d *lifeCycleDecl) place { return d.at }, d)
}

func (l *loader) docType(key, n *yaml.Node) {
	d := &typeDecl{Type: &Type{Name: key.Value}, at: l.at(key)}
	l.each(n, keys{
		"parent": l.word(&d.parent), "label": l.text(&d.Label), "icon": l.text(&d.Icon), "lifeCycle": l.word(&d.lifeCycle),
		"schemas": l.words(&d.schemas), "facets": l.words(&d.facets), "subTypes": l.words(&d.subTypes), "prefetch": l.words(&d.prefetch),
	})
	d.Parent = d.parent.text
	put(l, l.types, key, func(d *typeDecl) place { return d.at }, d)
}
