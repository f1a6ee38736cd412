package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
)

func getInstance(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.Get",
		Label:    "Workflow",
		Category: services,
		Doc:      "Returns a workflow instance.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Run:      on(ms, getParams.run),
	}
}

type getParams struct {
	ID string `json:"workflowInstanceId" doc:"Id of the workflow."`
}

// Instances are documents in a hidden folder, so the storage layer lets only those read it who have
// a part in the workflow.
func (p getParams) run(e *env, _ engine.Void) (*workflow.Instance, error) { return e.instance(p.ID) }
