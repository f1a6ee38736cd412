package property

import (
	"catena/engine"
	"catena/storage"
)

var getBlobs = engine.Op{
	Name:     "Document.GetBlobs",
	Aliases:  []string{"Blob.GetAll"},
	Label:    "Get All Document Files",
	Category: "Files",
	Doc:      "Returns all files of the document, the main file first, or nothing if there are none.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(getBlobsParams.run),
}

type getBlobsParams struct{}

func (getBlobsParams) run(_ *engine.Ctx, d *storage.Doc) (storage.Blobs, error) {
	all, err := d.AllBlobs()
	// Without files the result is nothing, as in the platform, not an empty list.
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all, nil
}
