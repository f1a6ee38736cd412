package document

import (
	"catena/engine"
	"catena/storage"
)

var create = engine.Op{
	Name:     "Document.Create",
	Label:    "Create",
	Category: "Document",
	Doc:      "Creates a document in the input folder and returns it. A name that is taken gets the time in milliseconds appended.",
	Run:      engine.Each(createParams.run),
}

type createParams struct {
	Type       string        `json:"type" doc:"Type of the document, for example File."`
	Name       string        `json:"name" default:"Untitled" doc:"Name in the folder."`
	Properties storage.Props `json:"properties,omitzero" doc:"First properties by xpath."`
}

func (p createParams) run(c *engine.Ctx, folder *storage.Doc) (*storage.Doc, error) {
	return c.Tx.Create(folder, p.Type, p.Name, p.Properties)
}
