package workflow

import (
	"time"

	"catena/engine"
	"catena/engine/expr"
	"catena/engine/workflow"
	"catena/storage"
)

func createTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.Create",
		Sets:     []string{taskDocument},
		Aliases:  []string{"Workflow.CreateTask"},
		Label:    "Create task",
		Category: services,
		Doc: "Assigns a task on the document that is not part of a workflow, and returns the document. The task is completed by accept or reject; then the " +
			"corresponding chain runs with the document as input and the task in the variable taskDocument, with the permissions of the user who created " +
			"the task. Failures of the chain are only logged. Without actors, nothing happens. No mail is sent.",
		Callers: engine.Anyone,
		Run:     each(ms, createTaskParams.run),
	}
}

type createTaskParams struct {
	Name      string    `json:"task name" doc:"Name of the task."`
	Due       time.Time `json:"due date,omitzero" doc:"Due date; by default in five days."`
	Directive string    `json:"directive,omitzero" doc:"Description of the task."`
	Comment   string    `json:"comment,omitzero" doc:"A comment."`
	Accept    string    `json:"accept operation chain,omitzero" doc:"Operation or chain to run when the task is accepted."`
	Reject    string    `json:"reject operation chain,omitzero" doc:"Operation or chain to run when the task is rejected."`
	Variable  string    `json:"variable name for actors prefixed ids,omitzero" doc:"Context variable that holds one actor or a list of actors."`
	Actors    []string  `json:"additional list of actors prefixed ids,omitzero" blamed:"actors" doc:"Additional actors: users and groups, with or without the prefixes user: and group:."`
	Each      bool      `json:"create one task per actor" default:"true" doc:"Whether to create a task for each actor instead of one for all."`
}

// Names of what a task keeps that is ended by accept or reject.
const (
	acceptChain = "acceptOperationChain"
	rejectChain = "rejectOperationChain"
	fromStored  = "fromStored" // "true" if what is stored on the server has made it
)

func (p createTaskParams) run(e *env, d *storage.Doc) (*storage.Doc, error) {
	names := p.Actors
	// The actors of the variable come first: chains compute them, and the parameter adds to them.
	if p.Variable != "" {
		names = append(listed(e.Vars[p.Variable]), names...)
	}
	// As in the platform. Names that are given but unknown are an error instead, in actors.
	if len(names) == 0 {
		return d, nil
	}
	// Without an instance: what is not part of a workflow has no node, no variables and no
	// initiator but the caller.
	h := &host{env: e}
	actors, err := h.actors(names)
	if err != nil {
		return nil, err
	}
	def := workflow.NewTask{Name: p.Name, Directive: p.Directive, Comment: p.Comment, Due: p.Due, Documents: []string{d.ID()}}
	if def.Due.IsZero() {
		def.Due = e.Now.AddDate(0, 0, workflow.DueDays)
	}
	if def.Variables, err = e.chains(p.Accept, p.Reject); err != nil {
		return nil, err
	}
	for _, def.Actors = range shares(actors, p.Each) {
		// The task is stored as the server, since callers may not create documents among the tasks.
		// Reading the input document is all that the caller needs.
		t, err := workflow.AddTask(e.unlimited(), nil, nil, def)
		if err != nil {
			return nil, err
		}
		if err := h.fire("workflowTaskAssigned", t); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// chains are the variables of a task that say what runs when it is ended, which the caller has to be allowed
// to run: otherwise a task would be a way to run anything with the permissions of somebody else. What a chain
// of the server creates (fromStored) may also name operations that only chains may call.
func (e *env) chains(accept, reject string) (map[string]string, error) {
	out := map[string]string{}
	for _, chain := range [...]struct{ key, name string }{{acceptChain, accept}, {rejectChain, reject}} {
		key, name := chain.key, chain.name
		if name == "" {
			continue
		}
		if !e.Set().Allowed(name, e.As, e.EntryPoint) {
			return nil, e.Set().Missing(name, e.As, e.EntryPoint)
		}
		out[key] = name
	}
	if e.EntryPoint&stored != 0 {
		out[fromStored] = "true"
	}
	return out, nil
}

// listed are the texts of a value: of a list, or of one.
// Null and empty texts are left out, so a variable that is not set names nobody.
func listed(v any) (out []string) {
	list, many := v.([]any)
	if texts, ok := v.([]string); ok {
		return texts
	}
	if !many {
		list = []any{v}
	}
	for _, item := range list {
		if text := expr.Text(item); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// answered runs what the creator of a task wanted to happen once it is ended, as the creator. If it fails, a
// task outside of a workflow is ended all the same and the failure is logged; a route could not go on, so its
// task stays open and the call fails.
func (e *env) answered(t *workflow.Task, accepted bool) error {
	name := t.Variable(acceptChain)
	if !accepted {
		name = t.Variable(rejectChain)
	}
	if name == "" {
		return nil
	}
	// What a failing chain has written must not remain while the task counts as ended, so it runs
	// in a nested transaction.
	err := e.Tx.Nest(func() error {
		maker, err := storage.PrincipalOf(e.unlimited(), storage.Prop[string](t.Doc, "nt:initiator"))
		if err != nil {
			return err
		}
		// The variables are a copy: a chain of one person must not change those of the call of
		// another.
		c := e.Sub(true)
		// Otherwise the entry point stays that of the call, and with it the set of operations that
		// may be named.
		if t.Variable(fromStored) != "" {
			c.EntryPoint = engine.Chain
		}
		c.Login(maker)
		// Read as the creator, who may have lost the permission to read the document since. Each of
		// these tasks is about exactly one document.
		d, err := c.Tx.Doc(storage.Ref(t.Documents()[0]))
		if err != nil {
			return err
		}
		c.SetVar(taskDocument, t.Doc)
		_, err = c.Call(name, d, nil)
		return err
	})
	// The person who ends the task did not write the chain and cannot repair it, hence only the
	// log, as in the platform.
	if err != nil && !engine.Ends(err) && t.Alone() {
		e.Log.Warn("task: its chain failed", "task", t.ID(), "chain", name, "error", err)
		return nil
	}
	return err
}
