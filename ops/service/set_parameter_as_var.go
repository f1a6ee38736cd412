package service

import (
	"catena/engine"
	"catena/storage"
)

var setParameterAsVar = engine.Op{
	Name:     "LocalConfiguration.SetSimpleConfigurationParameterAsVar",
	Label:    "Set Context Variable From a Simple Configuration Parameter",
	Category: "Local Configuration",
	Doc:      "Copies the parameter that applies to the document, stored on it or on its nearest ancestor, to a context variable, and returns the document.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(setParameterParams.run),
}

type setParameterParams struct {
	Name      string `json:"name" names:"variable" doc:"Name of the context variable."`
	Parameter string `json:"parameterName" doc:"Name of the parameter."`
	Default   string `json:"defaultValue,omitzero" doc:"Value if no parameter applies."`
}

func (p setParameterParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	v, ok, err := parameter(c, d, p.Parameter)
	if err != nil {
		return nil, err
	}
	if !ok {
		v = p.Default
	}
	// It is set even if nothing applies, to the default or to an empty text, so that an earlier
	// value does not remain.
	c.SetVar(p.Name, v)
	return d, nil
}
