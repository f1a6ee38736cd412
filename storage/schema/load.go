package schema

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"catena/storage/fault"
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

// Load reads the *.yaml files of each layer. A later layer adds declarations, or replaces
// those of the same name; within a layer a name stands once. Every mistake is reported, with file and
// line, in one Invalid error.
func Load(layers ...fs.FS) (*Registry, error) {
	l := newLoader()
	for i, layer := range layers {
		l.layer = i
		names, err := fs.Glob(layer, "*.yaml")
		if err != nil {
			return nil, fault.Invalid.Errorf("declarations: %w", err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(layer, name)
			if err != nil {
				return nil, fault.Unavailable.Errorf("declarations: %w", err)
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

// place is where a declaration or a reference stands.
type place struct {
	layer int
	file  string
	line  int
}

type mistake struct {
	place
	text string
}

// loader collects declarations and mistakes, then resolves names into pointers.
type loader struct {
	layer    int
	file     string
	mistakes []mistake

	schemas    map[string]*schemaDecl
	facets     map[string]*facetDecl
	types      map[string]*typeDecl
	lifeCycles map[string]*lifeCycleDecl
	versioning map[string]*versioningDecl
	metadata   map[string]*metadataDecl
	keys       map[string]*Field // of the fields of all schemas
}

func newLoader() *loader {
	return &loader{
		schemas: map[string]*schemaDecl{}, facets: map[string]*facetDecl{},
		types: map[string]*typeDecl{}, lifeCycles: map[string]*lifeCycleDecl{}, versioning: map[string]*versioningDecl{}, metadata: map[string]*metadataDecl{}, keys: map[string]*Field{},
	}
}

// name is a reference to another declaration.
type name struct {
	text string
	at   place
}

type (
	schemaDecl struct {
		*Schema
		at place
	}
	facetDecl struct {
		*Facet
		schemas []name
		at      place
	}
	lifeCycleDecl struct {
		*LifeCycle
		at place
	}
	typeDecl struct {
		*Type
		parent, lifeCycle         name
		schemas, facets, subTypes []name
		prefetch                  []name
		at                        place
		done, busy                bool
	}
)

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

// resolve turns the declarations into a registry.
func (l *loader) resolve() *Registry {
	r := &Registry{
		types: map[string]*Type{}, schemas: map[string]*Schema{}, facets: map[string]*Facet{},
		lifeCycles: map[string]*LifeCycle{}, under: map[string][]string{}, fields: l.keys,
	}
	spaces := map[string]string{}
	for _, n := range slices.Sorted(maps.Keys(l.schemas)) {
		d := l.schemas[n]
		if other, taken := spaces[d.Space()]; taken {
			l.fail(d.at, "schema %s: prefix %s is taken by schema %s", n, d.Space(), other)
		}
		spaces[d.Space()] = n
		r.schemas[n] = d.Schema
		r.schemaList = append(r.schemaList, d.Schema)
		for _, f := range d.Fields {
			l.keys[f.Key] = f
		}
	}
	for _, n := range slices.Sorted(maps.Keys(l.facets)) {
		d := l.facets[n]
		d.Schemas = l.schemasOf(nil, d.schemas, "facet "+n)
		r.facets[n] = d.Facet
		r.facetList = append(r.facetList, d.Facet)
	}
	for n, d := range l.lifeCycles {
		r.lifeCycles[n] = d.LifeCycle
	}
	for _, n := range slices.Sorted(maps.Keys(l.types)) {
		d := l.types[n]
		l.resolveType(d)
		r.types[n] = d.Type
		r.typeList = append(r.typeList, d.Type)
		r.under[n] = append(r.under[n], n)
	}
	for _, t := range r.typeList {
		for up, steps := l.types[t.Parent], 0; up != nil && steps < len(l.types); up, steps = l.types[up.Parent], steps+1 {
			r.under[up.Name] = append(r.under[up.Name], t.Name)
		}
	}
	for _, names := range r.under {
		slices.Sort(names)
	}
	l.resolveVersioning(r)
	l.resolveMetadata(r)
	return r
}

func (l *loader) schemasOf(have []*Schema, names []name, subject string) []*Schema {
	out := slices.Clip(have)
	for _, n := range names {
		d, ok := l.schemas[n.text]
		switch {
		case !ok:
			l.fail(n.at, "%s: no schema %s", subject, n.text)
		case !slices.Contains(out, d.Schema):
			out = append(out, d.Schema)
		}
	}
	return out
}

// resolveType completes a type from its parent, then its own words, then its facets.
func (l *loader) resolveType(d *typeDecl) {
	if d.done {
		return
	}
	subject := "type " + d.Name
	if d.busy {
		l.fail(d.at, "%s: is its own ancestor", subject)
		return
	}
	d.busy = true
	if d.parent.text != "" {
		parent, ok := l.types[d.parent.text]
		if !ok {
			l.fail(d.parent.at, "%s: no type %s", subject, d.parent.text)
		} else {
			l.resolveType(parent)
			d.inherit(parent)
		}
	}
	d.Schemas = l.schemasOf(d.Schemas, d.schemas, subject)
	for _, n := range d.facets {
		f, ok := l.facets[n.text]
		if !ok {
			l.fail(n.at, "%s: no facet %s", subject, n.text)
			continue
		}
		if !slices.Contains(d.Facets, n.text) {
			d.Facets = append(slices.Clip(d.Facets), n.text)
		}
		d.Schemas = l.schemasOf(d.Schemas, f.schemas, subject)
	}
	for _, n := range d.subTypes {
		if _, ok := l.types[n.text]; !ok {
			l.fail(n.at, "%s: no type %s", subject, n.text)
		}
		d.SubTypes = append(d.SubTypes, n.text)
	}
	for _, n := range d.prefetch {
		if l.keys[n.text] == nil {
			l.fail(n.at, "%s: no property %s", subject, n.text)
		}
		d.Prefetch = append(d.Prefetch, n.text)
	}
	if d.lifeCycle.text != "" {
		c, ok := l.lifeCycles[d.lifeCycle.text]
		if !ok {
			l.fail(d.lifeCycle.at, "%s: no life cycle %s", subject, d.lifeCycle.text)
		} else {
			d.LifeCycle = c.LifeCycle
		}
	}
	d.busy, d.done = false, true
}

func (d *typeDecl) inherit(parent *typeDecl) {
	d.Schemas, d.Facets, d.LifeCycle = slices.Clone(parent.Schemas), slices.Clone(parent.Facets), parent.LifeCycle
	if d.prefetch == nil {
		d.Prefetch = parent.Prefetch
	}
	if d.Icon == "" {
		d.Icon = parent.Icon
	}
}
