package schema

import (
	"cmp"
	"maps"
	glob "path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
)

// MetadataMapping says which properties a document takes from the metadata of one of its files, and gives back to it.
type MetadataMapping struct {
	Name       string
	Processor  string            // what reads and writes the metadata; there is only the server itself
	Blob       string            // xpath of the file
	Properties map[string]string // name of the metadata, with or without its group, by xpath
	Rule       *MetadataRule     // nil: only operations use the mapping
}

// MetadataRule says when a mapping is applied to documents as they are created and changed.
type MetadataRule struct {
	Types     []string // and those that extend them; none: every type
	Facets    []string // all of which the document has
	Files     []string // media types of the file, such as image/*; none: every type
	Order     int      // rules are applied in this order, and then by name
	WriteBack bool     // changed properties go into the file
}

// TakesFile reports whether the rule is for files of a media type.
func (r *MetadataRule) TakesFile(typ string) bool {
	typ, _, _ = strings.Cut(typ, ";")
	return len(r.Files) == 0 || slices.ContainsFunc(r.Files, func(pattern string) bool {
		ok, err := glob.Match(pattern, strings.TrimSpace(typ))
		return ok && err == nil
	})
}

// Metadata returns the mapping called name.
func (r *Registry) Metadata(name string) (*MetadataMapping, bool) {
	m, ok := r.metadata[name]
	return m, ok
}

// MetadataRules are the mappings with rules, in the order in which they are applied. The caller must not change them.
func (r *Registry) MetadataRules() []*MetadataMapping { return r.metadataRules }

type metadataDecl struct {
	*MetadataMapping
	at            declare.Position
	properties    []declare.Name
	types, facets []declare.Name
}

// metadataProcessors are the words for what reads and writes metadata: the server itself, and the program that declarations of
// the platform name, which the server replaces.
var metadataProcessors = []string{"", "native", "exifTool"}

func (l *loader) metadataMapping(key, n *yaml.Node) {
	d := &metadataDecl{MetadataMapping: &MetadataMapping{Name: key.Value, Blob: "file:content", Properties: map[string]string{}}, at: l.At(key)}
	l.Each(n, declare.Keys{
		"apply":     func(n *yaml.Node) { l.metadataRule(d, n) },
		"blob":      l.Text(&d.Blob),
		"processor": l.Text(&d.Processor),
		"properties": func(n *yaml.Node) {
			l.Pairs(n, func(key, value *yaml.Node) {
				text := ""
				l.Text(&text)(value)
				d.Properties[key.Value] = text
				d.properties = append(d.properties, declare.Name{Text: key.Value, At: l.At(key)})
			})
		},
	})
	if !slices.Contains(metadataProcessors, d.Processor) {
		l.Fail(d.at, "metadata %s: processor %q: must be native", d.Name, d.Processor)
	}
	declare.Put(&l.Reader, l.metadata, key, func(d *metadataDecl) declare.Position { return d.at }, d)
}

// metadataRule reads when a mapping is applied.
func (l *loader) metadataRule(d *metadataDecl, n *yaml.Node) {
	d.Rule = &MetadataRule{WriteBack: true}
	l.Each(n, declare.Keys{
		"types": l.Words(&d.types), "facets": l.Words(&d.facets), "files": l.Texts(&d.Rule.Files), "order": l.Count(&d.Rule.Order),
		"writeBack": l.Flag(&d.Rule.WriteBack),
	})
	for _, pattern := range d.Rule.Files {
		if _, err := glob.Match(pattern, ""); err != nil || !strings.Contains(pattern, "/") {
			l.Fail(l.At(n), "metadata %s: files: %q is not a media type such as application/pdf or image/*", d.Name, pattern)
		}
	}
}

// resolveMetadata checks the names in mappings and puts those with rules in order.
func (l *loader) resolveMetadata(r *Registry) {
	r.metadata = map[string]*MetadataMapping{}
	for _, name := range slices.Sorted(maps.Keys(l.metadata)) {
		d := l.metadata[name]
		subject := "metadata " + name
		for _, p := range d.properties {
			if l.keys[p.Text] == nil {
				l.Unknown(subject, "property", p, maps.Keys(l.keys))
			}
		}
		r.metadata[name] = d.MetadataMapping
		if d.Rule == nil {
			continue
		}
		for _, n := range d.types {
			if _, ok := l.types[n.Text]; !ok {
				l.Unknown(subject, "type", n, maps.Keys(l.types))
			}
			d.Rule.Types = append(d.Rule.Types, r.under[n.Text]...)
		}
		for _, n := range d.facets {
			if _, ok := l.facets[n.Text]; !ok {
				l.Unknown(subject, "facet", n, maps.Keys(l.facets))
			}
			d.Rule.Facets = append(d.Rule.Facets, n.Text)
		}
		r.metadataRules = append(r.metadataRules, d.MetadataMapping)
	}
	slices.SortStableFunc(r.metadataRules, func(a, b *MetadataMapping) int { return cmp.Compare(a.Rule.Order, b.Rule.Order) })
}
