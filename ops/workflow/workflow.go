// Package workflow holds operations on workflows and tasks: starting, showing, advancing and ending them. The
// models, the walk through a graph and the documents that keep both are engine/workflow's; this package
// carries out what a walk asks for: chains, conditions, tasks, events and mail, all in the transaction of the
// call.
//
// Several operations exist twice in the platform: for documents, as its user interface calls them, and for
// ids, as its REST interface does. Here both find the instance or the task and call the same method of
// engine/workflow, under the permission of the caller, and continue as the server: the documents of a
// workflow may only be changed by it.
//
// Read end_task.go first: it ends a task, which is what moves most workflows on, and leads through the rest.
// env.end checks and records, host.resume (host.go) walks through the graph, host.ask (ask.go) assigns the
// tasks of the node where it stops, and host.over (sub.go) continues the workflow around one that has ended.
// Routes, the older kind of workflow whose steps are documents, have host.walkRoute (route.go) instead.
//
// What a walk does happens completely or not at all: an error of a chain or a condition fails the call, and
// the task that the caller wanted to end stays open. Only mail is an exception: it is queued, and a group too
// large for a message does not fail the walk.
package workflow

import (
	"cmp"
	"sync"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/schema"
)

// models are found when an operation runs: a program that only lists operations reads none.
type models func() *workflow.Models

// known is nil for the name of a workflow.
func (ms models) known(name string) error {
	_, err := ms().Model(name)
	return err
}

// Ops returns the operations with the models that a function returns; nil: the built-in ones.
func Ops(ms func() *workflow.Models) []engine.Op {
	if ms == nil {
		ms = builtin
	}
	return []engine.Op{
		applyMapping(ms),
		bulkRestart(ms),
		cancelInstance(ms),
		completeTask(ms),
		createRoutingTask(ms),
		createTask(ms),
		delegateTask(ms),
		endTask(ms),
		escalateTask(ms),
		evaluateCondition(ms),
		getAssigned(ms),
		getGraph(ms),
		getInstance(ms),
		getModel(ms),
		getOpenTasks(ms),
		getTask(ms),
		getTaskNames(ms),
		graphInstance(ms),
		graphModel(ms),
		listInstances(ms),
		listModels(ms),
		listTasks(ms),
		modelTexts(ms),
		reassignTask(ms),
		removeRoutingTask(ms),
		resumeNode(ms),
		resumeStep(ms),
		setNextStep(ms),
		setNodeVariable,
		setWorkflowVar(ms),
		startInstance(ms),
		startWorkflow(ms),
		stepBackToReady(ms),
		stepDone(ms),
		stepFromTask(ms),
		taskForm(ms),
		userTasks(ms),
	}
}

// builtin returns the models every server has. They are read once; that the types every server has suit them is
// tested.
var builtin = sync.OnceValue(func() *workflow.Models {
	types, err := schema.Load(schema.Defaults())
	if err == nil {
		var ms *workflow.Models
		var wrong []declare.Mistake
		ms, wrong, err = workflow.Build(types, engine.CheckExpression, nil)
		if err = cmp.Or(err, declare.ErrorOf(wrong)); err == nil {
			return ms
		}
	}
	panic(err) // the files are part of the program
})

const (
	context  = "Workflow Context"
	services = "Services"
)

// env is a call with the models.
type env struct {
	*engine.Ctx
	models *workflow.Models
}

// on makes an operation of a function that knows the models.
func on[P, I, O any](ms models, f func(P, *env, I) (O, error)) engine.Func {
	return engine.On(bind(ms, f))
}

// each is on for a function that runs once for each element of a list.
func each[P, I, O any](ms models, f func(P, *env, I) (O, error)) engine.Func {
	return engine.Each(bind(ms, f))
}

func bind[P, I, O any](ms models, f func(P, *env, I) (O, error)) func(P, *engine.Ctx, I) (O, error) {
	return func(p P, c *engine.Ctx, in I) (O, error) { return f(p, &env{c, ms()}, in) }
}

// server is the server itself, acting for the caller: events and the audit name the person, permissions are
// those of the server.
func (e *env) server() *storage.Principal {
	p := *e.Tx.Repo().System()
	if p.Actor = e.As.Actor; p.Actor == "" {
		p.Actor = e.As.Name
	}
	return &p
}

// unlimited is the transaction with the rights of the server. Its users have to check the permission of
// the caller before: MayEnd, MayReassign, MayManage, or reading through e.Tx.
func (e *env) unlimited() *storage.Tx { return e.Tx.As(e.server()) }

// instance finds an instance that the caller may read.
func (e *env) instance(id string) (*workflow.Instance, error) {
	d, err := e.Tx.Doc(storage.Ref(id))
	if err != nil {
		return nil, err
	}
	return workflow.OpenInstance(e.models, d)
}

// task finds a task that the caller may read, with the buttons that it offers. A button whose condition does
// not hold now is not among them, so it cannot be used by sending its name either.
func (e *env) task(d *storage.Doc) (*workflow.Task, error) {
	t, err := workflow.OpenTask(e.unlimited(), e.models, d)
	if err != nil || t.Doc.State() != workflow.Opened {
		return t, err
	}
	if t.IsAnswered() {
		t.Buttons = []*workflow.Button{{Name: "accept", Label: "accept"}, {Name: "reject", Label: "reject"}}
	}
	if t.Node == nil || t.Node.Task == nil {
		return t, nil
	}
	h := &host{env: e, instance: t.Instance}
	for _, b := range t.Node.Task.Buttons {
		ok, err := h.holds(t.Node, b.When.Text)
		if err != nil {
			return nil, err
		}
		if ok {
			t.Buttons = append(t.Buttons, b)
		}
	}
	return t, nil
}

func (e *env) taskByID(id string) (*workflow.Task, error) {
	d, err := e.Tx.Doc(storage.Ref(id))
	if err != nil {
		return nil, err
	}
	return e.task(d)
}
