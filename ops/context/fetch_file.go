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

func (fetchFileParams) run(_ *engine.Ctx, b *storage.Blob) (*storage.Blob, error) { return b, nil }
