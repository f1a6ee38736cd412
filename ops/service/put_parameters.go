package service

import (
	"fmt"

	"catena/engine"
	"catena/storage"
)

var putParameters = engine.Op{
	Name:     "LocalConfiguration.PutSimpleConfigurationParameters",
	Label:    "Put Simple Configuration parameters",
	Category: "Local Configuration",
	Doc:      "Keeps several parameters on the document, which hold for what is below it too, and returns the document. They are written whatever save says.",
	Run:      engine.On(putParametersParams.run),
}

type putParametersParams struct {
	Parameters map[string]any `json:"parameters" type:"properties" doc:"Values by name."`
	Save       bool           `json:"save" default:"true" values:"true" doc:"Accepted, without effect."`
}

func (p putParametersParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	values := map[string]string{}
	for key, v := range p.Parameters {
		if v == nil {
			v = ""
		}
		values[key] = fmt.Sprint(v)
	}
	return keep(c, d, values)
}
