package html

import (
	"strings"

	"golang.org/x/net/html"
)

// outline finds the slides, the notes and the text in the tokens of clean HTML.
type outline struct {
	slides int
	open   []bool // sections; whether there is none within
	aside  int    // depth within an aside of notes
	found  []string
	note   strings.Builder
	text   plainText
}

// notes are those of the slides, a blank line between two.
func (o *outline) notes() string { return strings.Join(o.found, "\n\n") }

// endNote ends a note that was gathered.
func (o *outline) endNote() {
	if o.note.Len() == 0 {
		return
	}
	if note := strings.TrimSpace(o.note.String()); note != "" {
		o.found = append(o.found, note)
	}
	o.note.Reset()
}

// read takes in text as it stands in the source; literal text has no references in it.
func (o *outline) read(raw string, literal bool) {
	if o.aside > 0 && strings.IndexByte(raw, '\r') >= 0 {
		raw = newlines.Replace(raw)
	}
	if !literal && strings.IndexByte(raw, '&') >= 0 {
		raw = html.UnescapeString(raw)
	}
	if o.aside > 0 {
		o.note.WriteString(raw)
	} else {
		o.text.add(raw)
	}
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// start takes in a start tag.
func (o *outline) start(name string, attrs []attribute) {
	switch {
	case name == "section":
		if n := len(o.open); n > 0 {
			o.open[n-1] = false
		}
		o.open = append(o.open, true)
		o.note.WriteString(valueOf(attrs, "data-notes"))
		o.endNote()
	case name == "aside":
		if o.aside > 0 || isNotes(attrs) {
			o.aside++
		}
	case o.aside > 0 && (name == "br" || name == "p" || name == "li" || name == "div"):
		o.note.WriteByte('\n')
	}
}

// end takes in an end tag.
func (o *outline) end(name string) {
	switch {
	case name == "section" && len(o.open) > 0:
		last := len(o.open) - 1
		if o.open[last] {
			o.slides++
		}
		o.open, o.aside = o.open[:last], 0
		o.endNote()
	case name == "aside" && o.aside > 0:
		if o.aside--; o.aside == 0 {
			o.endNote()
		}
	}
}

func valueOf(attrs []attribute, name string) string {
	for i := range attrs {
		if attrs[i].name == name {
			return attrs[i].value
		}
	}
	return ""
}

func has(attrs []attribute, name string) bool {
	for i := range attrs {
		if attrs[i].name == name {
			return true
		}
	}
	return false
}

// isNotes reports whether an aside with these attributes holds speaker notes.
func isNotes(attrs []attribute) bool {
	return strings.Contains(" "+valueOf(attrs, "class")+" ", " notes ")
}
