package document

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/archive"
	"catena/storage/blob"
)

var export = engine.Op{
	Name:     "Document.Export",
	Label:    "Document Export",
	Category: "Services",
	Doc: "Returns the document as XML, or as an archive that also contains its files; as a tree, the archive contains everything below it that the " +
		"caller may read.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(exportParams.run),
}

type exportParams struct {
	Tree bool `json:"exportAsTree" default:"false" doc:"Return an archive of the document and everything below it."`
	Zip  bool `json:"exportAsZip" default:"false" doc:"Return an archive instead of only the XML."`
}

func (p exportParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	if p.Tree || p.Zip {
		return archive.ExportZip(c.Tx, d, p.Tree)
	}
	text, err := archive.ExportXML(c.Tx, d)
	if err != nil {
		return nil, err
	}
	// The type is set after the fact, since FromBytes would detect it from the content.
	return blob.FromBytes("document.xml", "", text).With("document.xml", "text/xml"), nil
}
