package resource

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var empty = engine.Op{
	Name:     "Resource.Empty",
	Label:    "Empty Document",
	Category: "Resource",
	Doc:      "Returns a document of a type with its default values, which is not stored.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(emptyParams.in), engine.On(emptyParams.nowhere)),
}

type emptyParams struct {
	Type string `json:"type,omitzero" names:"type" doc:"Type of the document."`
	Name string `json:"name,omitzero" doc:"Name of the new document."`
}

func (p emptyParams) nowhere(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	return p.in(c, nil)
}

func (p emptyParams) in(c *engine.Ctx, folder *storage.Doc) (*storage.Doc, error) {
	if p.Type == "" {
		return nil, fault.Invalid.Errorf("Missing type parameter").In("type")
	}
	// A nil folder is allowed: the document has no place then.
	return storage.NewDocIn(c.Tx, folder, p.Type, p.Name)
}
