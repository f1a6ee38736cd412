package blob

import (
	"catena/engine"
	"catena/storage"
)

var remove = engine.Op{
	Name:     "Blob.RemoveFromDocument",
	Aliases:  []string{"Blob.Remove"},
	Label:    "Remove File",
	Category: "Files",
	Doc: "Removes the file at an xpath from the document and returns the document. A list is emptied, an item (files:files/0) is removed from its list, " +
		"and the file of an item (files:files/0/file) leaves an empty one, so that the others keep their xpaths.",
	Callers: engine.Anyone,
	Run:     engine.Each(removeParams.run),
}

type removeParams struct {
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
	Xpath string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file, of one item or of the whole list."`
}

func (p removeParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Only the reference is removed. The content stays as long as a version or another document
	// refers to it.
	if err := d.RemoveBlob(p.Xpath); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}
