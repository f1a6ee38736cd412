package document

import (
	"catena/engine"
	"catena/storage"
)

var setBlob = engine.Op{
	Name:     "Document.SetBlob",
	Aliases:  []string{"Blob.Set"},
	Label:    "Set File",
	Category: "Document",
	Doc:      "Puts a file on the document and returns it. A list property gets the file appended.",
	Run:      engine.Each(setBlobParams.run),
}

type setBlobParams struct {
	File  *storage.Blob `json:"file" doc:"The file."`
	Save  bool          `json:"save" default:"true" values:"true" doc:"Store the change at once."`
	Xpath string        `json:"xpath" default:"file:content" values:"file:content" doc:"Xpath where the file goes."`
}

func (p setBlobParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if err := d.AttachBlob(p.Xpath, p.File); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}
