package context

import (
	"strings"

	"catena/engine"
	"catena/engine/metadata"
	"catena/storage"
)

var setMetadataFromBlob = engine.Op{
	Name:     "Context.SetMetadataFromBlob",
	Sets:     []string{"binaryMetadata"},
	Aliases:  []string{"Context.ReadMetadataFromBinary"},
	Label:    "Read Metadata From Binary to Context",
	Category: "Execution Context",
	Since:    "7.1",
	Doc: "Sets the variable binaryMetadata to a map of the input file's metadata: name, mime-type, length and digest; of a " +
		"picture width, height and format, of audio and video duration, codecs and measures, of a PDF version, pages, title, author, subject, keywords, creator, producer, created " +
		"and modified. Returns nothing.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(setMetadataParams.run).As("blob", "void"),
}

type setMetadataParams struct {
	IgnorePrefix bool     `json:"ignorePrefix" default:"true" doc:"Omit the group from names: width, not image:width."`
	Metadata     []string `json:"metadata,omitzero" doc:"Names of the metadata to return, with or without group; empty means all."`
	Processor    string   `json:"processor" default:"exifTool" unused:"true" doc:"Accepted but ignored."`
}

func (p setMetadataParams) run(c *engine.Ctx, b *storage.Blob) (any, error) {
	found, err := metadata.Read(c, metadataTools(c), b)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, value := range found {
		_, short, _ := strings.Cut(name, ":")
		if !p.wants(name, short) {
			continue
		}
		if p.IgnorePrefix {
			name = short
		}
		out[name] = value
	}
	c.SetVar("binaryMetadata", out)
	return nil, nil
}

// wants reports whether one of two names of a value is asked for.
func (p setMetadataParams) wants(long, short string) bool {
	if len(p.Metadata) == 0 {
		return true
	}
	for _, name := range p.Metadata {
		if strings.EqualFold(name, long) || strings.EqualFold(name, short) {
			return true
		}
	}
	return false
}
