package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

func setWorkflowVar(ms models) engine.Op {
	return engine.Op{
		Name:     "Context.SetWorkflowVar",
		Label:    "Set Workflow Variable",
		Category: context,
		Requires: "Workflow",
		Doc: "Sets a variable of a workflow and returns the input: in the map " + workflowVars + " if the chain has one, and in the " +
			"named or current workflow, if it declares the variable. Without a workflow, only the map changes. Except for operations " +
			"stored on the server, only administrators may set workflow variables this way.",
		Callers: engine.Anyone,
		Run:     on(ms, setWorkflowVarParams.run),
	}
}

type setWorkflowVarParams struct {
	Name     string `json:"name" doc:"Name of the variable."`
	Value    any    `json:"value,omitzero" doc:"The value; without it, the variable is removed."`
	Instance string `json:"workflowInstanceId,omitzero" doc:"Id of the workflow; by default the current one."`
}

func (p setWorkflowVarParams) run(e *env, _ engine.Void) (engine.Void, error) {
	if p.Name == "" {
		return engine.Void{}, fault.Invalid.Errorf("name: must not be empty").In("name")
	}
	id := p.Instance
	if id == "" {
		id, _ = e.Vars[workflowID].(string)
	}
	// Stored first: if that fails, the map does not show a value that the workflow does not have.
	if id != "" {
		if err := p.keep(e, id); err != nil {
			return engine.Void{}, err
		}
	}
	setIn(e.Ctx, workflowVars, p.Name, p.Value)
	return engine.Void{}, nil
}

// stored are the entry points of what an administrator has stored on the server.
// Scripts that a caller sends are not among them.
const stored = engine.Chain | engine.Listener | engine.Server

// keep sets the variable in the workflow. What is stored on the server may do so for everybody, since an
// administrator has written it; a caller's own request needs an administrator.
func (p setWorkflowVarParams) keep(e *env, id string) error {
	tx := e.unlimited()
	d, err := tx.Doc(storage.Ref(id))
	if fault.Is(err, fault.NotFound) {
		return fault.NotFound.Errorf("workflow %s", id).In(workflowID)
	}
	if err != nil {
		return err
	}
	i, err := workflow.OpenInstance(e.models, d)
	if err != nil {
		return err
	}
	// A missing workflow is reported first, so ids can be probed for existence; they are random and
	// too long to guess.
	if !e.As.Admin && e.EntryPoint&stored == 0 {
		return fault.Denied.Errorf("workflow %s: only administrators may set its variables", id)
	}
	if err := i.Assign(map[string]any{p.Name: p.Value}); err != nil {
		return err
	}
	return i.Save(tx)
}
