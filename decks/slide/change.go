package slide

import (
	"catena/decks/deck"
	"catena/engine"
)

var updateSlide = engine.Op{
	Name: "Deck.UpdateSlide", Label: "Update Slide of Deck", Category: deck.Category,
	Doc:     "Replaces the HTML of a slide of one of the caller's decks and returns the stored slide. Other slides are unchanged.",
	Callers: engine.Anyone,
	Run:     engine.On(updateSlideParams.run),
}

type updateSlideParams struct {
	slideEdit
	Slide int64  `json:"slide" min:"1" doc:"Number of the slide, starting at 1."`
	HTML  string `json:"html" doc:"The slide: one section element, or several that replace it."`
}

func (p updateSlideParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.edit(c, func(d *Deck) (string, int, []string, error) {
		s, err := d.Slide(p.Slide)
		if err != nil {
			return "", 0, nil, err
		}
		text, removed, err := slideHTML(c, p.HTML, s.Stack)
		return d.Replace(s, text), s.Number, removed, err
	})
}

var insertSlide = engine.Op{
	Name: "Deck.InsertSlide", Label: "Insert Slide into Deck", Category: deck.Category,
	Doc:     "Inserts a slide into one of the caller's decks, by default at the end, and returns the stored slide with its number.",
	Callers: engine.Anyone,
	Run:     engine.On(insertSlideParams.run),
}

type insertSlideParams struct {
	slideEdit
	HTML string `json:"html" doc:"The slide: one section element, or several."`
	slidePosition
}

func (p insertSlideParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.edit(c, func(d *Deck) (string, int, []string, error) {
		after, err := p.slide(d)
		if err != nil {
			return "", 0, nil, err
		}
		text, removed, err := slideHTML(c, p.HTML, p.Below && after != nil)
		if err != nil {
			return "", 0, nil, err
		}
		src, number := d.Insert(after, p.Below, text)
		return src, number, removed, nil
	})
}

var moveSlide = engine.Op{
	Name: "Deck.MoveSlide", Label: "Move Slide of Deck", Category: deck.Category,
	Doc: "Moves a slide of one of the caller's decks after another one, or to the end, and returns it with its new number. The parameters use the numbers " +
		"before the move.",
	Callers: engine.Anyone,
	Run:     engine.On(moveSlideParams.run),
}

type moveSlideParams struct {
	slideEdit
	Slide int64 `json:"slide" min:"1" doc:"Number of the slide, starting at 1."`
	slidePosition
}

func (p moveSlideParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.edit(c, func(d *Deck) (string, int, []string, error) {
		s, err := d.Slide(p.Slide)
		if err != nil {
			return "", 0, nil, err
		}
		after, err := p.slide(d)
		if err != nil {
			return "", 0, nil, err
		}
		src, number, err := d.Move(s, after, p.Below)
		return src, number, nil, err
	})
}

var removeSlide = engine.Op{
	Name: "Deck.RemoveSlide", Label: "Remove Slide from Deck", Category: deck.Category,
	Doc:     "Removes a slide from one of the caller's decks and returns the number of remaining slides. Older versions of the deck still contain it.",
	Callers: engine.Anyone,
	Run:     engine.On(removeSlideParams.run),
}

type removeSlideParams struct {
	slideEdit
	Slide int64 `json:"slide" min:"1" doc:"Number of the slide, starting at 1."`
}

func (p removeSlideParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.edit(c, func(d *Deck) (string, int, []string, error) {
		s, err := d.Slide(p.Slide)
		if err != nil {
			return "", 0, nil, err
		}
		return d.Remove(s), 0, nil, nil
	})
}
