package property

import (
	"catena/engine"
	"catena/storage"
)

var setBlob = engine.Op{
	Name:     "Document.SetBlob",
	Aliases:  []string{"Blob.Set"},
	Label:    "Set File",
	Category: "Document",
	Doc:      "Attaches a file to the document and returns the document. A list property gets the file appended.",
	Callers:  engine.Anyone,
	Run:      engine.Each(setBlobParams.run),
}

type setBlobParams struct {
	File  *storage.Blob `json:"file" doc:"The file."`
	Save  bool          `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
	Xpath string        `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the property that receives the file."`
}

func (p setBlobParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Nothing is copied: the property refers to the content by its digest, so the same file on many
	// documents is stored once.
	if err := d.AttachBlob(p.Xpath, p.File); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}
