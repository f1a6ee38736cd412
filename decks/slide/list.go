package slide

import (
	"catena/decks/deck"
	"catena/decks/html"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Ops are the operations on the slides of a deck.
var Ops = []engine.Op{
	getSlide,
	insertSlide,
	listSlides,
	moveSlide,
	removeSlide,
	updateSlide,
}

var listSlides = engine.Op{
	Name: "Deck.ListSlides", Label: "List Slides of Deck", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns the slides of one of the caller's decks in order, without their HTML: the number that names each, its column from the left " +
		"and its row downwards in a stack, its heading or first words, its size in bytes, and whether it has speaker notes.",
	Run: engine.On(listSlidesParams.run),
}

type listSlidesParams struct {
	ID int64 `json:"id" doc:"Number of the deck."`
}

func (p listSlidesParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, slides, err := slidesOf(c, p.ID)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(slides.Slides))
	for i := range slides.Slides {
		data[i] = slideShape(&slides.Slides[i])
	}
	return map[string]any{
		"data": data, "meta": map[string]any{"etag": slideTag(d), "total": int64(len(data))}, "etag": slideTag(d),
	}, nil
}

var getSlide = engine.Op{
	Name: "Deck.GetSlide", Label: "Get Slide of Deck", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns a slide of one of the caller's decks with its HTML: one section element. Use it to change a long deck slide by slide.",
	Run:     engine.On(getSlideParams.run),
}

type getSlideParams struct {
	ID    int64 `json:"id" doc:"Number of the deck."`
	Slide int64 `json:"slide" min:"1" doc:"Number of the slide, starting at 1."`
}

func (p getSlideParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, slides, err := slidesOf(c, p.ID)
	if err != nil {
		return nil, err
	}
	s, err := slides.Slide(p.Slide)
	if err != nil {
		return nil, err
	}
	return slideResult(d, slides, s, nil), nil
}

// slidesOf reads the slides of one of the caller's decks.
func slidesOf(c *engine.Ctx, id int64) (*storage.Doc, *Deck, error) {
	d, err := deck.Find(c, id, false)
	if err != nil {
		return nil, nil, err
	}
	slides, err := slidesIn(c.Tx, d)
	return d, slides, err
}

func slidesIn(tx *storage.Tx, d *storage.Doc) (*Deck, error) {
	text, err := deck.Source(tx, d)
	if err != nil {
		return nil, err
	}
	return slidesOfHTML(d, text)
}

// slidesOfHTML reads the slides in the HTML of a deck.
func slidesOfHTML(d *storage.Doc, text string) (*Deck, error) {
	slides := Read(text)
	if n := storage.Prop[int64](d, "deck:slide_count"); int64(len(slides.Slides)) != n {
		return nil, fault.Conflict.Errorf("deck %d: cannot distinguish its slides, found %d of %d; change its HTML as a whole", deck.Number(d), len(slides.Slides), n)
	}
	return slides, nil
}

// slideTag is the entity tag of the deck, as seen from its slides.
func slideTag(d *storage.Doc) string { return `"` + deck.Version(d) + `-s"` }

// slideShape is a slide without its HTML.
func slideShape(s *Slide) map[string]any {
	return map[string]any{
		"number": int64(s.Number), "column": int64(s.Column), "row": int64(s.Row), "title": s.Title(), "size": int64(len(s.HTML)),
		"notes": html.WithoutNotes(s.HTML) != s.HTML,
	}
}

// slideResult is a slide with its HTML and how the deck is now.
func slideResult(d *storage.Doc, slides *Deck, s *Slide, removed []string) map[string]any {
	data := slideShape(s)
	data["html"], data["deck_id"], data["slide_count"], data["etag"] = s.HTML, deck.Number(d), int64(len(slides.Slides)), slideTag(d)
	out := map[string]any{"data": data, "etag": slideTag(d)}
	if len(removed) > 0 {
		out["meta"] = deck.Sanitized(removed)
	}
	return out
}
