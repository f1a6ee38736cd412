package context

import (
	"catena/engine"
)

var setInputAsVar = engine.Op{
	Name:     "Context.SetInputAsVar",
	Label:    "Set Context Variable From Input",
	Category: "Execution Context",
	Doc:      "Sets a context variable to the input and returns the input. The variable holds the document itself, not a copy.",
	Effect:   engine.Pure,
	Callers:  engine.Anyone,
	Run:      engine.On(setInputAsVarParams.run),
}

type setInputAsVarParams struct {
	Name string `json:"name" names:"variable" doc:"Name of the variable."`
}

func (p setInputAsVarParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, assign(c, p.Name, c.Input)
}
