package decks

import (
	"errors"
	"maps"
	"slices"

	"catena/decks/export"
	"catena/decks/render"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var createExport = engine.Op{
	Name: "Deck.CreateExport", Label: "Create Deck Export", Category: category,
	Doc: "Has one of the caller's decks made into a PDF or ZIP file, as the deck is now, and returns the export, which is pending. " +
		"Deck.GetExport tells when it is completed. At most 10 in an hour.",
	Run: engine.On(createExportParams.run),
}

type createExportParams struct {
	Deck      int64          `json:"deck_id" alias:"id" doc:"Number of the deck."`
	Format    string         `json:"format" default:"" doc:"pdf or zip; there must be one, here or among the fields."`
	Margin    float64        `json:"margin" default:"0" min:"0" max:"0.2" doc:"PDF: room around the slides as a part of their size, 0 to 0.2."`
	Number    bool           `json:"slide_number" default:"false" doc:"PDF: whether slides show their numbers."`
	Notes     bool           `json:"slide_notes" default:"false" doc:"PDF: whether a page with the speaker notes follows a slide that has some."`
	Fragments bool           `json:"separate_fragments" default:"false" doc:"PDF: whether each step of a slide is a page."`
	Fields    map[string]any `json:"fields,omitzero" doc:"All of these in one object; anything else in it is refused."`
	view
}

// pollAfter is how many seconds to wait before an export is looked at again.
const pollAfter = 2

func (p createExportParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := find(c, p.Deck, false)
	if err != nil {
		return nil, err
	}
	if err := p.merge(); err != nil {
		return nil, err
	}
	settings, err := settingsOf(c, d)
	if err != nil {
		return nil, err
	}
	e := &export.Export{
		Deck: p.Deck, Doc: d.ID(), Owned: storage.OwnedBy(c.As), Base: p.Base, Format: p.Format, Settings: settings,
		Options: render.Options{Margin: p.Margin, SlideNumber: p.Number, SlideNotes: p.Notes, SeparateFragments: p.Fragments},
	}
	if e.ID, err = c.Tx.Next("deck-exports"); err != nil {
		return nil, err
	}
	source, err := d.Blob("deck:html")
	if err != nil {
		return nil, err
	}
	if err := export.Start(c.Tx, e, source); err != nil {
		return nil, err
	}
	out := p.exported(c, e)
	out["quota"] = map[string]any{
		"limit": int64(export.Quota), "window": int64(export.QuotaTime.Seconds()), "left": int64(e.Left), "reset": int64(e.Reset.Seconds()),
	}
	return out, nil
}

// merge moves what stands in Fields to the fields themselves, and checks all of them.
func (p *createExportParams) merge() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.Fields)) {
		if err := p.take(name, p.Fields[name]); err != nil {
			errs = append(errs, err)
		}
	}
	if p.Format == "" && p.Fields["format"] == nil {
		errs = append(errs, invalid("format", fault.CodeRequired, "format: is missing; there are pdf and zip"))
	} else if p.Format != "pdf" && p.Format != "zip" {
		errs = append(errs, invalid("format", fault.CodeInvalidValue, "format: %.20q; there are pdf and zip", p.Format))
	}
	if !(p.Margin >= 0 && p.Margin <= 0.2) { // not a number is neither
		errs = append(errs, invalid("margin", fault.CodeOutOfRange, "margin: %v is not from 0 to 0.2", p.Margin))
	}
	return errors.Join(errs...)
}

func (p *createExportParams) take(name string, value any) error {
	flags := map[string]*bool{"slide_number": &p.Number, "slide_notes": &p.Notes, "separate_fragments": &p.Fragments}
	if into := flags[name]; into != nil {
		b, ok := value.(bool)
		if !ok {
			return invalid(name, fault.CodeInvalidType, "%s: is neither true nor false", name)
		}
		*into = b
		return nil
	}
	switch name {
	case "format":
		s, ok := value.(string)
		if !ok {
			return invalid(name, fault.CodeInvalidType, "format: is not text")
		}
		p.Format = s
	case "margin":
		switch n := value.(type) {
		case float64:
			p.Margin = n
		case int64:
			p.Margin = float64(n)
		default:
			return invalid(name, fault.CodeInvalidType, "margin: is not a number")
		}
	default:
		return unknownField(name, "deck export")
	}
	return nil
}

// settingsOf are a deck's title and looks as an export shows them.
func settingsOf(c *engine.Ctx, d *storage.Doc) (render.Deck, error) {
	out := export.Looks(d)
	out.Author = c.As.Name
	if limit := c.Tx.Repo().Limits().ExportStyle; len(out.CSS) > limit {
		return out, fault.Limit.Errorf("deck %d: style sheet of %d bytes, limit %d", number(d), len(out.CSS), limit).WithCode(fault.CodeTooLarge)
	}
	u, err := c.Tx.User(c.As.Name)
	if err == nil {
		out.Author = fullName(u)
	}
	return out, nil
}
