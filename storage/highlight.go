package storage

import (
	"slices"
	"strings"

	"catena/storage/blob"
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
func (t *Tx) Highlights(p *Page, d *Doc) ([]Highlight, error) {
	if p.query == "" || len(p.Highlight) == 0 {
		return nil, nil
	}
	if p.sought == nil {
		q, err := t.prepare(p.query, p.options)
		if err != nil {
			return nil, err
		}
		p.sought = &sought{of: map[string][]text.Phrase{}}
		query.Walk(q.Where, p.sought.take)
	}
	h := highlighter{t: t, d: d, s: p.sought}
	language, err := d.value(languageKey)
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
	t        *Tx
	d        *Doc
	s        *sought
	language string
	out      []Highlight
}

// field highlights one field by name: a property, perhaps with ".fulltext" behind it, all that
// full text finds, or files.
func (h *highlighter) field(name string) error {
	switch name {
	case allText:
		for i := range h.d.blocks {
			for _, f := range h.d.blocks[i].shape.Fields {
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
	b, i := h.d.field(key)
	if b == nil || b.shape.Fields[i].Kind != schema.String {
		return nil
	}
	v, err := b.get(h.d.repo, i)
	if err != nil {
		return err
	}
	if key == noteKey {
		v = h.t.note(h.d, v)
	}
	phrases := slices.Concat(h.s.of[key], h.s.phrases)
	eachText(v, func(v any) {
		s, _ := v.(string)
		h.add(name, s, phrases)
	})
	return nil
}

func (h *highlighter) files(name string) error {
	return h.d.eachBlob(func(c *blob.Blob) error {
		found, err := h.t.kv.Get(contentKey(c.Digest))
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
