package context

import (
	"catena/engine"
	"catena/storage/fault"
)

var setVar = engine.Op{
	Name:     "Context.SetVar",
	Label:    "Set Context Variable",
	Category: "Execution Context",
	Doc:      "Sets a context variable, to nothing if no value is given, and returns the input.",
	Effect:   engine.Pure,
	Callers:  engine.Anyone,
	Run:      engine.On(setVarParams.run),
}

type setVarParams struct {
	Name  string `json:"name" names:"variable" doc:"Name of the variable."`
	Value any    `json:"value,omitzero" doc:"The value."`
}

func (p setVarParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, assign(c, p.Name, p.Value)
}

// assign sets a variable, except the one in which the engine keeps a chain's parameters.
func assign(c *engine.Ctx, name string, value any) error {
	if name == "ChainParameters" {
		return fault.Invalid.Errorf("variable ChainParameters: is reserved").In("name")
	}
	if name == "" {
		return fault.Invalid.Errorf("name: must not be empty").In("name")
	}
	c.SetVar(name, value)
	return nil
}
