package schema

import (
	"maps"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
)

// MetadataMapping says which properties a document takes from the metadata of one of its files.
type MetadataMapping struct {
	Name       string
	Blob       string            // xpath of the file
	Properties map[string]string // name of the metadata, with or without its group, by xpath
}

// Metadata returns the mapping called name.
func (r *Registry) Metadata(name string) (*MetadataMapping, bool) {
	m, ok := r.metadata[name]
	return m, ok
}

type metadataDecl struct {
	*MetadataMapping
	at         declare.Position
	properties []declare.Name
}

func (l *loader) metadataMapping(key, n *yaml.Node) {
	d := &metadataDecl{MetadataMapping: &MetadataMapping{Name: key.Value, Blob: "file:content", Properties: map[string]string{}}, at: l.At(key)}
	l.Each(n, declare.Keys{
		"blob": l.Text(&d.Blob),
		"properties": func(n *yaml.Node) {
			l.Pairs(n, func(key, value *yaml.Node) {
				text := ""
				l.Text(&text)(value)
				d.Properties[key.Value] = text
				d.properties = append(d.properties, declare.Name{Text: key.Value, At: l.At(key)})
			})
		},
	})
	declare.Put(&l.Reader, l.metadata, key, func(d *metadataDecl) declare.Position { return d.at }, d)
}

// resolveMetadata checks the properties that mappings name.
func (l *loader) resolveMetadata(r *Registry) {
	r.metadata = map[string]*MetadataMapping{}
	for name, d := range l.metadata {
		for _, p := range d.properties {
			if l.keys[p.Text] == nil {
				l.Unknown("metadata "+name, "property", p, maps.Keys(l.keys))
			}
		}
		r.metadata[name] = d.MetadataMapping
	}
}
