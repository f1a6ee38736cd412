package schema

import (
	"go.yaml.in/yaml/v3"
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
	at         place
	properties []name
}

func (l *loader) metadataMapping(key, n *yaml.Node) {
	d := &metadataDecl{MetadataMapping: &MetadataMapping{Name: key.Value, Blob: "file:content", Properties: map[string]string{}}, at: l.at(key)}
	l.each(n, keys{
		"blob": l.text(&d.Blob),
		"properties": func(n *yaml.Node) {
			l.pairs(n, func(key, value *yaml.Node) {
				text := ""
				l.text(&text)(value)
				d.Properties[key.Value] = text
				d.properties = append(d.properties, name{key.Value, l.at(key)})
			})
		},
	})
	put(l, l.metadata, key, func(d *metadataDecl) place { return d.at }, d)
}

// resolveMetadata checks the properties that mappings name.
func (l *loader) resolveMetadata(r *Registry) {
	r.metadata = map[string]*MetadataMapping{}
	for name, d := range l.metadata {
		for _, p := range d.properties {
			if l.keys[p.text] == nil {
				l.fail(p.at, "metadata %s: no property %s", name, p.text)
			}
		}
		r.metadata[name] = d.MetadataMapping
	}
}
