package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// walkRoute has a route go on: steps that are ready begin. If the documents are gone it is cancelled instead.
func (h *host) walkRoute() error {
	docs, err := h.documents()
	if err != nil {
		return err
	}
	// As for graphs: a route without documents from the start is allowed.
	if len(docs) == 0 && len(h.instance.Documents) > 0 {
		return h.cancel()
	}
	return h.walked(h.instance.Walk(h.unlimited(), h.beginStep))
}

// beginStep runs the chain of a step, on the documents and with the rights of the initiator. The chain may
// end the step itself, may create tasks and leave it running, or may cancel the route, so the route is read
// again afterwards.
func (h *host) beginStep(s *workflow.Step) error {
	tx, i := h.unlimited(), h.instance
	name := h.models.ChainOf(s.Doc.Type(), storage.TypesOf(tx))
	if _, ok := h.Set().Op(name); !ok {
		return fault.Conflict.Errorf("workflow %s: no operation is declared for steps of type %s", i.ModelName, s.Doc.Type().Name)
	}
	// Graphs run their chains as the server. Steps run as the initiator, as in the platform, whose
	// users may add steps themselves.
	initiator, err := storage.PrincipalOf(tx, i.Initiator)
	if fault.Is(err, fault.NotFound) {
		return fault.Conflict.Errorf("workflow %s: its initiator %s no longer exists", i.ID(), i.Initiator).WithCode(fault.CodeWorkflowState)
	}
	if err != nil {
		return err
	}
	c := h.Sub(true)
	c.EntryPoint = engine.Chain
	c.Login(initiator)
	// Read as the initiator: documents that the initiator may no longer read are left out, like
	// deleted ones.
	docs, err := found(c.Tx, i.Documents)
	if err != nil {
		return err
	}
	// The variables are inherited from the call. A list left by an earlier step would have
	// Workflow.RemoveRoutingTask delete its tasks.
	delete(c.Vars, taskDocuments)
	for name, v := range map[string]any{
		workflowID: i.ID(), "workflowInitiator": i.Initiator, "documents": docs, workflow.StepVariable: s.Doc, walking: i.ID(),
	} {
		c.SetVar(name, v)
	}
	c.Input = docs
	_, err = c.Call(name, docs, nil)
	c.Logout()
	if err != nil {
		return fault.Wrap(err, "workflow %s: step %s", i.ModelName, s.Doc.Name())
	}
	// Only the document is read again. Steps are documents of their own, and Walk reads each when
	// it comes to it.
	if i.Doc, err = tx.Reload(i.Doc); err != nil {
		return err
	}
	if i.Doc.State() != workflow.Running {
		return errStopped
	}
	return nil
}

// step is the step of a route that the context says is meant. The variable may come from the caller: the step
// is read with the caller's permissions first, and only then as the server.
func (e *env) step() (*workflow.Step, error) {
	d, ok := e.Vars[workflow.StepVariable].(*storage.Doc)
	if !ok {
		return nil, fault.Invalid.Errorf("variable %s: does not hold a step of a route", workflow.StepVariable).In(workflow.StepVariable)
	}
	tx := e.unlimited()
	// Reading again also discards what the caller may have set on the document in memory, such as
	// another parent.
	if _, err := e.Tx.Reload(d); err != nil {
		return nil, err
	}
	d, err := tx.Reload(d)
	if err != nil {
		return nil, err
	}
	s, err := workflow.OpenStep(tx, e.models, d)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Invalid.Errorf("variable %s: %w", workflow.StepVariable, err).In(workflow.StepVariable)
	}
	return s, err
}

// movable is the step that the context says is meant, which the caller may move.
// Used by what the chains of tasks call: these run as the creator of the task or as its actor.
func (e *env) movable() (*workflow.Step, error) {
	s, err := e.step()
	if err != nil {
		return nil, err
	}
	return s, s.MayMove(e.Tx, e.unlimited())
}

// managed is the step that the context says is meant, of a route that the caller may manage.
// Used for creating and deleting tasks, which decides who takes part and is more than doing one.
func (e *env) managed() (*workflow.Step, error) {
	s, err := e.step()
	if err != nil {
		return nil, err
	}
	return s, s.Route.MayManage(e.Tx)
}

// stepTask is the task of a step that the context says is meant.
func (e *env) stepTask() (*workflow.Task, error) {
	d, ok := e.Vars[taskDocument].(*storage.Doc)
	if ok {
		ok = workflow.IsTask(d)
	}
	if !ok {
		return nil, fault.Invalid.Errorf("variable %s: does not hold a task", taskDocument).In(taskDocument)
	}
	// A script may have changed the document in memory: what counts is what is stored.
	d, err := e.Tx.Reload(d)
	if err != nil {
		return nil, err
	}
	t, err := workflow.OpenTask(e.unlimited(), e.models, d)
	if err == nil && (t.Step() == "" || t.Instance == nil) {
		err = fault.Invalid.Errorf("variable %s: task %s does not belong to a step", taskDocument, t.ID()).In(taskDocument)
	}
	return t, err
}

// routing makes an operation on the current step that keeps the input.
func routing[P any](ms models, name, label, doc string, run func(P, *env) error) engine.Op {
	return engine.Op{
		Name: name, Label: label, Category: "Routing", Doc: doc, Callers: engine.Anyone,
		Run: on(ms, func(p P, e *env, _ engine.Void) (engine.Void, error) { return engine.Void{}, run(p, e) }),
	}
}

func resumeStep(ms models) engine.Op {
	return routing(ms, "Document.Routing.Resume.Step", "Resume Step",
		"Completes the step of a route in the variable document.routing.step, and continues the route. Open tasks of the step are canceled, except that the chain of one of "+
			"several tasks, on several documents, leaves the step to the last one. "+
			"For the actors of such a task and users who may cancel the route. Returns the input.",
		func(_ engine.Void, e *env) error {
			s, err := e.movable()
			if err != nil {
				return err
			}
			// Several documents have one task each; the step has ended when the last is answered.
			if waits, err := e.waits(s); err != nil || waits {
				return err
			}
			if err := s.End(e.unlimited()); err != nil || e.Vars[walking] == s.Route.ID() {
				return err // the walk that has begun this step goes on by itself
			}
			return (&host{env: e, instance: s.Route}).walkRoute()
		})
}

// waits reports whether it is by a task that the step is to be done, and others of its tasks, about other documents, are
// still open.
func (e *env) waits(s *workflow.Step) (bool, error) {
	d, _ := e.Vars[taskDocument].(*storage.Doc)
	tasks, err := s.Tasks(e.unlimited())
	mine, open := false, 0
	for _, t := range tasks {
		if d != nil && t.ID() == d.ID() {
			mine = true
		} else if t.MustBeOpen() == nil {
			open++
		}
	}
	return mine && open > 0, err
}

func stepDone(ms models) engine.Op {
	return routing(ms, "Document.Routing.Step.Done", "Set Step Done",
		"Completes the step of a route in the variable document.routing.step. The route continues with the next step if the step's own chain "+
			"calls it; otherwise Document.Routing.Resume.Step for another step, or Workflow.ResumeNode, continues it. The same callers are allowed as there. Returns the input.",
		func(_ engine.Void, e *env) error {
			s, err := e.movable()
			if err != nil {
				return err
			}
			return s.End(e.unlimited())
		})
}

func stepBackToReady(ms models) engine.Op {
	return routing(ms, "Document.Routing.BackToReady", "Set Step back to a ready state",
		"Resets the step of a route in the variable document.routing.step and cancels its open tasks. The step starts again "+
			"when the route goes on. For the actors of such a task and users who may cancel the route. Returns the input.",
		func(_ engine.Void, e *env) error {
			s, err := e.movable()
			if err != nil {
				return err
			}
			return s.BackToReady(e.unlimited())
		})
}

func setNextStep(ms models) engine.Op {
	return routing(ms, "Update.NextStep.ConditionalFolder", "Choose branch",
		"Chooses the folder of steps that continues after the step in the variable document.routing.step. The step must be in a conditional folder; "+
			"elsewhere there is nothing to choose. For the actors of a task of the step and users who may cancel the route. Returns the input.",
		func(p nextStepParams, e *env) error {
			s, err := e.movable()
			if err != nil {
				return err
			}
			return s.Choose(e.unlimited(), p.Branch)
		})
}

type nextStepParams struct {
	Branch string `json:"nextStepPos" doc:"Index of the branch among the children of the conditional folder, starting at 0: 1 is the first branch, since a step precedes it."`
}

func stepFromTask(ms models) engine.Op {
	return routing(ms, "Document.Routing.SetRunningStepFromTask", "Set Current Step from Task",
		"Sets the variable document.routing.step to the step of a route whose task is in the variable taskDocument. Returns the input.",
		func(p fromTaskParams, e *env) error {
			t, err := e.stepTask()
			if err != nil {
				return err
			}
			// Read as the caller: the variable would otherwise carry a document that the caller may
			// not see.
			d, err := e.Tx.Doc(storage.Ref(t.Step()))
			if err != nil {
				return err
			}
			e.SetVar(workflow.StepVariable, d)
			if !p.Comments {
				return nil
			}
			s, err := e.movable()
			if err != nil {
				return err
			}
			if err := s.Note(e.unlimited(), t); err != nil {
				return err
			}
			e.SetVar(workflow.StepVariable, s.Doc)
			return nil
		})
}

type fromTaskParams struct {
	Comments bool `json:"mappingComments" default:"false" doc:"Whether to store the comments on the task with the step. The same callers are allowed as for Document.Routing.Resume.Step."`
}
