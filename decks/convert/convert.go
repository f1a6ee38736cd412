// Package convert imports presentations made elsewhere: reveal.js pages, Markdown as reveal.js, Marp and Slidev write
// it, and JSON that defines slides block by block. It returns the sections of a deck and what the source says about
// the whole; making them harmless is left to the code that stores them.
//
// Whatever the source, the result is the HTML of sections, which is not trusted: it passes decks/html like
// HTML that a caller sends. What a source says about the whole, such as its transition, is returned by the
// names of the fields in decks/field, so that an import accepts the values that an update does.
package convert

import (
	"context"
	"encoding/json"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"catena/storage/fault"
	"catena/storage/work"
)

// Deck is a presentation as it was read. What the source does not say is empty.
type Deck struct {
	Title, Description string
	Width, Height      int64
	Options            map[string]any // how the deck looks, by the names of its fields
	Theme              string         // name of a theme of reveal.js
	CSS                string
	HTML               string
}

// The formats that Read knows.
const (
	HTML     = "html"
	Markdown = "markdown"
	Define   = "define"
)

// Read reads a presentation; a format of "" is found out from the name and the text.
func Read(ctx context.Context, format, name, text string) (*Deck, error) {
	// Separators and front matter are compared line by line, so a carriage return or byte order mark would hide them.
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	if format == "" {
		format = Guess(name, text)
	}
	switch format {
	case HTML:
		return readHTML(text)
	case Markdown:
		return readMarkdown(ctx, text)
	case Define:
		return readDefine(ctx, text)
	}
	return nil, fault.Invalid.Errorf("format %.40q: must be %s, %s or %s", format, HTML, Markdown, Define).In("format")
}

// Guess finds out the format of a text.
func Guess(name, text string) string {
	name, text = strings.ToLower(name), strings.TrimSpace(text)
	switch {
	case strings.HasSuffix(name, ".json"), json.Valid([]byte(text)) && strings.HasPrefix(text, "{"):
		return Define
	case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".markdown"):
		return Markdown
	case strings.HasSuffix(name, ".html"), strings.HasSuffix(name, ".htm"), strings.HasPrefix(text, "<"):
		return HTML
	}
	// Every text is Markdown, so it is what remains.
	return Markdown
}

// balanced writes a piece of HTML so that everything that is opened in it is closed.
func balanced(ctx context.Context, piece string) string {
	// Parsed as the content of a section: a stray end tag cannot close the slide around the piece.
	nodes, err := html.ParseFragment(work.Reader(ctx, strings.NewReader(piece)), &html.Node{Type: html.ElementNode, Data: "section", DataAtom: atom.Section})
	if err != nil {
		return html.EscapeString(piece)
	}
	var b strings.Builder
	for _, n := range nodes {
		if err := html.Render(&b, n); err != nil {
			return html.EscapeString(piece)
		}
	}
	return b.String()
}

// open begins a section; values of attributes are escaped, empty ones left out.
func open(attributes ...string) string {
	return tag("section", attributes...)
}

func tag(name string, attributes ...string) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			b.WriteString(" " + attributes[i] + `="` + html.EscapeString(attributes[i+1]) + `"`)
		}
	}
	return b.String() + ">"
}

// set notes an option, unless its value is empty.
func (d *Deck) set(name string, value any) {
	if value == "" {
		return
	}
	if d.Options == nil {
		d.Options = map[string]any{}
	}
	d.Options[name] = value
}
