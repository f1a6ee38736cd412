package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// resumeNode checks no permission on the instance. It lets a timer, an escalation or a chain push a
// workflow past its actors, and is therefore left to administrators and stored chains.
func resumeNode(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.ResumeNode",
		Aliases:  []string{"Workflow.ResumeNodeOperation"},
		Label:    "Resume workflow",
		Category: context,
		Requires: "Workflow",
		Doc: "Continues a workflow from a waiting node: the node's open tasks, or its subworkflow, are canceled. A workflow whose documents were deleted is canceled " +
			"instead. A workflow that was created without being started starts, and a route continues with the steps that are ready. Returns the input.",
		Callers: engine.Admins.OrStored(),
		Run:     on(ms, resumeNodeParams.run),
	}
}

type resumeNodeParams struct {
	Node     string `json:"nodeId,omitzero" doc:"Id of the node; by default the value of the context variable nodeId."`
	Instance string `json:"workflowInstanceId,omitzero" doc:"Id of the workflow; by default the current one."`
}

func (p resumeNodeParams) run(e *env, _ engine.Void) (engine.Void, error) {
	if p.Node == "" {
		p.Node, _ = e.Vars["nodeId"].(string)
	}
	if p.Instance == "" {
		p.Instance, _ = e.Vars[workflowID].(string)
	}
	if p.Instance == "" {
		return engine.Void{}, fault.Invalid.Errorf("%s: no workflow is named, and there is no current one", workflowID).In(workflowID)
	}
	tx := e.unlimited()
	d, err := tx.Doc(storage.Ref(p.Instance))
	if err != nil {
		return engine.Void{}, err
	}
	i, err := workflow.OpenInstance(e.models, d)
	if err != nil {
		return engine.Void{}, err
	}
	if s := i.Doc.State(); s != workflow.Running && s != workflow.Ready {
		return engine.Void{}, fault.Conflict.Errorf("workflow %s: it is %s", i.ID(), s).WithCode(fault.CodeWorkflowState)
	}
	h := &host{env: e, instance: i}
	if i.IsRoute() {
		return engine.Void{}, h.walkRoute()
	}
	// Tasks are given up before the walk, so nobody can end one of them and walk the same branch
	// twice.
	if i.Begun() {
		if err := h.cancelNode(p.Node); err != nil {
			return engine.Void{}, err
		}
		return engine.Void{}, h.resume(p.Node)
	}
	if i.Model == nil {
		return engine.Void{}, h.gone()
	}
	return engine.Void{}, h.start()
}
