package workflow

import (
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/openapi"
	"catena/engine/workflow"
	"catena/storage/declare"
	"catena/storage/schema"
)

// taskForm has no counterpart in the platform, whose user interface declares a layout for each
// node. The page of tasks builds its form from this answer instead.
func taskForm(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.Form",
		Label:    "Form of a task",
		Category: services,
		Doc: "Returns the form of a task: its fields, each with name, type, list, values, people (whether it names users and groups), writable " +
			"and value, and the actions that the caller may take: end, reassign, delegate.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Result:  openapi.Ref("TaskForm"),
		Run:     on(ms, getTaskParams.form),
	}
}

func (p getTaskParams) form(e *env, _ engine.Void) (map[string]any, error) {
	t, err := e.taskByID(p.ID)
	if err != nil {
		return nil, err
	}
	// Everyone who may read the task sees its form; the words only tell the page which controls to
	// show. Each operation checks for itself.
	may := []any{}
	if t.MustBeOpen() == nil && (t.Node != nil || t.IsAnswered()) {
		for _, one := range []struct {
			word    string
			refused error
		}{{"end", t.MayEnd(e.As)}, {"reassign", t.MayReassign(e.As)}, {"delegate", t.MayHandOn(e.As)}} {
			if one.refused == nil {
				may = append(may, one.word)
			}
		}
	}
	return map[string]any{"entity-type": "taskForm", "id": t.ID(), "may": may, "fields": fieldsOf(t, slices.Contains(may, "end"))}, nil
}

// fieldsOf are the fields of a task's form: those that are asked for before those that are only shown.
func fieldsOf(t *workflow.Task, open bool) []any {
	out := []any{}
	if t.Node == nil || t.Node.Task == nil {
		return out
	}
	m, values := t.Instance.Model, t.Variables()
	// The list of values is never null, which spares the page a case.
	add := func(f *schema.Field, writable bool) {
		out = append(out, map[string]any{
			"name": f.Name, "type": f.Kind.String(), "list": f.List, "values": append([]string{}, f.Enum...),
			"people": asksFor(m, f.Name), "writable": writable, "value": values[f.Name],
		})
	}
	for _, a := range t.Node.Task.Asks {
		add(m.Variable(a.Text), open)
	}
	for _, f := range t.Node.Variables {
		add(f, open)
	}
	for _, a := range t.Node.Task.Shows {
		add(m.Variable(a.Text), false)
	}
	return out
}

// asksFor reports whether a node of the workflow asks those whom a variable names.
// No declaration says which variables hold people, so the expressions of the assignees are searched
// for the name. Only the choice of the input field depends on it, and a false match costs nothing
// else.
func asksFor(m *workflow.Model, variable string) bool {
	return slices.ContainsFunc(m.Nodes, func(n *workflow.Node) bool {
		return n.Task != nil && slices.ContainsFunc(n.Task.Assignees, func(a declare.Name) bool { return strings.Contains(a.Text, "WorkflowVariables."+variable) })
	})
}
