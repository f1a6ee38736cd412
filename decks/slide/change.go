package slide

import (
	"catena/decks/deck"
	"catena/engine"
)

var updateSlide = engine.Op{
	Name: "Deck.UpdateSlide", Label: "Update Slide of Deck", Category: deck.Category,
	Doc: "Puts HTML in the place of a slide of one of the caller's decks and returns the slide as it is kept. All others stay as they are.",
	Run: engine.On(updateSlideParams.run),
}

type updateSlideParams struct {
	slideEdit
	Slide int64  `json:"slide" min:"1" doc:"Number of the slide, from 1."`
	HTML  string `json:"html" doc:"The slide: one section element, or several that take its place."`
}

func (p updateSlideParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.edit(c, func(d *Deck) (string, int, []string, error) {
		s, err := d.Slide(p.Slide)
		if err != nil {
			return "", 0, nil, err
		}
		text, removed, err := slideHTML(p.HTML, s.Stack)
		return d.Replace(s, text), s.Number, removed, err
	})
}

var insertSlide = engine.Op{
	Name: "Deck.InsertSlide", Label: "Insert Slide into Deck", Category: deck.Category,
	Doc: "Puts a slide into one of the caller's decks, at the end unless it says where, and returns it as it is kept, with its number.",
	Run: engine.On(insertSlideParams.run),
}

type insertSlideParams struct {
	slideEdit
	HTML string `json:"html" doc:"The slide: one section element, or several."`
	slidePlace
}

func (p insertSlideParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.edit(c, func(d *Deck) (string, int, []string, error) {
		after, err := p.slide(d)
		if err != nil {
			return "", 0, nil, err
		}
		text, removed, err := slideHTML(p.HTML, p.Below && after != nil)
		if err != nil {
			return "", 0, nil, err
		}
		src, number := d.Insert(after, p.Below, text)
		return src, number, removed, nil
	})
}

var moveSlide = engine.Op{
	Name: "Deck.MoveSlide", Label: "Move Slide of Deck", Category: deck.Category,
	Doc: "Moves a slide of one of the caller's decks behind another one, or to the end, and returns it with its new number. Numbers are " +
		"those before the move.",
	Run: engine.On(moveSlideParams.run),
}

type moveSlideParams struct {
	slideEdit
	Slide int64 `json:"slide" min:"1" doc:"Number of the slide, from 1."`
	slidePlace
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
	Doc: "Takes a slide out of one of the caller's decks and returns how many are left. An older version of the deck still has it.",
	Run: engine.On(removeSlideParams.run),
}

type removeSlideParams struct {
	slideEdit
	Slide int64 `json:"slide" min:"1" doc:"Number of the slide, from 1."`
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
