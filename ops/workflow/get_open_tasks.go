package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// getOpenTasks reads as the server, like the platform: people who may read a document are to see
// with whom it waits.
func getOpenTasks(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.GetOpenTasks",
		Aliases:  []string{"Context.GetOpenTasks"},
		Label:    "Get open tasks",
		Category: context,
		Requires: "Workflow",
		Doc: "Returns the open tasks on the document, optionally of one user; or with nodeId and processId together all tasks of a node of a workflow on the document, " +
			"including ended ones. Unlike Task.List, it also returns tasks that the caller may not read, if the caller may read the document.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run:     each(ms, getOpenTasksParams.run),
	}
}

type getOpenTasksParams struct {
	Node     string `json:"nodeId,omitzero" doc:"Id of a node."`
	Process  string `json:"processId,omitzero" alias:"workflowInstanceId" doc:"Id of a workflow."`
	Username string `json:"username,omitzero" doc:"Name of a user."`
}

func (p getOpenTasksParams) run(e *env, d *storage.Doc) (storage.Docs, error) {
	// The input is what the caller has proved to be able to read. This filter always applies, so
	// tasks on other documents stay out of reach.
	f := workflow.Filter{Documents: []string{d.ID()}}
	switch {
	case (p.Node == "") != (p.Process == ""):
		return nil, fault.Invalid.Errorf("nodeId and processId: must be given together").In("nodeId")
	case p.Node != "":
		f.Node, f.Instance, f.Ended = p.Node, p.Process, true
	case p.Username != "":
		names, err := e.namesOf(p.Username)
		if err != nil {
			return nil, err
		}
		f.Actors = names
	}
	page, err := workflow.Tasks(e.unlimited(), f, storage.PageOptions{CountLimit: -1})
	if err != nil {
		return nil, err
	}
	return page.Docs, nil
}
