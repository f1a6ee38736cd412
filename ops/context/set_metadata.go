package context

import (
	"fmt"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var setMetadata = engine.Op{
	Name:     "Blob.SetMetadataFromContext",
	Aliases:  []string{"Binary.WriteMetadataFromContext"},
	Label:    "Write Metadata To Blob From Context",
	Category: "Files",
	Since:    "7.1",
	Doc: "Returns the input file, a PDF, with changed metadata: title, author, subject, keywords, creator and producer; " +
		"an empty value removes one. Metadata that is not named is unchanged.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(writeMetadataParams.run),
}

type writeMetadataParams struct {
	Metadata     storage.Props `json:"metadata" doc:"Values by name of the metadata."`
	IgnorePrefix bool          `json:"ignorePrefix" default:"true" doc:"Names have no group: title, not pdf:title."`
	Processor    string        `json:"processor" default:"exifTool" unused:"true" doc:"Accepted but ignored."`
}

// writable are the names of what a PDF may be told, in small letters as they are read.
var writable = []string{"Title", "Author", "Subject", "Keywords", "Creator", "Producer"}

func (p writeMetadataParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if b.Type != "application/pdf" {
		return nil, fault.Invalid.Errorf("file %q: metadata of %s cannot be written", b.Name, b.Type).In("input")
	}
	texts := map[string]string{}
	for name, v := range p.Metadata {
		group, short, ok := strings.Cut(name, ":")
		if !ok {
			group, short = "", name
		}
		i := slices.IndexFunc(writable, func(s string) bool { return strings.EqualFold(s, short) })
		if i < 0 || !p.IgnorePrefix && !strings.EqualFold(group, "pdf") {
			return nil, fault.Invalid.Errorf("metadata %q: cannot be written", name).In("metadata")
		}
		texts[writable[i]] = ""
		if v != nil {
			texts[writable[i]] = fmt.Sprint(v)
		}
	}
	return writePDF(c, b, texts)
}
