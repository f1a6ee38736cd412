package document

import (
	"catena/engine"
	"catena/storage"
)

var create = engine.Op{
	Name:     "Document.Create",
	Label:    "Create",
	Category: "Document",
	Doc:      "Creates a document in the input folder and returns it. If the name is taken, the time in milliseconds is appended to it.",
	Callers:  engine.Anyone,
	Run:      engine.Each(createParams.run),
}

type createParams struct {
	Type       string        `json:"type" names:"type" doc:"Type of the document, for example File."`
	Name       string        `json:"name" default:"Untitled" doc:"Name in the folder."`
	Properties storage.Props `json:"properties,omitzero" names:"xpath" doc:"Initial properties by xpath."`
}

// Storage does the rest: it checks the right to create in the folder, makes the name unique, bounds
// the depth of the tree, fills in defaults and fires the events.
func (p createParams) run(c *engine.Ctx, folder *storage.Doc) (*storage.Doc, error) {
	return c.Tx.Create(folder, p.Type, p.Name, p.Properties)
}
