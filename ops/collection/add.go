package collection

import (
	"catena/engine"
	"catena/storage"
)

var add = engine.Op{
	Name:     "Document.AddToCollection",
	Aliases:  []string{"Collection.AddToCollection"},
	Label:    "Add document to collection",
	Category: "Document",
	Doc:      "Adds the document to a collection, which the caller must be allowed to write, and returns the document. One that is in it already stays.",
	Run:      engine.Each(memberParams.add),
}

var remove = engine.Op{
	Name:     "Collection.RemoveFromCollection",
	Label:    "Remove from collection",
	Category: "Document",
	Doc:      "Takes the document out of a collection, which the caller must be allowed to write, and returns the document.",
	Run:      engine.Each(memberParams.remove),
}

type memberParams struct {
	Collection storage.Ref `json:"collection" doc:"The collection: a path or an id."`
}

func (p memberParams) add(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	collection, err := open(c, p.Collection)
	if err != nil {
		return nil, err
	}
	return join(c, d, collection)
}

func (p memberParams) remove(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	collection, err := open(c, p.Collection)
	if err != nil {
		return nil, err
	}
	return leave(c, d, collection)
}
