package storage

import (
	"strconv"
	"strings"

	"catena/storage/fault"
	"catena/storage/schema"
)

// MaxNoteText bounds the text a note takes as its main file.
const MaxNoteText = 1 << 20

// NoteHolds reports whether a note has room for a text: it is kept as JSON, which may be longer, beside its type.
func NoteHolds(text string) bool {
	const rest = 1 << 10
	return len(text) <= MaxNoteText && len(schema.AppendString(nil, text)) <= maxBlock-rest
}

// FileXpath returns the xpath of a file: blobholder:0 is the document's main file,
// blobholder:1 the first of its further ones; anything else is an xpath already.
func (d *Doc) FileXpath(xpath string) (string, error) {
	number, ok := strings.CutPrefix(xpath, "blobholder:")
	if !ok {
		return xpath, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return "", fault.NotFound.Errorf("%s", xpath)
	}
	if n > 0 {
		return "files:files/" + strconv.Itoa(n-1) + "/file", nil
	}
	for _, s := range d.Schemas() {
		if s.Name == "note" {
			return "note:note", nil
		}
	}
	return "file:content", nil
}

// BlobAt returns the file at an xpath or at blobholder:0, blobholder:1, …; nil when empty.
func (d *Doc) BlobAt(xpath string) (*Blob, error) {
	property, err := d.FileXpath(xpath)
	if err != nil {
		return nil, err
	}
	if property == "note:note" {
		return d.MainBlob()
	}
	return d.Blob(property)
}

// AttachBlob puts a file at an xpath. A list gets it appended, a complex value or item gets
// it as the part that holds files, the text of a note becomes the file's.
func (d *Doc) AttachBlob(xpath string, b *Blob) error {
	property, err := d.FileXpath(xpath)
	if err != nil {
		return err
	}
	if property == "note:note" && b != nil {
		return d.setNote(b)
	}
	field, err := d.FieldAt(property)
	if err != nil {
		return err
	}
	item := field
	if field.List {
		item = field.Item()
	}
	var value any = b
	switch item.Kind {
	case schema.Blob:
	case schema.Complex:
		part := blobPart(item)
		if part == "" {
			return fault.Invalid.Errorf("property %s: does not hold files", xpath).In(xpath)
		}
		value = map[string]any{part: b}
	case schema.String, schema.Integer, schema.Long, schema.Double, schema.Boolean, schema.Date:
		return fault.Invalid.Errorf("property %s: must be a file, not %s", xpath, field.TypeName()).In(xpath)
	}
	if !field.List {
		return d.Set(property, value)
	}
	old, err := d.Get(property)
	if err != nil {
		return err
	}
	items, _ := old.([]any)
	return d.Set(property, append(append(make([]any, 0, len(items)+1), items...), value))
}

// RemoveBlob removes the file at an xpath: a list is emptied, and an item is removed from its list. The address of a file
// within an item, files:files/0/file or blobholder:1, stays its own: the item is kept without the file, unless it is the
// last of the list, so that no other file appears there.
func (d *Doc) RemoveBlob(xpath string) error {
	property, err := d.FileXpath(xpath)
	if err != nil {
		return err
	}
	item, part, _ := cutLast(property)
	if _, index, ok := cutLast(item); ok && isPosition(index) {
		if field, err := d.FieldAt(item); err == nil && len(field.Fields) == 1 && field.Fields[0].Name == part && d.isLast(item) {
			return d.Remove(item)
		}
	}
	return d.Remove(property)
}

// isLast reports whether an item of a list is its last.
func (d *Doc) isLast(item string) bool {
	list, index, _ := cutLast(item)
	v, err := d.Get(list)
	items, _ := v.([]any)
	n, bad := strconv.Atoi(index)
	return err == nil && bad == nil && n == len(items)-1
}

func (d *Doc) setNote(b *Blob) error {
	text, err := b.Bytes(MaxNoteText)
	if err != nil {
		return err
	}
	if err := d.Set("note:note", string(text)); err != nil {
		return err
	}
	if b.Type == "" {
		return nil
	}
	return d.Set("note:mime_type", b.Type)
}

// FieldAt returns what kind of value the document holds at an xpath.
func (d *Doc) FieldAt(xpath string) (*schema.Field, error) {
	b, i, rest, err := d.locate(xpath)
	if err != nil {
		return nil, err
	}
	return b.shape.Fields[i].Leaf(rest)
}

// blobPart returns the name of the first part of a complex field that is a file.
func blobPart(f *schema.Field) string {
	for _, part := range f.Fields {
		if part.Kind == schema.Blob && !part.List {
			return part.Name
		}
	}
	return ""
}

func cutLast(xpath string) (before, last string, ok bool) {
	i := strings.LastIndexByte(xpath, '/')
	if i < 0 {
		return xpath, "", false
	}
	return xpath[:i], xpath[i+1:], true
}

func isPosition(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}
