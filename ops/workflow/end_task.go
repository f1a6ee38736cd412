package workflow

import (
	"cmp"
	"maps"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

func endTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.End",
		Label:    "End a task",
		Category: services,
		Doc: "Completes a task with one of its actions and returns it; the workflow continues. Variables that the task does not ask for are ignored. " +
			"It fails if the caller is not one of its actors, if the task has ended, or if the input is a document that the task does not belong to.",
		Callers: engine.Anyone,
		Run: engine.Overload(
			on(ms, func(p endTaskParams, e *env, _ engine.Void) (*workflow.Task, error) { return p.end(e, e.taskByID) }),
			on(ms, func(p endTaskParams, e *env, d *storage.Doc) (*workflow.Task, error) {
				return p.end(e, func(id string) (*workflow.Task, error) { return e.taskAbout(d, id) })
			}),
		),
	}
}

type endTaskParams struct {
	ID     string         `json:"taskId" doc:"Id of the task."`
	Action string         `json:"action" doc:"Name of the action, for example validate."`
	Task   map[string]any `json:"task,omitzero" type:"object" doc:"Values entered: comment and variables."`
}

func (p endTaskParams) end(e *env, find func(id string) (*workflow.Task, error)) (*workflow.Task, error) {
	t, err := find(p.ID)
	if err != nil {
		return nil, err
	}
	// REST clients send variables of the node and of the workflow in one object. Both get all of
	// it, and each takes only what it declares or asks for.
	comment, _ := p.Task["comment"].(string)
	variables, _ := p.Task["variables"].(map[string]any)
	return e.end(t, ending{action: p.Action, comment: comment, node: variables, workflow: variables})
}

// ending is how a task ends.
type ending struct {
	action, comment string
	node, workflow  map[string]any // values of variables
}

// end ends a task and continues its workflow, unless other tasks of the node are still open and the node
// waits for them. Permissions and the state of the task are checked before anything is written.
func (e *env) end(t *workflow.Task, end ending) (*workflow.Task, error) {
	// Permission first: those who may not end the task do not learn whether somebody else has.
	if err := t.MayEnd(e.As); err != nil {
		return nil, err
	}
	if err := t.MustBeOpen(); err != nil {
		return nil, err
	}
	if t.IsAnswered() {
		return t, e.answer(t, end)
	}
	// The model may have been changed or removed since the task was assigned; without its node
	// nothing says how to go on.
	i, n := t.Instance, t.Node
	if i == nil || i.Model == nil || n == nil || n.Task == nil {
		return nil, fault.Conflict.Errorf("task %s: its workflow no longer exists or is no longer declared", t.ID()).WithCode(fault.CodeWorkflowState)
	}
	// Checked against the buttons that the task offers now (see env.task), not against all that the
	// model declares.
	if _, err := (&workflow.TaskDef{Buttons: t.Buttons}).Button(end.action); err != nil {
		return nil, err
	}
	tx := e.unlimited()
	if err := e.record(tx, t, end); err != nil {
		return nil, err
	}
	// From here on h.instance counts, not i: chains of the walk may replace it.
	h := &host{env: e, instance: i, last: t}
	if err := h.fire("workflowTaskCompleted", t); err != nil {
		return nil, err
	}
	// The other actors' tasks of the node are still open: the state is saved, and the last of them
	// walks on.
	open, err := i.WaitsFor(tx, n.ID)
	if err != nil {
		return nil, err
	}
	// The permissions that the node gives shrink with every task that ends, and end with the last
	// one.
	if err := i.Grant(tx, n, open); err != nil {
		return nil, err
	}
	if len(open) > 0 {
		return t, i.Save(tx)
	}
	if err := h.resume(n.ID); err != nil {
		return nil, err
	}
	t.Instance = h.instance
	return t, nil
}

// record stores how a task was ended: in the variables of its workflow, in the task, and in the state of its
// node. Variables come first, since they are what may be refused.
func (e *env) record(tx *storage.Tx, t *workflow.Task, end ending) error {
	i, n := t.Instance, t.Node
	// The comment may be given beside the variables or among them. Chains read it as a variable of
	// the node in either case.
	said, _ := end.node["comment"].(string)
	if said == "" {
		said = end.comment
	}
	if said != "" {
		end.node = with(end.node, "comment", said)
	}
	if err := i.Fill(n, end.node, end.workflow); err != nil {
		return err
	}
	// An ended task offers nothing, also in the answer to this call.
	t.Buttons = nil
	if err := t.End(tx, end.action, end.comment); err != nil {
		return err
	}
	st := i.Node(n.ID)
	st.Button, st.LastActor = end.action, tx.Actor()
	st.Note(t.ID(), tx.Actor(), end.action, said)
	return nil
}

// answer ends a task by accept or reject. If what a route is about is gone the route is cancelled.
func (e *env) answer(t *workflow.Task, end ending) error {
	// The only buttons are accept and reject, which env.task has added.
	if _, err := (&workflow.TaskDef{Buttons: t.Buttons}).Button(end.action); err != nil {
		return err
	}
	t.Buttons = nil
	if err := t.End(e.unlimited(), end.action, end.comment); err != nil {
		return err
	}
	h := &host{env: e, instance: t.Instance}
	if err := h.fire("workflowTaskCompleted", t); err != nil {
		return err
	}
	// A step's task belongs to a route. Its chain would fail without documents and hold the task
	// open forever.
	if t.Step() != "" {
		if t.Instance == nil {
			return nil
		}
		if docs, err := h.documents(); err != nil || len(docs) == 0 {
			return cmp.Or(err, h.cancel())
		}
	}
	return e.answered(t, end.action == "accept")
}

// with is a copy of variables with one more.
func with(variables map[string]any, name string, v any) map[string]any {
	out := maps.Clone(variables)
	if out == nil {
		out = map[string]any{}
	}
	out[name] = v
	return out
}

func completeTask(ms models) engine.Op {
	return engine.Op{
		Name:     "WorkflowTask.Complete",
		Aliases:  []string{"Workflow.CompleteTaskOperation"},
		Label:    "Complete task",
		Category: context,
		Requires: "Workflow",
		Doc: "Completes the input task and returns it as it was passed; the workflow continues. Variables that the task does not ask for are ignored. " +
			"It fails if the caller is not one of its actors, or if the task has ended.",
		Callers: engine.Anyone,
		Run:     each(ms, completeParams.run),
	}
}

type completeParams struct {
	Comment  string        `json:"comment,omitzero" doc:"A comment."`
	Node     storage.Props `json:"nodeVariables,omitzero" doc:"Values of variables of the node; values other than text may be given as JSON text."`
	Status   string        `json:"status,omitzero" doc:"Name of the action, for example validate."`
	Workflow storage.Props `json:"workflowVariables,omitzero" doc:"Values of variables of the workflow; values other than text may be given as JSON text."`
}

func (p completeParams) run(e *env, d *storage.Doc) (*storage.Doc, error) {
	t, err := e.task(d)
	if err != nil {
		return nil, err
	}
	// The platform refuses such tasks too; Task.End takes both kinds.
	if t.Alone() {
		return nil, fault.Conflict.Errorf("task %s: is not part of a workflow; use Task.End", t.ID()).WithCode(fault.CodeWorkflowState)
	}
	end := ending{action: p.Status, comment: p.Comment, node: p.Node, workflow: p.Workflow}
	// Values come as texts from chains and forms; typed needs the declarations, which tasks of
	// steps do not have. A missing model is reported by end.
	if t.Node != nil && t.Instance.Model != nil {
		end.node, end.workflow = typed(t.Node.Variables, p.Node), typed(t.Instance.Model.Variables, p.Workflow)
	}
	// The platform returns the document as it was passed, with the state from before.
	_, err = e.end(t, end)
	return d, err
}
