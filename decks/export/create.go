package export

import (
	"errors"
	"maps"
	"slices"

	"catena/decks/deck"
	"catena/decks/format"
	"catena/decks/render"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

var createExport = engine.Op{
	Name: "Deck.CreateExport", Label: "Create Deck Export", Category: deck.Category,
	Doc: "Starts an export of the current state of one of the caller's decks to a file, and returns the pending export. " +
		"Deck.GetExport returns its status. A user can start at most 10 exports in an hour.",
	Callers: engine.Anyone,
	Run:     engine.On(createExportParams.run),
}

type createExportParams struct {
	Deck      int64          `json:"deck_id" alias:"id" doc:"Number of the deck."`
	Format    string         `json:"format" default:"" doc:"Format of the file, such as pdf; required here or in fields."`
	Margin    float64        `json:"margin" default:"0" min:"0" max:"0.2" doc:"PDF: space around the slides as a fraction of their size, 0 to 0.2."`
	Number    bool           `json:"slide_number" default:"false" doc:"PDF: whether slides show their numbers."`
	Notes     bool           `json:"slide_notes" default:"false" doc:"PDF: whether a slide with speaker notes is followed by a page with the notes."`
	Fragments bool           `json:"separate_fragments" default:"false" doc:"PDF: whether each step of a slide is a page."`
	Fields    map[string]any `json:"fields,omitzero" doc:"All of these in one object; unknown members are refused."`
	deck.View
}

// pollAfter is how many seconds to wait before an export is looked at again.
const pollAfter = 2

func (p createExportParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := deck.Find(c, p.Deck, false)
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
	e := &Export{
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
	if err := Start(c.Tx, e, source); err != nil {
		return nil, err
	}
	out := exported(c, p.View, e)
	out["quota"] = map[string]any{
		"limit": int64(Quota), "window": int64(QuotaTime.Seconds()), "left": int64(e.Left), "reset": int64(e.Reset.Seconds()),
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
		errs = append(errs, deck.Invalid("format", fault.CodeRequired, "format: is missing; it must be one of %s", format.Names()))
	} else if format.Find(p.Format) == nil {
		errs = append(errs, deck.Invalid("format", fault.CodeInvalidValue, "format: %.20q is not one of %s", p.Format, format.Names()))
	}
	if !(p.Margin >= 0 && p.Margin <= 0.2) { // not a number is neither
		errs = append(errs, deck.Invalid("margin", fault.CodeOutOfRange, "margin: %v is not between 0 and 0.2", p.Margin))
	}
	return errors.Join(errs...)
}

func (p *createExportParams) take(name string, value any) error {
	flags := map[string]*bool{"slide_number": &p.Number, "slide_notes": &p.Notes, "separate_fragments": &p.Fragments}
	if into := flags[name]; into != nil {
		b, ok := value.(bool)
		if !ok {
			return deck.Invalid(name, fault.CodeInvalidType, "%s: must be true or false", name)
		}
		*into = b
		return nil
	}
	switch name {
	case "format":
		s, ok := value.(string)
		if !ok {
			return deck.Invalid(name, fault.CodeInvalidType, "format: must be a string")
		}
		p.Format = s
	case "margin":
		switch n := value.(type) {
		case float64:
			p.Margin = n
		// Numbers of JSON arrive as either type, depending on how they are written.
		case int64:
			p.Margin = float64(n)
		default:
			return deck.Invalid(name, fault.CodeInvalidType, "margin: must be a number")
		}
	default:
		return deck.UnknownField(name, "deck export")
	}
	return nil
}

// settingsOf are a deck's title and looks as an export shows them.
// The style sheet is bounded because it is stored in the row of the export; the HTML is stored as a file.
func settingsOf(c *engine.Ctx, d *storage.Doc) (render.Deck, error) {
	out := deck.Appearance(d)
	// The user's full name replaces this if there is a record of the user.
	out.Author = c.As.Name
	if most := limitsOf(c.Tx).Style; len(out.CSS) > most {
		return out, fault.Limit.Errorf("deck %d: style sheet of %d bytes, limit %d", deck.Number(d), len(out.CSS), most).WithCode(fault.CodeTooLarge)
	}
	u, err := people.Lookup(c.Tx, c.As.Name)
	if err == nil {
		out.Author = deck.FullName(u)
	}
	return out, nil
}
