package context

import (
	"context"
	"strings"

	"catena/engine"
	"catena/engine/metadata"
	"catena/engine/openapi"
	"catena/storage"
)

var readMetadata = engine.Op{
	Name:     "Blob.ReadMetadata",
	Aliases:  []string{"Binary.ReadMetadata"},
	Label:    "Read Metadata From Binary",
	Category: "Files",
	Doc:      "Returns the metadata of the input file, as Context.SetMetadataFromBlob finds it.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Type("object"),
	Run:      engine.On(readMetadataParams.run),
}

type readMetadataParams struct {
	IgnorePrefix bool `json:"ignorePrefix" default:"true" doc:"Omit the group from names: width, not image:width."`
}

// metadataTools are what reading and writing metadata in a call uses.
func metadataTools(c *engine.Ctx) metadata.Tools {
	outside := func(what any, find func(context.Context) (any, error)) (any, error) {
		return storage.Outside(c.Tx, what, find)
	}
	return metadata.Tools{PDF: c.PDF(), Programs: c.Programs(), NewBlob: c.Tx.NewBlob, Outside: outside}
}

func (p readMetadataParams) run(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	found, err := metadata.Read(c, metadataTools(c), b)
	if err != nil || !p.IgnorePrefix {
		return found, err
	}
	out := make(map[string]any, len(found))
	for name, value := range found {
		_, short, _ := strings.Cut(name, ":")
		out[short] = value
	}
	return out, nil
}
