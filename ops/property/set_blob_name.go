package property

import (
	"catena/engine"
	"catena/storage"
)

var setBlobName = engine.Op{
	Name:     "Document.SetBlobName",
	Aliases:  []string{"Blob.SetFilename"},
	Label:    "Set File Name",
	Category: "Files",
	Doc:      "Renames the file at an xpath and returns the document. Without a file at the xpath, nothing changes.",
	Callers:  engine.Anyone,
	Run:      engine.Each(setBlobNameParams.run),
}

type setBlobNameParams struct {
	Name  string `json:"name" doc:"The new file name."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
	Xpath string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file."`
}

func (p setBlobNameParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// The renamed file is set at the same xpath, so the shorthand blobholder:0 is not accepted
	// here.
	b, err := d.Blob(p.Xpath)
	if err != nil {
		return nil, err
	}
	if b != nil {
		// The type is kept, whatever ending the new name has.
		if err := d.Set(p.Xpath, b.With(p.Name, b.Type)); err != nil {
			return nil, err
		}
	}
	return keep(c, d, p.Save)
}
