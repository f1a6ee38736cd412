package decks

import (
	"regexp"
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
func rulesOf(t html.Token) *mdRules {
	notes, err := regexp.Compile(`(?mi)` + or(attr(t, "data-separator-notes"), mdNotes))
	if err != nil {
		notes = regexp.MustCompile(``)
	}
	slide, vertical := attr(t, "data-separator"), attr(t, "data-separator-vertical")
	if slide+vertical+attr(t, "data-separator-notes") == "" {
		return &mdRules{notes: notes}
	}
	pattern := `(?m)` + or(slide, mdSlide)
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
	out      strings.Builder
	sections []*mdRules // of the open ones; nil: no Markdown
	aside    int        // open elements inside notes
	template bool
	hidden   bool // inside notes of Markdown
}

// withoutNotes takes the speaker notes out of clean HTML.
func withoutNotes(src string) string {
	z := html.NewTokenizer(strings.NewReader(src))
	n := &noteless{}
	n.out.Grow(len(src))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return n.out.String()
		}
		raw := string(z.Raw())
		n.token(kind, z.Token(), raw)
	}
}

// rules are those of the Markdown that is being read; nil: it is none.
func (n *noteless) rules() *mdRules {
	if len(n.sections) > 0 && n.sections[len(n.sections)-1] != nil {
		return n.sections[len(n.sections)-1]
	}
	if n.template {
		return rulesOf(html.Token{})
	}
	return nil
}

func (n *noteless) token(kind html.TokenType, t html.Token, raw string) {
	rules := n.rules()
	switch {
	case n.aside > 0:
		switch {
		case t.Data != "aside":
		case kind == html.StartTagToken:
			n.aside++
		case kind == html.EndTagToken:
			n.aside--
		}
		return
	case kind == html.TextToken && rules != nil:
		raw, n.hidden = rules.without(raw, n.hidden)
	case kind == html.EndTagToken && t.Data == "section" && len(n.sections) > 0:
		n.sections, n.hidden = n.sections[:len(n.sections)-1], false
	case t.Data == "script":
		n.template = kind == html.StartTagToken
	case kind == html.StartTagToken && t.Data == "section":
		raw = n.section(t, raw, rules)
	case n.hidden:
		return
	case kind == html.StartTagToken && t.Data == "aside" && isNotes(t):
		n.aside = 1
		return
	}
	n.out.WriteString(raw)
}

// section begins a section, whose Markdown has the rules of the one around it unless it says
// that it has its own.
func (n *noteless) section(t html.Token, raw string, around *mdRules) string {
	if has(t, "data-markdown") {
		around = rulesOf(t)
	}
	n.sections, n.hidden = append(n.sections, around), false
	if has(t, "data-notes") {
		raw = tagWithout(t, "data-notes")
	}
	return raw
}

func isNotes(t html.Token) bool { return strings.Contains(" "+attr(t, "class")+" ", " notes ") }

func has(t html.Token, name string) bool {
	for _, a := range t.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func tagWithout(t html.Token, name string) string {
	kept := t.Attr[:0]
	for _, a := range t.Attr {
		if a.Key != name {
			kept = append(kept, a)
		}
	}
	t.Attr = kept
	return t.String()
}
