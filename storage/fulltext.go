package storage

import (
	"context"
	"strings"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/schema"
	"catena/storage/text"
)

// Full text finds documents by rows "w 1 term id", which are written behind the transactions that
// change documents: such a transaction leaves rows "w 3 number" that list these, and anyone who brings the terms
// up to date takes them away (backlog.go). A search reads the documents of these rows itself, as long as they
// are few, so that it sees what its transaction sees.

// textTopic wakes the one who writes terms.
const textTopic = "text"

// reindexText has the terms of d brought up to date.
func (t *Tx) reindexText(d *Doc) error {
	t.kv.Wake(textTopic)
	return t.mark(d.id)
}

// textChanged reports whether something was set that full text finds.
func (d *Doc) textChanged() bool {
	for i := range d.blocks {
		b := &d.blocks[i]
		if b.opened == nil {
			continue
		}
		for j := range b.vals {
			if f := b.shape.Fields[j]; b.vals[j].dirty && (f.Search || f.Kind == schema.Blob || f.Kind == schema.Complex || f.Key == languageKey) {
				return true
			}
		}
	}
	return d.facetsSet
}

const languageKey = "dc:language"

// maxText is how much text of one document is looked at, in bytes.
const maxText = 1 << 20

// textOf returns the words of a document, or those of one property.
func (t *Tx) textOf(d *Doc, only *schema.Field) (*text.Text, error) {
	language, err := d.value(languageKey)
	if err != nil {
		return nil, err
	}
	code, _ := language.(string)
	var b strings.Builder
	add := func(v any) {
		if s, ok := v.(string); ok && b.Len() < maxText {
			b.WriteString(s[:min(len(s), maxText-b.Len())])
			b.WriteByte('\n')
		}
	}
	if only != nil {
		v, err := d.value(only.Key)
		text.Each(v, add)
		return text.Analyse(code, b.String()), err
	}
	if d.HasFacet("NotFulltextIndexable") {
		return text.Analyse(code, ""), nil
	}
	add(d.name)
	for i := range d.blocks {
		block := &d.blocks[i]
		for j, f := range block.shape.Fields {
			if !f.Search {
				continue
			}
			v, err := block.get(d.repo, j)
			if err != nil {
				return nil, err
			}
			if f.Key == noteKey {
				v = t.note(d, v)
			}
			text.Each(v, add)
		}
	}
	if err := d.eachTag(add); err != nil {
		return nil, err
	}
	err = d.eachBlob(func(c *blob.Blob) error {
		found, err := t.kv.Get(layout.TextKey(c.Digest))
		add(string(found))
		return err
	})
	return text.Analyse(code, b.String()), err
}

// Properties with texts of their own: a note, and the tags of a document with who has put them there.
const (
	noteKey = "note:note"
	tagsKey = "nxtag:tags"
)

// eachTag calls fn with each tag of a document.
func (d *Doc) eachTag(fn func(any)) error {
	v, err := d.value(tagsKey)
	text.Each(v, func(v any) {
		if tag, ok := v.(map[string]any); ok {
			fn(tag["label"])
		}
	})
	return err
}

// note takes the marks of HTML off a note.
func (t *Tx) note(d *Doc, v any) any {
	s, ok := v.(string)
	kind, err := d.value("note:mime_type")
	if ok && err == nil && kind == "text/html" {
		return text.HTML(s)
	}
	return v
}

// KeepText says what full text finds a file by, where the one who made the file knows that better
// than the one who reads files: decks leave the speaker notes out.
func KeepText(t *Tx, b *Blob, found string) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if len(found) > maxText {
		return fault.Limit.Errorf("text of %s: %d bytes, limit %d", b.Name, len(found), maxText)
	}
	return t.kv.Set(layout.TextKey(b.Digest), append([]byte("\n"), found...))
}

// TextIn returns the text in a file, as much of it as full text looks at; "" for a file of a
// kind that has none.
func (r *Repo) TextIn(ctx context.Context, b *Blob) (string, error) {
	switch {
	case b == nil || !text.Readable(b.Type, b.Name):
		return "", nil
	case text.IsPDF(b.Type, b.Name):
		return r.pdfText(ctx, b)
	}
	f, err := b.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return text.Read(f, b.Size, b.Type, b.Name)
}
