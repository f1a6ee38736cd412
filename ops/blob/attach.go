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
	Doc:      "Attaches the input files to a document, saves it once, and returns the files. Files are appended to a list property; a single-file property keeps the last one.",
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(attachParams.blobs), engine.On(attachParams.blob)),
}

type attachParams struct {
	Document storage.Ref `json:"document" doc:"Path or id of the document."`
	Save     bool        `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
	Xpath    string      `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the property that receives the files."`
}

func (p attachParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	_, err := p.blobs(c, storage.Blobs{b})
	return b, err
}

func (p attachParams) blobs(c *engine.Ctx, files storage.Blobs) (storage.Blobs, error) {
	// One document gets all files and is saved once; a save for each file would make a version for each.
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
