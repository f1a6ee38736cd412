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
			"which are those of Task.GetAssigned.",
		Effect: engine.Reads,
		Run:    on(ms, userTasksParams.run),
	}
}

type userTasksParams struct {
	Language string `json:"language,omitzero" doc:"Language of names and directives; empty: English."`
	Page     int    `json:"page" default:"0" doc:"Number of the page, from 0."`
	Size     int    `json:"pageSize" default:"0" doc:"Most entries of a page; 0 is as many as an answer may hold."`
}

func (p userTasksParams) run(e *env, _ engine.Void) (*storage.Blob, error) {
	o := listTasksParams{Size: p.Size, Index: p.Page}.options(e)
	items, page, err := e.assignedTo(p.Language, o)
	if err != nil {
		return nil, err
	}
	return file("tasks.json", map[string]any{
		"isPaginable": true, "totalSize": page.Total, "pageIndex": max(p.Page, 0), "pageSize": o.Limit,
		"pageCount": (page.Total + o.Limit - 1) / o.Limit, "entries": items,
	})
}
