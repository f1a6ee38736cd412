package storage

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/schema"
)

// fieldRef is where a field with a given key is.
type fieldRef struct {
	schema *schema.Schema
	index  int
}

// field finds the block and position of a top-level property by its exact key; the block
// is nil if the document does not have it.
func (d *Doc) field(key string) (*block, int) {
	ref, ok := d.repo.fields[key]
	if !ok {
		return nil, 0
	}
	for i := range d.blocks {
		if d.blocks[i].shape.Schema == ref.schema {
			return &d.blocks[i], ref.index
		}
	}
	return nil, 0
}

// locate finds what an xpath leads to: the block and position of the property, and the rest
// of the path inside it.
func (d *Doc) locate(xpath string) (*block, int, schema.Path, error) {
	if b, i := d.field(xpath); b != nil {
		return b, i, schema.Path{}, nil
	}
	if _, declared := d.repo.fields[xpath]; declared {
		return nil, 0, schema.Path{}, d.without(xpath)
	}
	p, err := schema.ParsePath(xpath)
	if err != nil {
		return nil, 0, p, err
	}
	f, rest, err := schema.Find(d.Schemas(), p)
	if err != nil {
		return nil, 0, p, err
	}
	b, i := d.field(f.Key)
	if b == nil {
		return nil, 0, p, d.without(xpath)
	}
	return b, i, rest, nil
}

// without is the error of a property that other documents have.
func (d *Doc) without(xpath string) error {
	return fault.Invalid.Errorf("property %s: documents of type %s do not have it", xpath, d.typ.Name).In(xpath)
}

// Get returns a property, or a part of one, by xpath; nil if it is not set. What it returns is
// not to be changed.
func (d *Doc) Get(xpath string) (any, error) {
	b, i, rest, err := d.locate(xpath)
	if err != nil {
		return nil, err
	}
	v, err := b.get(d.repo, i)
	if err != nil || rest.Empty() {
		return v, err
	}
	return schema.GetIn(v, rest)
}

// Prop returns a property of the kind T, the zero value if there is none.
func Prop[T any](d *Doc, xpath string) T {
	v, _ := d.Get(xpath)
	t, _ := v.(T)
	return t
}

// Set changes a property, or a part of one, in memory. The value is converted to the property's
// type if it can be; nil clears.
func (d *Doc) Set(xpath string, v any) error {
	b, i, rest, err := d.locate(xpath)
	if err != nil {
		return err
	}
	f := b.shape.Fields[i]
	if rest.Empty() {
		v, err = f.Coerce(v)
	} else {
		old, oldErr := b.get(d.repo, i)
		if oldErr != nil {
			return oldErr
		}
		v, err = schema.SetIn(f, old, rest, v)
	}
	if err == nil {
		b.set(i, v)
	}
	return err
}

// Remove clears a property or cuts an item out of a list, in memory.
func (d *Doc) Remove(xpath string) error {
	b, i, rest, err := d.locate(xpath)
	if err != nil {
		return err
	}
	old, err := b.get(d.repo, i)
	if err != nil {
		return err
	}
	v, err := schema.RemoveIn(b.shape.Fields[i], old, rest)
	if err == nil {
		b.set(i, v)
	}
	return err
}

// setAll sets several properties in the order of their xpaths.
func (d *Doc) setAll(p Props) error {
	for _, xpath := range slices.Sorted(maps.Keys(p)) {
		if err := d.Set(xpath, p[xpath]); err != nil {
			return err
		}
	}
	return nil
}

// text returns a text property, "" if it is missing or not set.
func (d *Doc) text(key string) string {
	if b, i := d.field(key); b != nil {
		if v, err := b.get(d.repo, i); err == nil {
			s, _ := v.(string)
			return s
		}
	}
	return ""
}

// Blob returns the file at an xpath, nil if none is set.
func (d *Doc) Blob(xpath string) (*Blob, error) {
	v, err := d.Get(xpath)
	if err != nil || v == nil {
		return nil, err
	}
	b, ok := v.(*blob.Blob)
	if !ok {
		return nil, fault.Invalid.Errorf("property %s: not a file", xpath).In(xpath)
	}
	return b, nil
}

// MainBlob returns file:content, else the note's text as a file, else nil.
func (d *Doc) MainBlob() (*Blob, error) {
	if b, i := d.field("file:content"); b != nil {
		v, err := b.get(d.repo, i)
		file, _ := v.(*blob.Blob)
		if err != nil || file != nil {
			return file, err
		}
	}
	if b, i := d.field("note:note"); b != nil {
		v, err := b.get(d.repo, i)
		text, written := v.(string) // a text that is empty is a file that is
		if err != nil || !written {
			return nil, err
		}
		typ := d.text("note:mime_type")
		if typ == "" {
			typ = "text/plain"
		}
		return blob.FromBytes(NoteName(d.Title(), typ), typ, []byte(text)), nil
	}
	return nil, nil
}

// IsNote reports whether the document holds a text of its own, which may be empty.
func (d *Doc) IsNote() bool {
	b, _ := d.field("note:note")
	return b != nil
}

// NoteTitles returns the titles of which NoteName may have made a name.
func NoteTitles(name string) []string {
	titles := []string{name}
	if end := path.Ext(name); end == plainEnding || slices.Contains(slices.Collect(maps.Values(noteEndings)), end) {
		titles = append(titles, strings.TrimSuffix(name, end))
	}
	return titles
}

// noteEndings are the endings of names of notes by their types; those of any other type have plainEnding.
var noteEndings = map[string]string{
	"text/html": ".html", "application/xhtml+xml": ".html", "text/markdown": ".md", "text/x-web-markdown": ".md",
	"text/xml": ".xml", "application/xml": ".xml",
}

const plainEnding = ".txt"

// NoteName is the name of the text of a note as a file: its title, which gets an ending unless it has one of the type.
func NoteName(title, typ string) string {
	named, _ := blob.TypeOf(title, "", nil)
	if typ, _ = blob.TypeOf("", typ, nil); named == typ {
		return title
	}
	return title + cmp.Or(noteEndings[typ], plainEnding)
}

// AllBlobs returns the document's files: the main one first, then those of files:files.
func (d *Doc) AllBlobs() (Blobs, error) {
	var out Blobs
	main, err := d.MainBlob()
	if err != nil {
		return nil, err
	}
	if main != nil {
		out = append(out, main)
	}
	b, i := d.field("files:files")
	if b == nil {
		return out, nil
	}
	v, err := b.get(d.repo, i)
	if err != nil {
		return nil, err
	}
	err = b.shape.Fields[i].EachBlob(v, func(_ string, b *blob.Blob) error {
		out = append(out, b)
		return nil
	})
	return out, err
}

// eachBlob calls fn with every file among the properties.
func (d *Doc) eachBlob(fn func(b *blob.Blob) error) error {
	return d.eachFile(func(_ string, b *blob.Blob) error { return fn(b) })
}

// eachFile calls fn with every file among the properties and its xpath.
func (d *Doc) eachFile(fn func(xpath string, b *blob.Blob) error) error {
	for i := range d.blocks {
		b := &d.blocks[i]
		if !b.blobs && !b.dirty() {
			continue
		}
		for j, f := range b.shape.Fields {
			if !b.shape.blobs[j] {
				continue
			}
			v, err := b.get(d.repo, j)
			if err == nil && v != nil {
				err = f.EachBlob(v, fn)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// AppendProperties appends the members `"dc:title":…` of the schemas wanted (nil: all), with commas
// between them and none at either end. Stored JSON is copied when nothing more is said of files.
func (d *Doc) AppendProperties(dst []byte, want func(schema string) bool, more schema.BlobFunc) []byte {
	start := len(dst)
	for i := range d.blocks {
		b := &d.blocks[i]
		if want != nil && !want(b.shape.Name) || len(b.shape.Fields) == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = b.appendJSON(d.repo, dst, more)
	}
	return dst
}

// AppendProperty appends the JSON of a top-level property that has one value of a kind, as AppendProperties writes it. It is
// not ok, and nothing is appended, if the document has no such property, or it is not set.
func (d *Doc) AppendProperty(dst []byte, key string, kind schema.Kind) (_ []byte, ok bool) {
	b, i := d.field(key)
	if b == nil {
		return dst, false
	}
	f := b.shape.Fields[i]
	switch {
	case f.Kind != kind || f.List:
		return dst, false
	case b.same && !b.isDirty(i):
		if !b.isSet(i) {
			return dst, false
		}
		raw := b.find(i)
		if raw == nil || isUnset(raw) {
			return dst, false
		}
		return append(dst, raw...), true
	}
	v, err := b.get(d.repo, i)
	if err != nil || v == nil {
		return dst, false
	}
	return f.AppendJSON(dst, v, nil), true
}

// AppendTitle appends Title as JSON.
func (d *Doc) AppendTitle(dst []byte) []byte {
	start := len(dst)
	dst, ok := d.AppendProperty(dst, "dc:title", schema.String)
	if ok && string(dst[start:]) != `""` {
		return dst
	}
	return schema.AppendString(dst[:start], d.name)
}

// Stored returns a top-level property as it was stored, whatever was set on d since.
func (d *Doc) Stored(key string) (any, error) {
	b, i := d.field(key)
	if b == nil {
		return nil, nil
	}
	raw := b.member(i)
	if raw == nil || isUnset(raw) {
		return nil, nil
	}
	v, err := b.shape.Fields[i].ParseJSON(raw)
	if err == nil && b.shape.blobs[i] {
		v = d.repo.loadBlobs(v)
	}
	return v, err
}
