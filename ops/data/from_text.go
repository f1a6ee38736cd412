package data

import (
	"catena/engine"
	"catena/storage"
)

var fromText = engine.Op{
	Name: "Data.ToFile", Label: "File from text", Category: "Data", Effect: engine.Pure, Callers: engine.Anyone,
	Doc: "Returns a file with a text: that of the input, or of the parameter.",
	Run: engine.Overload(
		engine.On(func(p textParams, _ *engine.Ctx, in string) (*storage.Blob, error) {
			// The parameter takes precedence over the input. An empty one counts as omitted.
			if p.Text == "" {
				p.Text = in
			}
			return engine.NewBlob(p.Name, p.Type, []byte(p.Text)), nil
		}),
		engine.On(func(p textParams, _ *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
			return engine.NewBlob(p.Name, p.Type, []byte(p.Text)), nil
		}),
	),
}

type textParams struct {
	Text string `json:"text,omitzero" doc:"The text; without it, the input."`
	Name string `json:"name" default:"text.txt" doc:"Name of the file."`
	Type string `json:"type" default:"text/plain" doc:"Media type of the file."`
}
