package context

import (
	"maps"

	"catena/engine"
	"catena/storage/fault"
)

// Variables that operations on workflows share.
const (
	workflowVars = "WorkflowVariables"  // map of the variables of the workflow at hand
	workflowID   = "workflowInstanceId" // the workflow at hand
)

var setWorkflowVar = engine.Op{
	Name:     "Context.SetWorkflowVar",
	Label:    "Set Workflow Variable",
	Category: "Workflow Context",
	Requires: "Workflow",
	Doc: "Sets a variable of a workflow and keeps the input: in the map " + workflowVars + " where a chain has one, and in the " +
		"workflow that is named or at hand. Without a workflow only the map changes.",
	Run: engine.On(setWorkflowVarParams.run),
}

type setWorkflowVarParams struct {
	Name     string `json:"name" doc:"Name of the variable."`
	Value    any    `json:"value,omitzero" doc:"The value; nothing removes what was there."`
	Instance string `json:"workflowInstanceId,omitzero" doc:"Identifier of the workflow; empty: the one at hand."`
}

func (p setWorkflowVarParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.Name == "" {
		return engine.Void{}, fault.Invalid.Errorf("name: is empty").In("name")
	}
	id := p.Instance
	if id == "" {
		id, _ = c.Vars[workflowID].(string)
	}
	if id != "" {
		return engine.Void{}, fault.NotFound.Errorf("workflow %s", id).In(workflowID)
	}
	if old, ok := c.Vars[workflowVars].(map[string]any); ok {
		changed := maps.Clone(old) // a run that starts again must find the old one
		if changed == nil {
			changed = map[string]any{}
		}
		changed[p.Name] = p.Value
		c.SetVar(workflowVars, changed)
	}
	return engine.Void{}, nil
}
