package search

import (
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/query"
	"catena/storage/schema"
	"catena/storage/text"
)

// Highlight is a field of a document with pieces of it in which what a search found is marked,
// as HTML.
type Highlight struct {
	Field    string   `json:"field"`
	Segments []string `json:"segments"`
}

// Names of what is highlighted that is no property.
const (
	allText  = "ecm:fulltext"   // every property that full text finds, and files
	fileText = "ecm:binarytext" // the text of files
)

// sought is what the query of a page looks for with full text: in any field, or in one.
type sought struct {
	phrases []text.Phrase
	of      map[string][]text.Phrase
}

// Highlights returns the marked pieces of the page's Highlight fields in d, a document of the
// page; fields in which nothing is marked are left out.
func Highlights(t *storage.Tx, p *storage.Page, d *storage.Doc) ([]Highlight, error) {
	from, _ := p.Query.(*given)
	if from == nil || len(p.Highlight) == 0 {
		return nil, nil
	}
	if from.sought == nil {
		q, err := plannerOf(t).prepare(from.text, from.options)
		if err != nil {
			return nil, err
		}
		from.sought = &sought{of: map[string][]text.Phrase{}}
		query.Walk(q.Where, from.sought.take)
	}
	h := highlighter{t: t, d: d, s: from.sought}
	language, err := t.Internal(row.Ordered{}).Value(d, "dc:language")
	if err != nil {
		return nil, err
	}
	h.language, _ = language.(string)
	for _, name := range p.Highlight {
		if err := h.field(name); err != nil {
			return nil, err
		}
	}
	return h.out, nil
}

// take notes the phrases of a full-text condition.
func (s *sought) take(p *query.Predicate) {
	for _, alternative := range p.Search() {
		for _, term := range alternative {
			if term.Not {
				continue
			}
			phrase := text.Phrase{Words: term.Phrase, Prefix: term.Prefix}
			if p.Field.Prop == nil {
				s.phrases = append(s.phrases, phrase)
			} else {
				s.of[p.Field.Prop.Key] = append(s.of[p.Field.Prop.Key], phrase)
			}
		}
	}
}

// Marked returns pieces of a text in which words that begin as a term does are marked, as HTML;
// nil if there are none.
func Marked(s, term string) []string {
	return text.Segments(s, text.Find("", s, []text.Phrase{{Words: term, Prefix: true}}))
}

type highlighter struct {
	t        *storage.Tx
	d        *storage.Doc
	s        *sought
	language string
	out      []Highlight
}

// field highlights one field by name: a property, perhaps with ".fulltext" behind it, all that
// full text finds, or files.
func (h *highlighter) field(name string) error {
	switch name {
	case allText:
		for _, s := range h.d.Schemas() {
			for _, f := range s.Fields {
				if !f.Search {
					continue
				}
				if err := h.property(f.Key, f.Key); err != nil {
					return err
				}
			}
		}
		return h.files(fileText)
	case fileText:
		return h.files(name)
	}
	return h.property(name, strings.TrimSuffix(name, ".fulltext"))
}

// property highlights a property of text; others have nothing to mark.
func (h *highlighter) property(name, key string) error {
	if f, err := h.d.FieldAt(key); err != nil || f.Kind != schema.String || f.Key != key {
		return nil //nolint:nilerr // the document does not have it
	}
	v, err := h.t.Internal(row.Ordered{}).Text(h.d, key)
	if err != nil {
		return err
	}
	phrases := slices.Concat(h.s.of[key], h.s.phrases)
	text.Each(v, func(v any) {
		s, _ := v.(string)
		h.add(name, s, phrases)
	})
	return nil
}

func (h *highlighter) files(name string) error {
	return h.t.Internal(row.Ordered{}).EachFile(h.d, func(_ string, c *blob.Blob) error {
		found, err := h.t.Internal(row.Ordered{}).KV().Get(layout.TextKey(c.Digest))
		h.add(name, string(found), h.s.phrases)
		return err
	})
}

// add marks the phrases in a text of a field.
func (h *highlighter) add(name, s string, phrases []text.Phrase) {
	if s == "" || len(phrases) == 0 {
		return
	}
	segments := text.Segments(s, text.Find(h.language, s, phrases))
	if len(segments) == 0 {
		return
	}
	for i := range h.out {
		if h.out[i].Field == name {
			for _, s := range segments {
				if !slices.Contains(h.out[i].Segments, s) { // a field may be asked for by several names
					h.out[i].Segments = append(h.out[i].Segments, s)
				}
			}
			return
		}
	}
	h.out = append(h.out, Highlight{name, segments})
}
