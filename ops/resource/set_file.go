package resource

import (
	"catena/engine"
	"catena/storage"
)

var setFile = engine.Op{
	Name:     "Resource.SetBlob",
	Label:    "Put File",
	Category: "Resource",
	Doc:      "Stores a file at an xpath of the document, replacing an existing one, and returns the document. A list gets the file appended.",
	Callers:  engine.Anyone,
	Run:      engine.On(setFileParams.run),
}

type setFileParams struct {
	Xpath string        `json:"xpath" default:"blobholder:0" names:"xpath" doc:"Xpath of the file; blobholder:0 is the main file, blobholder:1 the next."`
	File  *storage.Blob `json:"file" doc:"The file."`
}

func (p setFileParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if err := d.AttachBlob(p.Xpath, p.File); err != nil {
		return nil, err
	}
	// The permission to write is checked when the document is saved.
	return c.Tx.Save(d, storage.SaveOptions{})
}
