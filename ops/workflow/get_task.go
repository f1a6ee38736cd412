package workflow

import (
	"slices"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

func getTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.Get",
		Label:    "Task",
		Category: services,
		Doc:      "Returns a task. It fails if the input is a document that the task does not belong to.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Run: engine.Overload(
			on(ms, func(p getTaskParams, e *env, _ engine.Void) (*workflow.Task, error) { return e.taskByID(p.ID) }),
			on(ms, func(p getTaskParams, e *env, d *storage.Doc) (*workflow.Task, error) { return e.taskAbout(d, p.ID) }),
		),
	}
}

type getTaskParams struct {
	ID string `json:"taskId" doc:"Id of the task."`
}

// taskAbout finds a task about a document.
// The address names both, so a task on another document is treated as missing at this address.
func (e *env) taskAbout(d *storage.Doc, id string) (*workflow.Task, error) {
	t, err := e.taskByID(id)
	if err == nil && !slices.Contains(t.Documents(), d.ID()) {
		err = fault.NotFound.Errorf("task %s on document %s", id, d.ID())
	}
	return t, err
}
