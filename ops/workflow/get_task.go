package workflow

import (
	"catena/engine"
	"catena/storage/workflow"
)

func getTask(ms *workflow.Models) engine.Op {
	return engine.Op{
		Name:     "Task.Get",
		Label:    "Task",
		Category: services,
		Doc:      "Returns a task.",
		Effect:   engine.Reads,
		Run:      on(ms, getTaskParams.run),
	}
}

type getTaskParams struct {
	ID string `json:"taskId" doc:"Id of the task."`
}

func (p getTaskParams) run(e *env, _ engine.Void) (*workflow.Task, error) { return e.taskByID(p.ID) }
