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
		Doc: "Gives an open task to others instead: its actors may, its initiator and administrators, if the workflow lets its task be " +
			"reassigned. What was delegated ends. The input is kept.",
		Run: on(ms, reassignParams.run),
	}
}

type reassignParams struct {
	ID      string   `json:"taskId" doc:"Id of the task."`
	Actors  []string `json:"actors" doc:"Who is to do it: users and groups, with \"user:\" or \"group:\" in front or not."`
	Comment string   `json:"comment,omitzero" doc:"A comment."`
}

func (p reassignParams) run(e *env, _ engine.Void) (engine.Void, error) {
	t, h, actors, err := e.handing(p.ID, p.Actors)
	if err != nil {
		return engine.Void{}, err
	}
	if err := t.MayReassign(e.As); err != nil {
		return engine.Void{}, err
	}
	if err := t.Reassign(h.unlimited(), actors, p.Comment); err != nil {
		return engine.Void{}, err
	}
	return engine.Void{}, h.assigned("workflowTaskReassigned", t, actors)
}

func delegateTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.Delegate",
		Label:    "Delegate a task",
		Category: services,
		Doc:      "Lets others do an open task too: its actors may delegate it, its initiator and administrators. The input is kept.",
		Run:      on(ms, delegateParams.run),
	}
}

type delegateParams struct {
	ID      string   `json:"taskId" doc:"Id of the task."`
	Actors  []string `json:"delegatedActors" doc:"Who may do it too: users and groups, with \"user:\" or \"group:\" in front or not."`
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
	h := &host{env: e, instance: t.Instance}
	actors, err := h.actors(names)
	return t, h, actors, err
}
