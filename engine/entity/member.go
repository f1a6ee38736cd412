package entity

import (
	"slices"
	"strconv"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/schema"
	"catena/storage/search"
)

// maxCollections bounds the collections told of one document.
const maxCollections = 100

// textsAt are the texts of a property that is a list of texts; none if the document has no such property.
func textsAt(d *storage.Doc, xpath string) []string {
	v, err := d.Get(xpath)
	if err != nil {
		return nil
	}
	all, _ := v.([]any)
	out := make([]string, 0, len(all))
	for _, item := range all {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// withCollections appends the collections a document is in that the caller may read.
func (w *writer) withCollections(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	dst = append(dst, '[')
	n := 0
	for _, id := range textsAt(d, "collectionMember:collectionIds") {
		c, err := w.c.Tx.Doc(storage.Ref(id))
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) || err == nil && (c.IsTrashed() || c.Type().Name == "Favorites") {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Counted after those that the caller may not read, so the number reveals nothing about
		// them.
		if n++; n > maxCollections {
			break
		}
		if n > 1 {
			dst = append(dst, ',')
		}
		if dst, err = w.document(dst, c, level+1); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// collectionsAhead gathers the collections a document is in.
func collectionsAhead(a *storage.Reads, d *storage.Doc) {
	ids := textsAt(d, "collectionMember:collectionIds")
	for _, id := range ids[:min(len(ids), maxCollections)] {
		a.Doc(id)
	}
}

// withFavorites tells whether a document is among the caller's favorites.
func (w *writer) withFavorites(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	if !w.favored {
		w.favored = true
		home, err := people.Home(w.c.Tx, false)
		if err == nil && home != nil {
			var f *storage.Doc
			if f, err = w.c.Tx.Child(home, "Favorites"); err == nil {
				w.favorites = f.ID()
			}
		}
		if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
			return nil, err
		}
	}
	is := w.favorites != "" && slices.Contains(textsAt(d, "collectionMember:collectionIds"), w.favorites)
	return append(strconv.AppendBool(append(dst, `{"isFavorite":`...), is), '}'), nil
}

// withTags appends the tags of a document, in the order they were put on.
func (w *writer) withTags(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	v, err := d.Get("nxtag:tags")
	if err != nil {
		return append(dst, "[]"...), nil //nolint:nilerr // a type without tags has none
	}
	all, _ := v.([]any)
	labels := make([]string, 0, len(all))
	for _, item := range all {
		m, _ := item.(map[string]any)
		if s, ok := m["label"].(string); ok {
			labels = append(labels, s)
		}
	}
	return texts(dst, labels), nil
}

// visible are the permissions that a user interface offers to give.
var visible = []string{"Read", "ReadWrite", "Everything"}

// withVisible appends the permissions a user interface offers for a document.
func (w *writer) withVisible(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	offered := visible
	if d.Type().Name == "Section" || d.Type().Name == "SectionRoot" {
		offered = append([]string{"CanAskForPublishing"}, visible...)
	}
	return texts(dst, offered), nil
}

// withHighlight appends where a document of a page has what the page's search was for.
func (w *writer) withHighlight(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	var found []search.Highlight
	if w.on != nil {
		var err error
		if found, err = search.Highlights(w.c.Tx, w.on, d); err != nil {
			return nil, err
		}
	}
	dst = append(dst, '[')
	for i, h := range found {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(append(dst, `{"field":`...), h.Field)
		dst = append(texts(append(dst, `,"segments":`...), h.Segments), '}')
	}
	return append(dst, ']'), nil
}
