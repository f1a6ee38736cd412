package decks

import (
	"cmp"
	"strings"
	"unicode"

	"catena/decks/convert"
	"catena/decks/deck"
	"catena/decks/field"
	"catena/decks/html"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var importDeck = engine.Op{
	Name: "Deck.Import", Label: "Import Deck", Category: deck.Category,
	Doc: "Creates a deck from a presentation and returns it with all its fields: a reveal.js page, Markdown with slides " +
		"separated by --- and -- (as in reveal.js, Marp and Slidev), or JSON that defines slides by blocks. The presentation is the " +
		"input or a parameter. Active content is removed from the HTML and reported.",
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(importParams.void), engine.On(importParams.blob)),
}

type importParams struct {
	Source     string `json:"source,omitzero" doc:"The presentation, if it is not the input."`
	Format     string `json:"format,omitzero" enum:"html,markdown,define" doc:"Format of the presentation; detected by default."`
	Title      string `json:"title,omitzero" doc:"Title of the deck; by default the presentation's own."`
	Visibility string `json:"visibility" default:"self" enum:"all,self,team" doc:"Who may see the deck."`
	deck.View
}

func (p importParams) void(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if p.Source == "" {
		return nil, deck.Invalid("source", fault.CodeMissingParameter, "source: is required without an input")
	}
	return p.run(c, "", p.Source)
}

func (p importParams) blob(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	text, err := b.Bytes(html.MaxBytes)
	if err != nil {
		return nil, err
	}
	return p.run(c, b.Name, string(text))
}

func (p importParams) run(c *engine.Ctx, name, text string) (map[string]any, error) {
	if _, err := p.Set(); err != nil {
		return nil, err
	}
	d, err := convert.Read(c.Context, p.Format, name, text)
	if err != nil {
		return nil, err
	}
	title := cmp.Or(p.Title, shortened(oneLine(d.Title), field.MaxTitle), nameOnly(name), "deck")
	description := shortened(d.Description, field.MaxDescription)
	in := deck.Input{"title": title, "description": description, "data": d.HTML, "visibility": p.Visibility}
	if d.Width > 0 && d.Height > 0 {
		in["width"], in["height"] = d.Width, d.Height
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	return createOf(c, in, p.View, appearance(d))
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func shortened(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return s
}

// nameOnly is a file's name without its ending.
func nameOnly(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return shortened(oneLine(name), field.MaxTitle)
}
