package property

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/blob"
)

var getBlob = engine.Op{
	Name:     "Document.GetBlob",
	Aliases:  []string{"Blob.Get"},
	Label:    "Get Document File",
	Category: "Files",
	Doc: "Returns the file at an xpath, otherwise the document's main file, otherwise an empty text file named after the document with the suffix .null. " +
		"On documents without file:content, such as notes, that xpath means the main file.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Each(getBlobParams.run),
}

type getBlobParams struct {
	Xpath string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file."`
}

func (p getBlobParams) run(_ *engine.Ctx, d *storage.Doc) (b *storage.Blob, err error) {
	// The default xpath would be an error on a Note or a Picture without this schema, although such documents
	// have a main file: the platform answers with that one.
	if p.Xpath != "file:content" || d.Type().HasSchema("file") {
		b, err = d.BlobAt(p.Xpath)
	}
	if err == nil && b == nil {
		b, err = d.MainBlob()
	}
	if err == nil && b == nil {
		// The platform returns an empty file rather than nothing, and chains rely on getting a file here.
		b = blob.FromBytes(d.Name()+".null", "text/plain", nil)
	}
	return b, err
}
