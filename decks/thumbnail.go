package decks

import (
	"catena/decks/deck"
	"catena/decks/export"
	"catena/decks/render"
	"catena/engine"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

var thumbnail = engine.Op{
	Name: "Deck.Thumbnail", Label: "Get Deck Thumbnail", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns a picture of a slide to viewers of the deck: its owner by number, others at the deck's address or through a private " +
		"link. It is rendered on the first request after a change of the deck; until then the result is a card with the slide's first words.",
	Run: engine.On(thumbnailParams.run),
}

type thumbnailParams struct {
	pictureParams
	Slide int64  `json:"slide" default:"1" min:"1" max:"1000" doc:"Number of the slide."`
	Base  string `json:"base" default:"" doc:"Public address of the server."`
	Card  bool   `json:"card" default:"true" doc:"Whether to return a card while there is no picture; otherwise nothing is returned."`
}

func (p thumbnailParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	missing := fault.NotFound.Errorf("deck %.60q of %.60q: does not exist", p.Slug, p.Username)
	if p.Token != "" {
		missing = fault.NotFound.Errorf("share link: does not exist")
	}
	d, err := p.deck(c, deck.KeyThumbnail, missing)
	if err != nil {
		return nil, err
	}
	// An empty deck has a picture of its first slide. Guests without a key get that one only, so that
	// strangers cannot have every slide of a public deck rendered.
	if n := storage.Prop[int64](d, "deck:slide_count"); p.Slide > max(n, 1) || p.Slide > 1 && p.Key == "" && c.As.Name == storage.Guest().Name {
		return nil, fault.NotFound.Errorf("slide %d of the deck: does not exist", p.Slide)
	}
	tx, slide, version := c.Tx.As(deck.Behind(c)), int(p.Slide), deck.AppearanceVersion(d)
	b, err := export.FindThumb(tx, d.ID(), slide, version)
	if b != nil || err != nil {
		return b, err
	}
	if err := p.ask(c, tx, d, version); err != nil || !p.Card {
		return nil, err
	}
	looks := deck.Appearance(d)
	if looks.HTML, err = deck.Source(tx, d); err != nil {
		return nil, err
	}
	still, err := render.Card(c.Context, &looks, slide)
	if err != nil {
		return nil, err
	}
	return blob.FromBytes("card.png", still.Type, still.Data), nil
}

// ask has the picture drawn of a deck that is still as it was seen.
func (p thumbnailParams) ask(c *engine.Ctx, tx *storage.Tx, d *storage.Doc, version string) error {
	slide, owner := int(p.Slide), deck.OwnerName(tx, d)
	asked, err := export.ThumbAsked(tx, d.ID(), slide, version)
	if err != nil || asked {
		return err
	}
	// This runs in a transaction of its own after the answer, when the deck may have changed or gone.
	c.Ask(func(tx *storage.Tx) error {
		switch now, err := tx.Doc(d.Ref()); {
		case fault.Is(err, fault.NotFound):
			return nil
		case err != nil || deck.AppearanceVersion(now) != version:
			return err
		}
		return export.AskThumb(tx, export.ThumbRequest{Doc: d.ID(), Slide: slide, Version: version, Owner: owner, Base: p.Base})
	})
	return nil
}
