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
	Doc:      "Adds the document to a collection that the caller may write, and returns the document. A document that is already in the collection stays there.",
	Callers:  engine.Anyone,
	Run:      several(memberParams.add),
}

var remove = engine.Op{
	Name:     "Collection.RemoveFromCollection",
	Label:    "Remove from collection",
	Category: "Document",
	Doc:      "Removes the document from a collection that the caller may write, and returns the document.",
	Callers:  engine.Anyone,
	Run:      several(memberParams.remove),
}

type memberParams struct {
	Collection storage.Ref `json:"collection" doc:"Path or id of the collection."`
}

func (p memberParams) add(c *engine.Ctx, docs storage.Docs) (storage.Docs, error) {
	collection, err := open(c, p.Collection)
	if err != nil {
		return nil, err
	}
	return join(c, docs, collection)
}

func (p memberParams) remove(c *engine.Ctx, docs storage.Docs) (storage.Docs, error) {
	collection, err := open(c, p.Collection)
	if err != nil {
		return nil, err
	}
	return leave(c, docs, collection)
}
