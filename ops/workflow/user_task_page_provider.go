package workflow

import (
	"catena/engine"
	"catena/storage"
)

func userTasks(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.UserTaskPageProvider",
		Label:    "UserTaskPageProvider",
		Category: services,
		Doc: "Returns a JSON file with a page of the open tasks of the caller: isPaginable, totalSize, pageIndex, pageSize, pageCount and entries, " +
			"as returned by Task.GetAssigned.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run:     on(ms, userTasksParams.run),
	}
}

type userTasksParams struct {
	Language string `json:"language,omitzero" doc:"Language of names and directives; English by default."`
	Page     int    `json:"page" default:"0" doc:"Number of the page, starting at 0."`
	Size     int    `json:"pageSize" default:"0" doc:"Maximum number of entries per page; 0 means the server's limit."`
}

func (p userTasksParams) run(e *env, _ engine.Void) (*storage.Blob, error) {
	o, err := listTasksParams{Size: p.Size, Index: max(p.Page, 0)}.options(e)
	if err != nil {
		return nil, err
	}
	items, page, err := e.assignedTo(p.Language, o)
	if err != nil {
		return nil, err
	}
	return file("tasks.json", map[string]any{
		"isPaginable": true, "totalSize": page.Total, "pageIndex": max(p.Page, 0), "pageSize": o.Limit,
		"pageCount": (page.Total + o.Limit - 1) / o.Limit, "entries": items,
	})
}
