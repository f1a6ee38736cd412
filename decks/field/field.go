// Package field is the table of a deck's fields. What callers may write, what each revision of
// the service returns, its OpenAPI description, the tools for models and the pages are made
// from it; reading and writing the fields is left to package deck.
//
// A new field is a row of the table in table.go, and a property of the schema in storage/schema if it is
// stored. A row says the type, the bounds, the revisions that have the field, where it is stored, and by
// which way it may be written: when the deck is created, directly, or with its appearance. Nothing else has a
// list of fields, apart from render.Deck, whose struct tags name those that rendering needs.
package field

import (
	"slices"
	"strings"

	"catena/storage/lazy"
)

// Revision is a set of revisions of the service. Callers who name none get both.
type Revision uint8

// The revisions.
const (
	A Revision = 1 << iota
	B
	Both = A | B
)

// Type is the type of a field's values.
type Type string

// The types, as package openapi spells them.
const (
	Text    Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
	Object  Type = "object"
	Address Type = "address"
	Moment  Type = "moment"
)

// JSON is the name that JSON Schema has for the type.
func (t Type) JSON() string {
	if t == Address || t == Moment {
		return string(Text)
	}
	return string(t)
}

// Word is the name that operations have for the type.
func (t Type) Word() string {
	switch t {
	case Integer:
		return "long"
	case Number:
		return "double"
	case Object:
		return "map"
	case Text, Boolean, Address, Moment:
	}
	return t.JSON()
}

// Write says how a field is written.
type Write uint8

// The ways to write a field.
const (
	ReadOnly   Write = iota // never, by callers
	Direct                  // as a field of the service
	Appearance              // as a part of how the deck looks, with the editor
)

// Field is one field of a deck.
type Field struct {
	Name      string
	Doc       string   // of a field that callers write
	Aliases   []string // other names of the parameter
	Type      Type
	In        Revision // the revisions that return it
	Summary   bool     // also in lists
	Card      bool     // also on pages that show many decks
	XPath     string   // property that holds it; "" if package deck computes it
	EmptyText bool     // without a value it is "", not null
	HTML      bool     // holds the slides, under the name of its revision: only B always returns them

	Write    Write
	New      any               // of a deck that is created without a value; else the schema's default
	Values   []string          // the only ones
	Synonyms map[string]string // values of imported presentations, and what they become
	Option   string            // option of reveal.js that it sets

	MinLength, MaxLength int  // characters of a text; 0: any
	Line                 bool // a text without control characters
	Tag                  bool // a text that is a language tag (BCP 47)
	Origins              bool // a text that lists web origins, with blanks between them, or is "*"
	Min, Max             *float64
}

// Table is a table of fields.
type Table []Field

// Find returns the field of a name, nil if there is none.
func (t Table) Find(name string) *Field {
	for i := range t {
		if t[i].Name == name {
			return &t[i]
		}
	}
	return nil
}

// Of returns the fields that are written in a way.
func (t Table) Of(w Write) (out []*Field) {
	for i := range t {
		if t[i].Write == w {
			out = append(out, &t[i])
		}
	}
	return out
}

// Names lists the names of fields.
func Names(fields []*Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// Params are the names of the fields that operations take as parameters of their own: not those that only
// another revision calls so.
func (t Table) Params() []string {
	var out []string
	for _, f := range t.Of(Direct) {
		if f.Doc != "" {
			out = append(out, f.Name)
		}
	}
	return out
}

// Edited lists the fields that the editor writes in a way, with blanks between them. It writes the slides itself.
func (t Table) Edited(w Write) string {
	var out []string
	for _, f := range t.Of(w) {
		if !f.HTML {
			out = append(out, f.Name)
		}
	}
	return strings.Join(out, " ")
}

// Spelled lists the fields of a revision as "name:type" with blanks between them, for package openapi. The slides
// are not among them.
func (t Table) Spelled(in Revision, summary bool) string {
	return t.spelled(in, summary, func(f *Field) Type { return f.Type })
}

// JSON lists the fields as Spelled does, with the types of JSON Schema, and the slides where a revision always returns them.
func (t Table) JSON(in Revision, summary bool) string {
	text := t.spelled(in, summary, func(f *Field) Type { return Type(f.Type.JSON()) })
	for i := range t {
		if f := &t[i]; f.HTML && f.In&in&B != 0 && !summary {
			text += " " + f.Name + ":" + f.Type.JSON()
		}
	}
	return text
}

func (t Table) spelled(in Revision, summary bool, typ func(*Field) Type) string {
	var out []string
	for i := range t {
		if f := &t[i]; f.In&in != 0 && !f.HTML && (f.Summary || !summary) {
			out = append(out, f.Name+":"+string(typ(f)))
		}
	}
	return strings.Join(out, " ")
}

// Known reports whether a text is a value of the field.
func (f *Field) Known(s string) bool {
	if f.Tag {
		return s != "" && len(s) <= maxTag && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	}
	return f.Values == nil || slices.Contains(f.Values, s)
}

const maxTag = 35 // characters of a language tag

// origin is a web origin as policies of pages name it; *. stands for any name below a domain.
var origin = lazy.Regexp(`^https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$`)

// ParseOrigins reads a list of web origins. It returns the first item that is none.
func ParseOrigins(s string) (all []string, wrong string) {
	if s = strings.TrimSpace(s); s == "*" {
		return []string{s}, ""
	}
	for item := range strings.FieldsSeq(strings.ToLower(s)) {
		if !origin().MatchString(item) {
			return nil, item
		}
		all = append(all, item)
	}
	return all, ""
}

func bound(n float64) *float64 { return &n }
