package property

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var writeMetadata = engine.Op{
	Name:     "Blob.SetMetadataFromDocument",
	Aliases:  []string{"Binary.WriteMetadataFromDocument"},
	Label:    "Write Metadata To Binary From Document",
	Category: "Files",
	Since:    "7.1",
	Doc:      "Changes the metadata of a file of the document, as Blob.SetMetadataFromContext does, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.On(writeMetadataParams.run),
}

type writeMetadataParams struct {
	Metadata     storage.Props `json:"metadata" doc:"Values by name of the metadata."`
	Xpath        string        `json:"blobXPath,omitzero" names:"xpath" doc:"Xpath of the file; by default the main file."`
	IgnorePrefix bool          `json:"ignorePrefix" default:"true" doc:"Names have no group: title, not pdf:title."`
	Processor    string        `json:"processor" default:"exifTool" unused:"true" doc:"Accepted but ignored."`
	Save         bool          `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p writeMetadataParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	xpath := p.Xpath
	if xpath == "" {
		xpath = "blobholder:0"
	}
	// blobholder:0 is resolved once: the changed file must go where the original came from.
	xpath, err := d.FileXpath(xpath)
	if err != nil {
		return nil, err
	}
	b, err := d.BlobAt(xpath)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fault.Invalid.Errorf("document %s: there is no file at %s", d.Path(), xpath).In("blobXPath")
	}
	out, err := c.Call("Blob.SetMetadataFromContext", b, map[string]any{"metadata": p.Metadata, "ignorePrefix": p.IgnorePrefix})
	if err != nil {
		return nil, err
	}
	// The result is new content with a digest of its own. The file that other documents share is
	// not changed.
	written, _ := out.(*storage.Blob)
	if err := d.AttachBlob(xpath, written); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}
