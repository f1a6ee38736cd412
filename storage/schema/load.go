package schema

import (
	"embed"
	"io/fs"
	"maps"
	"slices"

	"catena/storage/declare"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Defaults returns the declarations that every server starts with.
func Defaults() fs.FS { return declare.Folder(defaults, "defaults") }

// Load reads the *.yaml files of each layer. A later layer adds declarations, or replaces
// those of the same name; within a layer a name stands once. Every mistake is reported, with file and
// line, in one Invalid error.
func Load(layers ...fs.FS) (*Registry, error) {
	l := newLoader()
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
func Build(sources []declare.Source) (*Registry, []declare.Mistake, error) {
	l := newLoader()
	if err := l.Files(l.file, Defaults()); err != nil {
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

// loader collects declarations and mistakes, then resolves names into pointers.
type loader struct {
	declare.Reader

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

type (
	schemaDecl struct {
		*Schema
		indexes []indexDecl
		at      declare.Position
	}
	facetDecl struct {
		*Facet
		schemas []declare.Name
		at      declare.Position
	}
	lifeCycleDecl struct {
		*LifeCycle
		at declare.Position
	}
	typeDecl struct {
		*Type
		parent, lifeCycle         declare.Name
		schemas, facets, subTypes []declare.Name
		prefetch, containers      []declare.Name
		indexes                   []indexDecl
		at                        declare.Position
		done, busy                bool
	}
)

// resolve turns the declarations into a registry.
// The order is that of dependence: schemas, facets (which name schemas), types (which name both and
// their parents), then what may name any of them. Names are sorted so that mistakes come in the
// same order at each start. The maps are filled here for the last time, which is why a Registry
// needs no lock.
func (l *loader) resolve() *Registry {
	r := &Registry{
		types: map[string]*Type{}, schemas: map[string]*Schema{}, facets: map[string]*Facet{},
		lifeCycles: map[string]*LifeCycle{}, under: map[string][]string{}, fields: l.keys,
	}
	spaces := map[string]string{}
	for _, n := range slices.Sorted(maps.Keys(l.schemas)) {
		d := l.schemas[n]
		if other, taken := spaces[d.Space()]; taken {
			l.Fail(d.at, "schema %s: prefix %s is taken by schema %s", n, d.Space(), other)
		}
		spaces[d.Space()] = n
		d.layer = d.at.Layer
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
	l.resolveContainers(r)
	for _, t := range r.typeList {
		// The count ends the walk if a type is its own ancestor, which has been reported but not
		// removed.
		for up, steps := l.types[t.Parent], 0; up != nil && steps < len(l.types); up, steps = l.types[up.Parent], steps+1 {
			r.under[up.Name] = append(r.under[up.Name], t.Name)
		}
	}
	for _, names := range r.under {
		slices.Sort(names)
	}
	for _, s := range r.schemaList {
		s.Indexes = l.resolveIndexes(r, l.schemas[s.Name].indexes, []*Schema{s}, "schema "+s.Name)
	}
	for _, t := range r.typeList {
		t.Indexes = l.resolveIndexes(r, l.types[t.Name].indexes, t.Schemas, "type "+t.Name)
	}
	l.resolveVersioning(r)
	l.resolveMetadata(r)
	return r
}

// resolveContainers has the types offer inside what others say of themselves, so that a new type needs no change of the folders.
func (l *loader) resolveContainers(r *Registry) {
	for _, t := range r.typeList {
		for _, n := range l.types[t.Name].containers {
			folder, ok := l.types[n.Text]
			switch {
			case !ok:
				l.Unknown("type "+t.Name, "type", n, maps.Keys(l.types))
			case !slices.Contains(folder.SubTypes, t.Name):
				folder.SubTypes = append(folder.SubTypes, t.Name)
			}
		}
	}
}

func (l *loader) schemasOf(have []*Schema, names []declare.Name, subject string) []*Schema {
	out := slices.Clip(have)
	for _, n := range names {
		d, ok := l.schemas[n.Text]
		switch {
		case !ok:
			l.Unknown(subject, "schema", n, maps.Keys(l.schemas))
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
		l.Fail(d.at, "%s: is its own ancestor", subject)
		return
	}
	d.busy = true
	if d.parent.Text != "" {
		parent, ok := l.types[d.parent.Text]
		if !ok {
			l.Unknown(subject, "type", d.parent, maps.Keys(l.types))
		} else {
			l.resolveType(parent)
			d.inherit(parent)
		}
	}
	d.Schemas = l.schemasOf(d.Schemas, d.schemas, subject)
	for _, n := range d.facets {
		f, ok := l.facets[n.Text]
		if !ok {
			l.Unknown(subject, "facet", n, maps.Keys(l.facets))
			continue
		}
		if !slices.Contains(d.Facets, n.Text) {
			d.Facets = append(slices.Clip(d.Facets), n.Text)
		}
		d.Schemas = l.schemasOf(d.Schemas, f.schemas, subject)
	}
	for _, n := range d.subTypes {
		if _, ok := l.types[n.Text]; !ok {
			l.Unknown(subject, "type", n, maps.Keys(l.types))
		}
		d.SubTypes = append(d.SubTypes, n.Text)
	}
	for _, n := range d.prefetch {
		if l.keys[n.Text] == nil {
			l.Unknown(subject, "property", n, maps.Keys(l.keys))
		}
		d.Prefetch = append(d.Prefetch, n.Text)
	}
	if d.lifeCycle.Text != "" {
		c, ok := l.lifeCycles[d.lifeCycle.Text]
		if !ok {
			l.Unknown(subject, "life cycle", d.lifeCycle, maps.Keys(l.lifeCycles))
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
