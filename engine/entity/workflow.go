package entity

import (
	"net/url"
	"slices"

	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// workflows appends workflows, their models and graphs, and tasks.
func (w *writer) workflows(dst []byte, v any, level int) ([]byte, error) {
	switch v := v.(type) {
	case *workflow.Instance:
		return w.value(dst, w.instance(v), level)
	case workflow.InstanceList:
		return w.value(dst, workflows(v, w.instance), level)
	case *workflow.Model:
		return w.value(dst, w.model(v), level)
	case workflow.ModelList:
		return w.value(dst, workflows(v, w.model), level)
	case *workflow.Graph:
		return w.value(dst, map[string]any{"entity-type": "graph", "nodes": v.Nodes, "transitions": v.Transitions}, level)
	case *workflow.Task:
		return w.value(dst, w.task(v), level)
	case *workflow.TaskPage:
		return w.taskPage(dst, v, level)
	}
	return w.wrapped(dst, v, level)
}

// workflows is a list of workflows, or of their models.
func workflows[T any](list []T, one func(T) map[string]any) map[string]any {
	entries := make([]any, len(list))
	for i, v := range list {
		entries[i] = one(v)
	}
	return map[string]any{"entity-type": "workflows", "entries": entries}
}

func (w *writer) instance(i *workflow.Instance) map[string]any {
	return map[string]any{
		"entity-type": "workflow", "id": i.ID(), "name": i.ModelName, "title": i.Title(), "state": i.Doc.State(), "workflowModelName": i.ModelName,
		"initiator":           w.person(i.Initiator, "workflow", "initiator"),
		"attachedDocumentIds": w.attached(i.Documents, "workflow", "attachedDocumentIds"),
		"variables":           i.Variables, "graphResource": w.api("workflow", i.ID(), "graph"),
	}
}

// model is a workflow that nobody has started.
func (w *writer) model(m *workflow.Model) map[string]any {
	return map[string]any{
		"entity-type": "workflow", "id": m.Name, "name": m.Name, "title": m.Title, "state": nil, "workflowModelName": m.Name, "initiator": nil,
		"attachedDocumentIds": []any{}, "variables": m.First(), "graphResource": w.api("workflowModel", m.Name, "graph"),
	}
}

func (w *writer) task(t *workflow.Task) map[string]any {
	out := map[string]any{
		"entity-type": "task", "id": t.ID(), "name": t.Name(), "state": t.Doc.State(), "nodeName": t.Variable("nodeId"),
		"workflowInstanceId": nil, "workflowModelName": nil, "workflowInitiator": nil, "workflowTitle": nil,
		"workflowLifeCycleState": nil, "graphResource": nil,
		"targetDocumentIds": w.attached(t.Documents(), "task", "targetDocumentIds"),
		"actors":            w.actors(t.Actors()), "delegatedActors": w.actors(t.Delegated()),
		"comments": comments(t), "variables": t.Variables(), "taskInfo": w.taskInfo(t),
	}
	for name, key := range map[string]string{"directive": "nt:directive", "created": "dc:created", "dueDate": "nt:dueDate"} {
		out[name], _ = t.Doc.Get(key)
	}
	if i := t.Instance; i != nil {
		out["workflowInstanceId"], out["workflowModelName"], out["workflowTitle"] = i.ID(), i.ModelName, i.Title()
		out["workflowInitiator"] = w.person(i.Initiator, "task", "workflowInitiator")
		out["workflowLifeCycleState"], out["graphResource"] = i.Doc.State(), w.api("workflow", i.ID(), "graph")
	}
	return out
}

// taskInfo says how a task can be ended.
func (w *writer) taskInfo(t *workflow.Task) map[string]any {
	actions := make([]any, len(t.Buttons))
	for i, b := range t.Buttons {
		actions[i] = map[string]any{"name": b.Name, "url": w.api("task", t.ID(), b.Name), "label": b.Label, "validate": b.Validate}
	}
	return map[string]any{
		"allowTaskReassignment": t.Node != nil && t.Node.Task != nil && t.Node.Task.Reassignable, "taskActions": actions,
		"layoutResource": map[string]any{"name": t.Variable("nodeId"), "url": w.api("task", t.ID(), "form")}, "schemas": []any{},
	}
}

func comments(t *workflow.Task) []any {
	list := t.Comments()
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = map[string]any{"author": c.Author, "text": c.Text, "date": c.Date}
	}
	return out
}

// api is an address below that of the API.
func (w *writer) api(parts ...string) string {
	address := w.o.Base + "/api/v1"
	for _, p := range parts {
		address += "/" + url.PathEscape(p)
	}
	return address
}

// attached are documents as references, or themselves if that is asked for.
func (w *writer) attached(ids []string, entity, member string) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = map[string]any{"id": id}
		if !slices.Contains(w.o.Fetch[entity], member) || w.c.Tx == nil {
			continue
		}
		if d, err := w.c.Tx.Doc(storage.Ref(id)); err == nil {
			out[i] = d
		}
	}
	return out
}

// person is a user's name, or the user if that is asked for.
func (w *writer) person(name, entity, member string) any {
	if slices.Contains(w.o.Fetch[entity], member) && w.c.Tx != nil {
		if u, err := people.Lookup(w.c.Tx, name); err == nil {
			return u
		}
	}
	return name
}

// tasksAhead tells which documents and people are about to be written in place of references.
func (w *writer) tasksAhead(tasks []*workflow.Task) error {
	a := storage.ReadsOf(w.c.Tx)
	if a == nil {
		return nil
	}
	fetch := w.o.Fetch["task"]
	for _, t := range tasks {
		if slices.Contains(fetch, "targetDocumentIds") {
			for _, id := range t.Documents() {
				a.Doc(id)
			}
		}
		if !slices.Contains(fetch, "actors") {
			continue
		}
		for _, name := range slices.Concat(t.Actors(), t.Delegated()) {
			if kind, plain := workflow.Split(name); kind == "group" {
				a.Group(plain)
			} else {
				a.User(plain)
			}
		}
	}
	return a.Fetch()
}

// actors are users and groups as references, or themselves if that is asked for.
func (w *writer) actors(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = map[string]any{"id": name}
		if !slices.Contains(w.o.Fetch["task"], "actors") || w.c.Tx == nil {
			continue
		}
		kind, plain := workflow.Split(name)
		if kind == "group" {
			if g, err := people.LookupGroup(w.c.Tx, plain); err == nil {
				out[i] = g
			}
		} else if u, err := people.Lookup(w.c.Tx, plain); err == nil {
			out[i] = u
		}
	}
	return out
}

// taskPage appends a list of tasks, with the figures of its page if it has pages.
func (w *writer) taskPage(dst []byte, p *workflow.TaskPage, level int) ([]byte, error) {
	dst = append(dst, `{"entity-type":"tasks",`...)
	if p.Page != nil {
		dst = appendPaging(dst, p.Page, len(p.Tasks))
	}
	if err := w.tasksAhead(p.Tasks); err != nil {
		return nil, err
	}
	dst = append(dst, `"entries":[`...)
	for i, t := range p.Tasks {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.value(dst, w.task(t), level); err != nil {
			return nil, err
		}
		if len(dst) > maxBytes {
			return nil, fault.Limit.Errorf("response: longer than %d bytes", maxBytes).WithCode(fault.CodeAnswer)
		}
	}
	return append(dst, ']', '}'), nil
}
