package context

import (
	"catena/engine"
	"catena/storage"
)

var fetchFile = engine.Op{
	Name:     "Context.FetchFile",
	Label:    "Context File(s)",
	Category: "Fetch",
	Doc:      "Returns the input file or files.",
	Effect:   engine.Pure,
	Callers:  engine.Anyone,
	Run:      engine.Each(fetchFileParams.run),
}

type fetchFileParams none

// Documents are not converted to their files: the input must be a file already, as in the platform.
func (fetchFileParams) run(_ *engine.Ctx, b *storage.Blob) (*storage.Blob, error) { return b, nil }
