package workflow

import (
	"catena/engine"
	"catena/storage/fault"
)

var setNodeVariable = engine.Op{
	Name:     "Workflow.SetNodeVariable",
	Aliases:  []string{"Context.SetWorkflowNodeVar"},
	Label:    "Set Node Variable",
	Category: context,
	Requires: "Workflow",
	Doc:      "Sets a variable of the workflow node that the current chain runs for, and returns the input. Elsewhere nothing happens.",
	Callers:  engine.Anyone,
	Run:      engine.On(setNodeVariableParams.run),
}

type setNodeVariableParams struct {
	Name  string `json:"name" doc:"Name of the variable."`
	Value any    `json:"value,omitzero" doc:"The value; without it, the variable becomes empty."`
}

func (p setNodeVariableParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.Name == "" {
		return engine.Void{}, fault.Invalid.Errorf("name: must not be empty").In("name")
	}
	// Nothing is stored here: host.chain takes the map over after the chain, and checks names and
	// types then. An undeclared name is dropped, as in the platform.
	setIn(c, nodeVars, p.Name, p.Value)
	return engine.Void{}, nil
}

// setIn sets a variable in a map of the context, if there is the map.
func setIn(c *engine.Ctx, in, name string, v any) {
	if old, ok := c.Vars[in].(map[string]any); ok {
		c.SetVar(in, with(old, name, v)) // not in place: a run that starts again must find the old one
	}
}
