package service

import (
	"catena/engine"
	"catena/storage"
)

var putParameter = engine.Op{
	Name:     "LocalConfiguration.PutSimpleConfigurationParameter",
	Label:    "Put a Simple Configuration Parameter",
	Category: "Local Configuration",
	Doc:      "Stores a parameter on the document, which also applies to everything below it, and returns the document. It is stored regardless of save.",
	Callers:  engine.Anyone,
	Run:      engine.On(putParameterParams.run),
}

type putParameterParams struct {
	Key   string `json:"key" doc:"Name of the parameter."`
	Value string `json:"value" doc:"Its value."`
	Save  bool   `json:"save" default:"true" values:"true" unused:"true" doc:"Accepted but ignored."`
}

func (p putParameterParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return keep(c, d, map[string]string{p.Key: p.Value}, "key")
}
