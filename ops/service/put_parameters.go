package service

import (
	"catena/engine"
	"catena/engine/expr"
	"catena/storage"
)

var putParameters = engine.Op{
	Name:     "LocalConfiguration.PutSimpleConfigurationParameters",
	Label:    "Put Simple Configuration parameters",
	Category: "Local Configuration",
	Doc:      "Stores several parameters on the document, which also apply to everything below it, and returns the document. They are stored regardless of save.",
	Callers:  engine.Anyone,
	Run:      engine.On(putParametersParams.run),
}

type putParametersParams struct {
	Parameters map[string]any `json:"parameters" type:"properties" doc:"Values by name."`
	Save       bool           `json:"save" default:"true" values:"true" unused:"true" doc:"Accepted but ignored."`
}

func (p putParametersParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if len(p.Parameters) > maxParameters {
		return nil, tooManyParameters("parameters")
	}
	values := map[string]string{}
	for key, v := range p.Parameters {
		// Parameters are texts, and null is an empty one; there is no way to remove a parameter
		// with this operation.
		values[key] = expr.Text(v)
	}
	return keep(c, d, values, "parameters")
}
