package decks

import (
	"strings"

	"catena/decks/deck"
	"catena/decks/file"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var removeFile = engine.Op{
	Name: "Deck.RemoveFile", Label: "Remove File from Deck", Category: deck.Category,
	Doc: "Removes a picture from one of the caller's decks. A picture that slides still show is only removed with force; versions of the deck " +
		"that show it then lack it. Its address is not used again.",
	Callers: engine.Anyone,
	Run:     engine.On(removeFileParams.run),
}

type removeFileParams struct {
	ID     int64 `json:"id" doc:"Number of the deck."`
	Number int64 `json:"number" doc:"Number of the picture."`
	Force  bool  `json:"force" default:"false" doc:"Whether to remove it even if slides show it."`
}

func (p removeFileParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	tx := deck.AsSystem(c.Tx)
	f, err := file.Get(tx, d.ID(), p.Number)
	if err != nil {
		return nil, err
	}
	if !p.Force {
		text, err := deck.Source(tx, d)
		if err != nil {
			return nil, err
		}
		// The text is searched, not the elements: a false match costs the caller
		// the parameter force, a missed one a picture.
		if strings.Contains(text, f.Address()) || strings.Contains(storage.Prop[string](d, "deck:css"), f.Address()) {
			return nil, fault.Conflict.Errorf("file %s: slides of deck %d show it", f.Address(), p.ID).WithCode(fault.CodeFileInUse)
		}
	}
	if err := file.RemoveOne(tx, d.ID(), f); err != nil {
		return nil, err
	}
	return map[string]any{"data": map[string]any{"deck_id": p.ID, "number": p.Number, "removed": true}}, nil
}
