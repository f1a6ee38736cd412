package conversion

import (
	"catena/engine"
	"catena/engine/convert"
	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
)

var runConverter = engine.Op{
	Name:     "Blob.RunConverter",
	Label:    "Blob.RunConverter",
	Category: "Conversion",
	Doc:      "Runs a converter on the file. It fails if the converter does not exist or does not accept files of this type.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(runConverterParams.run),
}

// maxParameters is more than any converter knows. It bounds what is copied for a call before the
// converter looks at it.
const maxParameters = 100

type runConverterParams struct {
	Converter  string        `json:"converter" doc:"Name of the converter."`
	Parameters storage.Props `json:"parameters,omitzero" doc:"Parameters of the converter."`
}

func (p runConverterParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	by, err := convert.Named(p.Converter)
	if err != nil {
		return nil, err
	}
	if n := len(p.Parameters); n > maxParameters {
		return nil, fault.Limit.Errorf("parameters: %d, limit %d", n, maxParameters).In("parameters")
	}
	params := map[string]string{}
	for name, v := range p.Parameters {
		if v != nil {
			params[name] = expr.Text(v)
		}
	}
	return by.Convert(c, tools(c), b, params)
}
