package collection

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

var create = engine.Op{
	Name:     "Collection.Create",
	Aliases:  []string{"Collection.CreateCollection"},
	Label:    "Create a collection",
	Category: "Document",
	Doc:      "Creates a collection in the input folder and returns it; without input, in the folder Collections of the caller's personal workspace.",
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(createParams.void), engine.Each(createParams.doc)),
}

type createParams struct {
	Name        string `json:"name" doc:"Name and title of the collection."`
	Description string `json:"description,omitzero" doc:"Description of the collection."`
}

func (p createParams) void(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	folder, err := shelf(c)
	if err != nil {
		return nil, err
	}
	return p.doc(c, folder)
}

func (p createParams) doc(c *engine.Ctx, folder *storage.Doc) (*storage.Doc, error) {
	props := storage.Props{"dc:title": p.Name}
	if p.Description != "" {
		props["dc:description"] = p.Description
	}
	return c.Tx.Create(folder, "Collection", c.Tx.Repo().NameOf(p.Name), props)
}

// shelf is the folder of the caller's own collections.
func shelf(c *engine.Ctx) (*storage.Doc, error) {
	return own(c, "Collections", "Collections", "Collections")
}

// own returns a child of the caller's personal workspace, made if it is not there. What is in it is
// visible to its owner and to administrators only, unless the owner shares it.
func own(c *engine.Ctx, name, typeName, title string) (*storage.Doc, error) {
	home, err := people.Home(c.Tx, true)
	if err != nil {
		return nil, err
	}
	d, err := c.Tx.Child(home, name)
	if !fault.Is(err, fault.NotFound) {
		return d, err
	}
	return c.Tx.Create(home, typeName, name, storage.Props{"dc:title": title})
}
