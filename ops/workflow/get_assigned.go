package workflow

import (
	"encoding/json"
	"time"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// getAssigned returns one page of the server's limit and does not count.
// Workflow.UserTaskPageProvider is the operation for long lists.
func getAssigned(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.GetAssigned",
		Aliases:  []string{"Workflow.GetTask"},
		Label:    "Get user tasks",
		Category: services,
		Doc: "Returns a JSON file with the open tasks of the caller and the caller's groups: a list with id, docref, name, taskName, directive, " +
			"comment, dueDate, documentTitle, documentLink, startDate and expired. Tasks on documents that the caller may not read are omitted.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run: on(ms, func(_ engine.Void, e *env, _ engine.Void) (*storage.Blob, error) {
			items, _, err := e.assignedTo("", storage.PageOptions{CountLimit: -1})
			if err != nil {
				return nil, err
			}
			return file("tasks.json", items)
		}),
	}
}

func file(name string, v any) (*storage.Blob, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob(name, "application/json", data), nil
}

// assignedTo describes the open tasks of the caller that are on a page.
func (e *env) assignedTo(language string, o storage.PageOptions) ([]map[string]any, *storage.Page, error) {
	page, err := workflow.Tasks(e.Tx, workflow.Filter{Actors: workflow.Names(e.As)}, o)
	if err != nil {
		return nil, nil, err
	}
	if err := e.tasksAhead(page.Docs); err != nil {
		return nil, nil, err
	}
	items := []map[string]any{}
	for _, d := range page.Docs {
		t, err := workflow.OpenTask(e.unlimited(), e.models, d)
		if err != nil {
			return nil, nil, err
		}
		// Skipped entries make a page shorter than its size, and the total still counts them:
		// finding out would mean reading every document.
		ids := t.Documents()
		if len(ids) == 0 {
			continue
		}
		// Read as the caller: being an actor does not by itself give the right to see the
		// document's title.
		about, err := e.Tx.Doc(storage.Ref(ids[0]))
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		items = append(items, e.item(t, about, language))
	}
	return items, page, nil
}

// tasksAhead tells that the tasks of a list are about to be described, with the first document of each.
func (e *env) tasksAhead(tasks storage.Docs) error {
	var about storage.Refs
	for _, d := range tasks {
		if ids := (&workflow.Task{Doc: d}).Documents(); len(ids) > 0 {
			about = append(about, storage.Ref(ids[0]))
		}
	}
	return workflow.Ahead(e.Tx, tasks, about...)
}

// item is a task as lists for dashboards have it.
func (e *env) item(t *workflow.Task, about *storage.Doc, language string) map[string]any {
	due, comment := storage.Prop[time.Time](t.Doc, "nt:dueDate"), ""
	if said := t.Comments(); len(said) > 0 {
		comment = said[len(said)-1].Text
	}
	return map[string]any{
		"id": t.ID(), "docref": about.ID(), "name": t.Name(), "taskName": e.models.Text(language, t.Name()),
		"directive": e.models.Text(language, storage.Prop[string](t.Doc, "nt:directive")), "comment": comment, "dueDate": text(due),
		// The link is relative to the server's address and has the form that the platform's web
		// client understands.
		"documentTitle": about.Title(), "documentLink": "ui/#!/doc/" + about.ID(),
		"startDate": text(storage.Prop[time.Time](t.Doc, "dc:created")), "expired": !due.IsZero() && due.Before(e.Now),
	}
}

// The form of dates in these lists: UTC with milliseconds, and an empty text, not null, for no
// date.
func text(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
