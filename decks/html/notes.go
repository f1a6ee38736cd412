package html

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// What divides slides and begins speaker notes in Markdown, unless a section says otherwise.
const (
	mdSlide = `\r?\n---\r?\n`
	mdNotes = `^\s*notes?:`
)

// mdRules are how a section's Markdown is divided: notes run from where they begin to the
// next slide, or to the end if there is just one.
type mdRules struct{ slide, notes *regexp.Regexp }

// rulesOf reads the rules of a section. A pattern that is not understood divides nothing, so
// that rather too much counts as notes than too little.
func rulesOf(attrs []attribute) *mdRules {
	notes, err := regexp.Compile(`(?mi)` + cmp.Or(valueOf(attrs, "data-separator-notes"), mdNotes))
	if err != nil {
		notes = regexp.MustCompile(``)
	}
	slide, vertical := valueOf(attrs, "data-separator"), valueOf(attrs, "data-separator-vertical")
	if slide+vertical+valueOf(attrs, "data-separator-notes") == "" {
		return &mdRules{notes: notes}
	}
	pattern := `(?m)` + cmp.Or(slide, mdSlide)
	if vertical != "" {
		pattern += `|` + vertical
	}
	divide, err := regexp.Compile(pattern)
	if err != nil {
		divide = nil
	}
	return &mdRules{divide, notes}
}

// without takes the notes out of text; hidden says whether it begins and ends inside notes.
func (r *mdRules) without(text string, hidden bool) (kept string, still bool) {
	var out strings.Builder
	for {
		if hidden {
			if r.slide == nil {
				return out.String(), true
			}
			at := r.slide.FindStringIndex(text)
			if at == nil {
				return out.String(), true
			}
			out.WriteString(text[at[0]:at[1]])
			text = text[at[1]:]
		}
		at := r.notes.FindStringIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String(), false
		}
		out.WriteString(text[:at[0]])
		text, hidden = text[at[1]:], true
	}
}

// noteless takes speaker notes out of HTML as it reads it.
type noteless struct {
	reader
	out      output
	sections []*mdRules // of the open ones; nil: no Markdown
	aside    int        // open elements inside notes
	template bool
	hidden   bool // inside notes of Markdown
}

// WithoutNotes takes the speaker notes out of clean HTML.
func WithoutNotes(src string) string {
	n := &noteless{reader: reader{src: src}, out: output{src: src}}
	for {
		kind := n.next()
		if kind == html.ErrorToken {
			return n.out.String()
		}
		n.take(kind)
	}
}

// rules are those of the Markdown that is being read; nil: it is none.
func (n *noteless) rules() *mdRules {
	if len(n.sections) > 0 && n.sections[len(n.sections)-1] != nil {
		return n.sections[len(n.sections)-1]
	}
	if n.template {
		return rulesOf(nil)
	}
	return nil
}

// take writes a token, or leaves it out if it belongs to notes.
func (n *noteless) take(kind html.TokenType) {
	rules := n.rules()
	switch {
	case n.aside > 0:
		n.within(kind)
		return
	case kind == html.TextToken && rules != nil:
		var text string
		if text, n.hidden = rules.without(n.raw, n.hidden); text != n.raw {
			n.out.write(text)
			return
		}
	case kind == html.EndTagToken && n.name == "section" && len(n.sections) > 0:
		n.sections, n.hidden = n.sections[:len(n.sections)-1], false
	case n.name == "script":
		n.template = kind == html.StartTagToken
	case kind == html.StartTagToken && n.name == "section":
		n.section(rules)
		return
	case n.hidden:
		return
	case kind == html.StartTagToken && n.name == "aside" && isNotes(n.attrs):
		n.aside = 1
		return
	}
	n.out.keep(n.raw, n.at)
}

// within follows the asides inside notes, to find the end of the outermost.
func (n *noteless) within(kind html.TokenType) {
	switch {
	case n.name != "aside":
	case kind == html.StartTagToken:
		n.aside++
	case kind == html.EndTagToken:
		n.aside--
	}
}

// section begins a section, whose Markdown has the rules of the one around it unless it says
// that it has its own.
func (n *noteless) section(around *mdRules) {
	if has(n.attrs, "data-markdown") {
		around = rulesOf(n.attrs)
	}
	n.sections, n.hidden = append(n.sections, around), false
	if !has(n.attrs, "data-notes") {
		n.out.keep(n.raw, n.at)
		return
	}
	kept := slices.DeleteFunc(slices.Clone(n.attrs), func(a attribute) bool { return a.name == "data-notes" })
	n.out.write(tagOf(n.name, kept, false))
}
