package workflow

import (
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/expr"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// Names of context variables that chains of steps find.
const (
	taskDocument  = "taskDocument"                 // the task that is ended
	taskDocuments = "taskDocuments"                // the tasks that the step has made
	taskActors    = "document.routing.task.actors" // whom they wait for: names of users
)

func createRoutingTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.CreateRoutingTask",
		Sets:     []string{taskDocuments, taskActors, taskDocument},
		Label:    "Create task",
		Category: services,
		Doc: "Assigns one task on the document to all actors of the step in the variable document.routing.step, and returns the document. The task is completed by " +
			"accept or reject; then the corresponding chain runs with the document as input and the task in the variable taskDocument, with the permissions " +
			"of the user who created the task. If it fails, the task is not completed. Without actors, nothing happens. The variables taskDocuments and " +
			"document.routing.task.actors hold the tasks and their actors. For users who may cancel the route.",
		Callers: engine.Anyone,
		Run: engine.Overload(
			on(ms, func(p routingTaskParams, e *env, d *storage.Doc) (*storage.Doc, error) {
				return d, p.run(e, storage.Docs{d})
			}),
			on(ms, func(p routingTaskParams, e *env, docs storage.Docs) (storage.Docs, error) {
				return docs, p.run(e, docs)
			}),
		),
	}
}

type routingTaskParams struct {
	Accept     string        `json:"accept operation chain,omitzero" doc:"Operation or chain to run when the task is accepted."`
	Reject     string        `json:"reject operation chain,omitzero" doc:"Operation or chain to run when the task is rejected."`
	Properties storage.Props `json:"mappingProperties,omitzero" doc:"Sources by xpath of the task's properties: Document: or StepTask: followed by an xpath of the document or the step."`
	Variables  storage.Props `json:"mappingTaskVariables,omitzero" doc:"Sources by name of the task's variables, in the same form."`
}

func (p routingTaskParams) run(e *env, docs storage.Docs) error {
	s, err := e.managed()
	if err != nil {
		return err
	}
	h := &host{env: e, instance: s.Route}
	made, people := storage.Docs{}, []string{}
	for _, d := range docs {
		t, err := p.give(h, s, d)
		if err != nil {
			return err
		}
		if t == nil {
			return nil
		}
		if made = append(made, t.Doc); len(made) == 1 {
			if people, err = users(h.unlimited(), t.Actors()); err != nil {
				return err
			}
		}
	}
	e.SetVar(taskDocuments, made)
	e.SetVar(taskActors, engine.List(people))
	return nil
}

// give makes the task about one document; nil if the step names no actors. What a parameter may set of the
// task is limited: variables that the server interprets, and properties that decide who may end the task, are
// refused.
func (p routingTaskParams) give(h *host, s *workflow.Step, d *storage.Doc) (*workflow.Task, error) {
	// Actors, directive and due date come from the step, where the author of the route has put
	// them.
	def := s.Asks(d, h.Now)
	if len(def.Actors) == 0 {
		return nil, nil
	}
	var err error
	if def.Actors, err = h.actors(def.Actors); err != nil {
		return nil, err
	}
	if def.Variables, err = h.chains(p.Accept, p.Reject); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		// With one of these a caller could have a chain run that chains has refused, or attach the
		// task to another step.
		if slices.Contains([]string{acceptChain, rejectChain, fromStored, workflow.StepVariable, "nodeId", "status"}, name) {
			return nil, fault.Invalid.Errorf("mappingTaskVariables: variable %s is reserved for the server", name).In("mappingTaskVariables")
		}
		v, err := mapped(p.Variables[name], s, d, "mappingTaskVariables")
		if err != nil {
			return nil, err
		}
		def.Variables[name] = expr.Text(v)
	}
	tx := h.unlimited()
	t, err := workflow.AddTask(tx, s.Route, nil, def)
	if err != nil {
		return nil, err
	}
	for _, to := range slices.Sorted(maps.Keys(p.Properties)) {
		// A list of what is allowed rather than of what is not: a property that a later version
		// adds is safe by default.
		if !strings.HasPrefix(to, "dc:") && !slices.Contains([]string{"nt:description", "nt:directive", "nt:dueDate", "nt:name"}, to) {
			return nil, fault.Invalid.Errorf("mappingProperties: property %s is reserved for the server", to).In("mappingProperties")
		}
		v, err := mapped(p.Properties[to], s, d, "mappingProperties")
		if err == nil {
			err = t.Doc.Set(to, v)
		}
		if err != nil {
			return nil, err
		}
	}
	// Quiet, since the task is still being made: an event of its change would precede that of its
	// assignment.
	if t.Doc, err = tx.Save(t.Doc, storage.SaveOptions{Quiet: true}); err != nil {
		return nil, err
	}
	if err := s.Route.Show(tx, def.Actors); err != nil {
		return nil, err
	}
	return t, h.fire("workflowTaskAssigned", t)
}

// users are the names of those who are actors, those in groups among them.
func users(tx *storage.Tx, actors []string) (out []string, err error) {
	for _, a := range actors {
		kind, name := workflow.Split(a)
		names := []string{name}
		if kind == "group" {
			// Members of groups within the group count as well. The number of names is bounded by
			// UsersWithin.
			if names, err = people.UsersWithin(tx, name, true); err != nil {
				return nil, err
			}
			slices.Sort(names)
		}
		for _, n := range names {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out, nil
}

// mapped is a property of the document or of the step, as "Document:" or "StepTask:" and an xpath name it.
func mapped(from any, s *workflow.Step, d *storage.Doc, in string) (any, error) {
	name := expr.Text(from)
	if xpath, ok := strings.CutPrefix(name, "Document:"); ok {
		return d.Get(xpath)
	}
	if xpath, ok := strings.CutPrefix(name, "StepTask:"); ok {
		return s.Doc.Get(xpath)
	}
	return nil, fault.Invalid.Errorf("%s: must be Document: or StepTask: followed by an xpath, not %q", in, name).In(in)
}

func removeRoutingTask(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.RemoveRoutingTask",
		Label:    "Remove task",
		Category: services,
		Doc: "Deletes the tasks of route steps in the variable taskDocuments, or without it all tasks of the step in the variable document.routing.step. " +
			"For users who may cancel the route. Returns the input.",
		Callers: engine.Anyone,
		Run:     on(ms, func(_ engine.Void, e *env, _ engine.Void) (engine.Void, error) { return engine.Void{}, e.removeTasks() }),
	}
}

// removeTasks deletes the given tasks, or all of the current step. The caller must be allowed to manage each task's workflow; the
// deletion itself is the server's.
func (e *env) removeTasks() error {
	tx := e.unlimited()
	// The variable may come from a caller, so each task is checked below just as if the caller had
	// named it.
	docs, _ := e.Vars[taskDocuments].(storage.Docs)
	if len(docs) == 0 {
		s, err := e.managed()
		if err != nil {
			return err
		}
		tasks, err := s.Tasks(tx)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			docs = append(docs, t.Doc)
		}
	}
	for _, d := range docs {
		sub := &env{e.Sub(true), e.models}
		sub.SetVar(taskDocument, d)
		t, err := sub.stepTask()
		if err != nil {
			return err
		}
		if err := t.Instance.MayManage(e.Tx); err != nil {
			return err
		}
		if err := tx.Delete(t.Doc); err != nil {
			return err
		}
	}
	return nil
}
