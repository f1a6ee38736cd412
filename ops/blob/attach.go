package blob

import (
	"catena/engine"
	"catena/storage"
)

var attach = engine.Op{
	Name:     "Blob.AttachOnDocument",
	Aliases:  []string{"Blob.Attach"},
	Label:    "Attach File",
	Category: "Files",
	Doc:      "Puts the input files on a document, which is saved once, and returns the files. A list property gets them appended, a property for one file keeps the last.",
	Run:      engine.Overload(engine.On(attachParams.blobs), engine.On(attachParams.blob)),
}

type attachParams struct {
	Document storage.Ref `json:"document" doc:"The document: a path or an id."`
	Save     bool        `json:"save" default:"true" values:"true" doc:"Store the change at once."`
	Xpath    string      `json:"xpath" default:"file:content" values:"file:content" doc:"Xpath where the files go."`
}

func (p attachParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	_, err := p.blobs(c, storage.Blobs{b})
	return b, err
}

func (p attachParams) blobs(c *engine.Ctx, files storage.Blobs) (storage.Blobs, error) {
	d, err := engine.Named(c.Tx.Doc(p.Document))
	if err != nil {
		return nil, err
	}
	for _, b := range files {
		if err := d.AttachBlob(p.Xpath, b); err != nil {
			return nil, err
		}
	}
	_, err = keep(c, d, p.Save)
	return files, err
}
