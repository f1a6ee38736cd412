package context

import (
	"strings"

	"catena/engine"
	"catena/engine/expr"
	"catena/engine/metadata"
	"catena/storage"
	"catena/storage/fault"
)

var setMetadata = engine.Op{
	Name:     "Blob.SetMetadataFromContext",
	Aliases:  []string{"Binary.WriteMetadataFromContext"},
	Label:    "Write Metadata To Blob From Context",
	Category: "Files",
	Since:    "7.1",
	Doc: "Returns the input file with changed metadata: of a PDF title, author, subject, keywords, creator and producer; of an office document " +
		"title, author, subject, keywords, description and category; of a JPEG or TIFF picture texts of EXIF, IPTC and XMP such as exif:Artist, iptc:Headline " +
		"and xmp:Title, and its place, gps:latitude and gps:longitude; of a PNG or WebP the same without IPTC. An empty value removes one. Metadata that is not named is unchanged, and so is the picture.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(writeMetadataParams.run),
}

type writeMetadataParams struct {
	Metadata     storage.Props `json:"metadata" doc:"Values by name of the metadata."`
	IgnorePrefix bool          `json:"ignorePrefix" default:"true" doc:"Names have no group: title, not pdf:title."`
	Processor    string        `json:"processor" default:"exifTool" unused:"true" doc:"Accepted but ignored."`
}

func (p writeMetadataParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	texts := map[string]string{}
	for name, v := range p.Metadata {
		if group, _, ok := strings.Cut(name, ":"); !p.IgnorePrefix && (!ok || group == "") {
			return nil, fault.Invalid.Errorf("metadata %q: cannot be written", name).In("metadata")
		}
		texts[name] = ""
		if v != nil {
			texts[name] = expr.Text(v)
		}
	}
	return metadata.Write(c, metadataTools(c), b, texts)
}
