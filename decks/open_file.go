package decks

import (
	"catena/decks/deck"
	"catena/decks/file"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var openFile = engine.Op{
	Name: "Deck.OpenFile", Label: "Open File of Deck", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns a picture of a deck to viewers of the deck: at the deck's address or through a private link. Slides are " +
		"shown without cookies; the key in their pictures' addresses identifies the viewer, whose permissions are checked again.",
	Run: engine.On(openFileParams.run),
}

type openFileParams struct {
	pictureParams
	Number  int64  `json:"number" default:"0" doc:"Number of the picture, instead of its address."`
	Address string `json:"address" default:"" doc:"Address of the picture in the deck's HTML: files/NUMBER/NAME."`
}

func (p openFileParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	d, err := p.deck(c, deck.KeyFile, fault.NotFound.Errorf("file %.100q: does not exist", p.Address))
	if err != nil {
		return nil, err
	}
	// The rows of files belong to the server; p.deck has decided whether the viewer may see the deck.
	tx := c.Tx.As(deck.Behind(c))
	f, err := p.file(tx, d)
	if err != nil {
		return nil, err
	}
	return f.Load(tx), nil
}

func (p openFileParams) file(tx *storage.Tx, d *storage.Doc) (*file.File, error) {
	if p.Number != 0 {
		return file.Get(tx, d.ID(), p.Number)
	}
	return file.Find(tx, d.ID(), p.Address)
}

// fileKey is what a page of a deck that is not for everyone puts into its pictures' addresses.
func fileKey(c *engine.Ctx, d *storage.Doc) string {
	// Without a key, the pictures of a public deck have the same address for everybody.
	if storage.Prop[string](d, "deck:visibility") == "all" {
		return ""
	}
	return "key=" + deck.PictureKey(c, d, deck.KeyFile, c.Now.Add(deck.FileKeyTime))
}
