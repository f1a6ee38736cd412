package resource

import (
	"catena/engine"
	"catena/storage"
)

var removeFile = engine.Op{
	Name:     "Resource.RemoveBlob",
	Label:    "Remove File",
	Category: "Resource",
	Doc:      "Removes the file at an xpath from the document and returns nothing.",
	Callers:  engine.Anyone,
	Run:      engine.On(removeFileParams.run).As("document", "void"),
}

type removeFileParams struct {
	Xpath string `json:"xpath" default:"blobholder:0" names:"xpath" doc:"Xpath of the file; blobholder:0 is the main file, blobholder:1 the next."`
}

func (p removeFileParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	// Removing a property that holds no file would succeed silently; an address without a file is
	// missing instead.
	if _, err := file(d, p.Xpath); err != nil {
		return nil, err
	}
	if err := d.RemoveBlob(p.Xpath); err != nil {
		return nil, err
	}
	_, err := c.Tx.Save(d, storage.SaveOptions{})
	return nil, err
}
