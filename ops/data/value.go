package data

import (
	"catena/engine"
	"catena/engine/openapi"
)

var value = engine.Op{
	Name: "Data.Value", Label: "Give a value", Category: "Data", Effect: engine.Pure, Callers: engine.Anyone,
	Doc: "Returns the value of the parameter, for example a map that expressions make of the input: a step of this kind says what each item of a list becomes. " +
		"Without the parameter, the input passes on.",
	Result: openapi.Ref("Value"),
	Run: engine.On(func(p valueParams, c *engine.Ctx, in any) (any, error) {
		if p.Value == nil {
			return in, nil
		}
		return p.Value, nil
	}),
}

type valueParams struct {
	Value any `json:"value,omitzero" doc:"The value."`
}
