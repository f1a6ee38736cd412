package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
)

func cancelInstance(ms models) engine.Op {
	return engine.Op{
		Name:     "WorkflowInstance.Cancel",
		Aliases:  []string{"Context.CancelWorkflow"},
		Label:    "Cancel workflow",
		Category: context,
		Requires: "Workflow",
		Doc: "Cancels a workflow and its open tasks, and fires the event workflowCanceled on its documents. For its initiator, " +
			"administrators, and users with the permission ManageWorkflows on all of its documents. Returns the input.",
		Callers: engine.Anyone,
		Run:     on(ms, cancelParams.run),
	}
}

type cancelParams struct {
	ID string `json:"id" alias:"workflowInstanceId" doc:"Id of the workflow."`
}

func (p cancelParams) run(e *env, _ engine.Void) (engine.Void, error) {
	// The instance is read as the server: a person who may manage all of its documents may cancel
	// it without being able to read it, since instances are visible only to initiators and actors.
	d, err := e.unlimited().Doc(storage.Ref(p.ID))
	if err != nil {
		return engine.Void{}, err
	}
	i, err := workflow.OpenInstance(e.models, d)
	if err != nil {
		return engine.Void{}, err
	}
	if denied := i.MayManage(e.Tx); denied != nil {
		if _, err := e.Tx.Doc(d.Ref()); err != nil { // the caller does not learn that it exists
			return engine.Void{}, err
		}
		return engine.Void{}, denied
	}
	return engine.Void{}, (&host{env: e, instance: i}).cancel()
}
