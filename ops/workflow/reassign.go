package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
)

func reassignTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.Reassign",
		Label:    "Reassign a task",
		Category: services,
		Doc: "Reassigns an open task: allowed for its actors, its initiator and administrators, if the workflow permits the task to be " +
			"reassigned. Delegations end. Returns the input.",
		Callers: engine.Anyone,
		Run:     on(ms, reassignParams.run),
	}
}

type reassignParams struct {
	ID      string   `json:"taskId" doc:"Id of the task."`
	Actors  []string `json:"actors" doc:"New actors: users and groups, with or without the prefixes user: and group:."`
	Comment string   `json:"comment,omitzero" doc:"A comment."`
}

func (p reassignParams) run(e *env, _ engine.Void) (engine.Void, error) {
	t, h, actors, err := e.handing(p.ID, p.Actors)
	if err != nil {
		return engine.Void{}, err
	}
	// Checked before anything is written. The model decides whether a task can be reassigned at
	// all.
	if err := t.MayReassign(e.As); err != nil {
		return engine.Void{}, err
	}
	if err := t.Reassign(h.unlimited(), actors, p.Comment); err != nil {
		return engine.Void{}, err
	}
	return engine.Void{}, h.assigned("workflowTaskReassigned", t, actors)
}

// delegateTask leaves the task with its actors, so no model has to permit it: nobody loses
// anything.
func delegateTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.Delegate",
		Label:    "Delegate a task",
		Category: services,
		Doc:      "Delegates an open task to additional actors: allowed for its actors, its initiator and administrators. Returns the input.",
		Callers:  engine.Anyone,
		Run:      on(ms, delegateParams.run),
	}
}

type delegateParams struct {
	ID      string   `json:"taskId" doc:"Id of the task."`
	Actors  []string `json:"delegatedActors" blamed:"actors" doc:"Additional actors: users and groups, with or without the prefixes user: and group:."`
	Comment string   `json:"comment,omitzero" doc:"A comment."`
}

func (p delegateParams) run(e *env, _ engine.Void) (engine.Void, error) {
	t, h, actors, err := e.handing(p.ID, p.Actors)
	if err != nil {
		return engine.Void{}, err
	}
	if err := t.MayHandOn(e.As); err != nil {
		return engine.Void{}, err
	}
	if err := t.Delegate(h.unlimited(), actors, p.Comment); err != nil {
		return engine.Void{}, err
	}
	return engine.Void{}, h.assigned("workflowTaskDelegated", t, actors)
}

// handing finds an open task, and those it is to be handed on to.
func (e *env) handing(id string, names []string) (*workflow.Task, *host, []string, error) {
	t, err := e.taskByID(id)
	if err == nil {
		err = t.MustBeOpen()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	// The instance is nil for a task outside of workflows, which can be delegated as well.
	h := &host{env: e, instance: t.Instance}
	actors, err := h.actors(names)
	return t, h, actors, err
}
