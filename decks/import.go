package decks

import (
	"cmp"
	"strings"
	"unicode"

	"catena/decks/asset"
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
		"input or a parameter. Active content is removed from the HTML and reported in meta.sanitized, and up to 100 pictures on other servers in " +
		"meta.remote; with copy, those that can be fetched become files of the deck.",
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(importParams.void), engine.On(importParams.blob)),
}

type importParams struct {
	Source     string `json:"source,omitzero" doc:"The presentation, if it is not the input."`
	Format     string `json:"format,omitzero" enum:"html,markdown,define" doc:"Format of the presentation; detected by default."`
	Title      string `json:"title,omitzero" doc:"Title of the deck; by default the presentation's own."`
	Visibility string `json:"visibility" default:"self" enum:"all,self,team" doc:"Who may see the deck."`
	Assets     string `json:"assets" default:"keep" enum:"copy,keep" doc:"Whether pictures on other servers keep their addresses, or are copied to the deck's files soon after."`
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

// run reads a presentation and creates a deck of it. What a field cannot hold (a longer title, an unknown
// theme) is shortened or left out instead of refused: the presentation was not written for this server. The
// HTML goes through the same cleaning as any other.
func (p importParams) run(c *engine.Ctx, name, text string) (map[string]any, error) {
	if _, err := p.Set(); err != nil {
		return nil, err
	}
	d, err := convert.Read(c.Context, p.Format, name, text)
	if err != nil {
		return nil, err
	}
	// Only what comes from the presentation is shortened. A title that the caller chose is checked as in Deck.Create.
	title := cmp.Or(p.Title, shortened(oneLine(d.Title), field.MaxTitle), nameOnly(name), "deck")
	description := shortened(d.Description, field.MaxDescription)
	in := deck.Input{"title": title, "description": description, "data": d.HTML, "visibility": p.Visibility}
	// One side of the presentation together with the default of the other would distort every slide.
	if d.Width > 0 && d.Height > 0 {
		in["width"], in["height"] = d.Width, d.Height
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	props, left := appearance(d)
	made, applied, err := createOf(c, in, props)
	if err != nil {
		return nil, err
	}
	applied.Removed = append(applied.Removed, left...)
	out, err := p.Changed(c, made, applied)
	if err != nil {
		return nil, err
	}
	return out, p.remote(c, made, applied.HTML, out)
}

// remote reports the pictures that the deck shows from other servers, and has them copied if that was asked for. It looks at
// the HTML as it was stored: pictures that cleaning removed are neither reported nor copied.
func (p importParams) remote(c *engine.Ctx, d *storage.Doc, source string, out map[string]any) error {
	remote := asset.Remote(source, storage.Prop[string](d, "deck:css"))
	if len(remote) == 0 {
		return nil
	}
	meta, _ := out["meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		out["meta"] = meta
	}
	meta["remote"] = engine.List(remote)
	if p.Assets != "copy" {
		return nil
	}
	meta["assets"] = "copying"
	return asset.Ask(c.Tx, d)
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// shortened cuts a text to a number of characters, the ellipsis included.
func shortened(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return s
}

// nameOnly is a file's name without its ending.
func nameOnly(name string) string {
	// Some clients send the whole path, with the separators of the system they run on.
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return shortened(oneLine(name), field.MaxTitle)
}
