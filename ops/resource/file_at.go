package resource

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var fileAt = engine.Op{
	Name:     "Resource.Blob",
	Label:    "File",
	Category: "Resource",
	Doc:      "Returns the file at an xpath of the document. No file or no such property: not found.",
	Effect:   engine.Reads,
	Run:      engine.On(fileAtParams.run),
}

type fileAtParams struct {
	Xpath string `json:"xpath" default:"blobholder:0" doc:"Xpath of the file; blobholder:0 is the main file, blobholder:1 the next."`
}

func (p fileAtParams) run(_ *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	return file(d, p.Xpath)
}

// file returns the file at an xpath, which must be there.
func file(d *storage.Doc, xpath string) (*storage.Blob, error) {
	b, err := d.BlobAt(xpath)
	if fault.Is(err, fault.Invalid) || err == nil && b == nil {
		return nil, fault.NotFound.Errorf("document %s: no file at %s", d.ID(), xpath)
	}
	return b, err
}
