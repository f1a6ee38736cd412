package workflow

import (
	"errors"
	"maps"
	"time"

	"catena/engine"
	"catena/engine/expr"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/limit"
)

// Names of context variables that chains of a workflow find.
const (
	workflowVars = "WorkflowVariables"  // variables of the workflow
	nodeVars     = "NodeVariables"      // variables of the node
	workflowID   = "workflowInstanceId" // the current workflow
	walking      = "workflowWalking"    // id of the instance that a walk goes through
)

// host carries out a walk through the graph of an instance. The document is what counts: it is written before
// a chain runs, and read after, because the chain may itself set variables of the workflow or cancel it.
// Pointers into the instance (a NodeState, Variables) are therefore invalid after chain; ask for them again.
type host struct {
	*env
	instance *workflow.Instance
	last     *workflow.Task // whose end has the walk go on; nil without one
	alone    bool           // the instance that goes through this one is not to go on
}

// Node returns where a node is.
func (h *host) Node(id string) *workflow.NodeState { return h.instance.Node(id) }

// start begins the walk of an instance.
// A route has steps instead of a graph; its walk reads the state of every step and so also serves
// to resume it.
func (h *host) start() error {
	if h.instance.IsRoute() {
		return h.walkRoute()
	}
	ended, err := h.instance.Model.Start(h, h.most())
	return h.walked(ended, err)
}

// resume walks on from a node whose tasks are ended. If the documents are gone the workflow is cancelled
// instead. A chain of the same walk cannot resume it: two walks through one instance would each write their
// own state of it.
func (h *host) resume(node string) error {
	// Without the declaration there is no graph to walk. The instance can still be cancelled.
	if h.instance.Model == nil {
		return h.gone()
	}
	if h.Vars[walking] == h.instance.ID() {
		return fault.Conflict.Errorf("workflow %s: one of its own chains is already continuing it", h.instance.ID()).WithCode(fault.CodeWorkflowState)
	}
	// A workflow that never had documents is not one whose documents are gone.
	docs, err := h.documents()
	if err != nil {
		return err
	}
	if len(docs) == 0 && len(h.instance.Documents) > 0 {
		return h.cancel()
	}
	ended, err := h.instance.Model.Resume(h, node, h.most())
	return h.walked(ended, err)
}

// gone is the error of a workflow whose model is declared no longer.
func (h *host) gone() error {
	return fault.Conflict.Errorf("workflow %s: %s is no longer declared", h.instance.ID(), h.instance.ModelName).WithCode(fault.CodeWorkflowState)
}

// most bounds the nodes of one walk (limit-workflow-steps, 100 by default), since a graph may hold
// a cycle without tasks.
func (h *host) most() int { return limit.Of[workflow.Limits](h.Tx.Repo().Bounds()).Steps }

// errStopped ends a walk whose workflow one of its own chains has cancelled.
var errStopped = errors.New("workflow: is canceled")

// walked saves what a walk has done, and ends the workflow if the walk has reached an end.
func (h *host) walked(ended bool, err error) error {
	// The cancellation has saved the instance already, and this copy of it is out of date.
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	tx := h.unlimited()
	if err := h.instance.Save(tx); err != nil || !ended {
		return err
	}
	// Saved first, finished after: the variables of an ended workflow stay readable for the one
	// around it (see over).
	if err := h.instance.Finish(tx, "toDone"); err != nil {
		return err
	}
	return h.over("afterWorkflowFinish")
}

// cancel ends the workflow: its open tasks are cancelled. Tasks and workflows within are canceled before the
// state of the document changes, since in its final state the instance no longer waits for anything.
func (h *host) cancel() error {
	// Ready is the state of a route that has been created and not begun.
	if s := h.instance.Doc.State(); s != workflow.Running && s != workflow.Ready {
		return fault.Conflict.Errorf("workflow %s: it is %s", h.instance.ID(), s).WithCode(fault.CodeWorkflowState)
	}
	tx := h.unlimited()
	if h.instance.IsRoute() {
		if err := h.instance.CancelSteps(tx); err != nil {
			return err
		}
	}
	if err := h.instance.EachWaiting(h.cancelNode); err != nil {
		return err
	}
	if err := h.instance.Save(tx); err != nil {
		return err
	}
	if err := h.instance.Finish(tx, "toCanceled"); err != nil {
		return err
	}
	return h.over("workflowCanceled")
}

// Begin runs the node's first chain and makes its tasks, or starts its workflow. What an earlier visit of the
// node left is reset, as loops come to a node again.
func (h *host) Begin(n *workflow.Node) (bool, error) {
	st := h.Node(n.ID)
	// The variables of the node and its last actor stay, so a loop sees what was said the last
	// time.
	st.Begun, st.Started, st.Ended, st.Tasks, st.Sub, st.Button = st.Begun+1, h.Now, time.Time{}, nil, "", ""
	// The chain runs first, because expressions for assignees and due dates read variables that it
	// sets. It may replace the state behind st, which is not used after it.
	err := h.chain(n, n.Input.Text)
	switch {
	case err != nil:
		return false, err
	case n.Task != nil:
		return true, h.ask(n)
	case n.Sub != nil:
		return h.goThrough(n)
	}
	return false, nil
}

// Finish runs the node's last chain.
func (h *host) Finish(n *workflow.Node) error {
	h.Node(n.ID).Ended = h.Now
	return h.chain(n, n.Output.Text)
}

// Holds evaluates the condition of a transition.
func (h *host) Holds(n *workflow.Node, t *workflow.Transition) (bool, error) {
	return h.holds(n, t.When.Text)
}

// Take runs the chain of a transition.
func (h *host) Take(n *workflow.Node, t *workflow.Transition) error { return h.chain(n, t.Chain.Text) }

// Cancel gives up the open tasks of a node, or its workflow.
func (h *host) Cancel(n *workflow.Node) error { return h.cancelNode(n.ID) }

// holds evaluates a condition; an empty one holds. Any other result than true or false is an error: text that
// counts as true would hide a mistake of the model.
func (h *host) holds(n *workflow.Node, condition string) (bool, error) {
	if condition == "" {
		return true, nil
	}
	v, err := h.eval(n, condition)
	if err != nil {
		return false, err
	}
	holds, ok := v.(bool)
	if !ok {
		return false, fault.Invalid.Errorf("expression: must be true or false, not %s", expr.Text(v)).WithCode(fault.CodeExpression)
	}
	return holds, nil
}

// eval evaluates an expression of the model.
func (h *host) eval(n *workflow.Node, text string) (any, error) {
	c, err := h.within(n)
	if err != nil {
		return nil, err
	}
	// Expressions only read; nothing is saved or reloaded around them, as chain does.
	defer c.Logout()
	return c.Eval(text)
}

// within is the context in which chains and expressions of a node run: as the server, with the documents as input.
func (h *host) within(n *workflow.Node) (*engine.Ctx, error) {
	docs, err := h.documents()
	if err != nil {
		return nil, err
	}
	i, st := h.instance, h.Node(n.ID)
	c := h.Sub(true)
	// Maps are copied, since an expression or a chain might change them in place, past the check of
	// types in Assign.
	own := maps.Clone(st.Variables)
	tasks, processed := make([]any, len(st.Tasks)), 0
	for k, t := range st.Tasks {
		tasks[k] = map[string]any{"id": t.ID, "actors": engine.List(t.Actors), "ended": t.Ended, "actor": t.Actor, "status": t.Status, "comment": t.Comment}
		if t.Ended {
			processed++
		}
	}
	own["button"], own["tasks"], own["numberOfTasks"], own["numberOfProcessedTasks"] = st.Button, tasks, len(tasks), processed
	for name, v := range map[string]any{
		workflowVars: maps.Clone(i.Variables), nodeVars: own, workflowID: i.ID(), "workflowInitiator": i.Initiator,
		"workflowStartTime": created(i.Doc), "workflowParent": i.Parent, "workflowParentNode": i.ParentAt, "workflowDocuments": docs, "documents": docs,
		"nodeId": n.ID, "nodeState": st.State, "state": st.State, "nodeStartTime": instant(st.Started), "nodeEndTime": instant(st.Ended),
		"nodeLastActor": st.LastActor, "comment": own["comment"],
	} {
		c.SetVar(name, v)
	}
	if h.last != nil {
		c.SetVar(taskDocument, h.last.Doc)
	}
	// The chain is named by the model, which an administrator has declared, so it may use
	// operations that only chains may call, no matter whose call it is.
	c.Input, c.EntryPoint = docs, engine.Chain
	c.Login(h.server())
	return c, nil
}

func created(d *storage.Doc) any {
	v, _ := d.Get("dc:created")
	return v
}

func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// chain runs a chain or operation of the model, and takes over what it has set in NodeVariables. The instance
// is saved before and read after (see host).
func (h *host) chain(n *workflow.Node, name string) error { return h.runChain(n, name, true) }

// runChain is chain for one that is part of the walk, which it cannot continue then, or for one of an escalation, which may.
func (h *host) runChain(n *workflow.Node, name string, walks bool) error {
	if name == "" {
		return nil
	}
	if _, ok := h.Set().Op(name); !ok {
		return fault.Conflict.Errorf("workflow %s: node %s: unknown operation %s", h.instance.ModelName, n.ID, name)
	}
	if err := h.instance.Save(h.unlimited()); err != nil {
		return err
	}
	c, err := h.within(n)
	if err != nil {
		return err
	}
	// Set only here and not in within: expressions cannot resume a workflow.
	if walks {
		c.SetVar(walking, h.instance.ID())
	}
	docs := c.Input
	_, err = c.Call(name, docs, nil)
	// The result of the chain is dropped. What counts is what it has written and the variables it
	// has set.
	c.Logout()
	if err != nil {
		return fault.Wrap(err, "workflow %s: node %s", h.instance.ModelName, n.ID)
	}
	d, err := h.unlimited().Reload(h.instance.Doc)
	if err != nil {
		return err
	}
	if h.instance, err = workflow.OpenInstance(h.models, d); err != nil {
		return err
	}
	// Checked on the document that was read again: the chain itself, or a listener, may have
	// cancelled the workflow.
	if d.State() != workflow.Running {
		return errStopped
	}
	// Variables of the workflow need no such step: Context.SetWorkflowVar stores them at once.
	own, _ := c.Vars[nodeVars].(map[string]any)
	return h.instance.AssignTo(n, own)
}

// subjects are the documents of a task, or of the workflow without one, as far as they are there.
func (h *host) subjects(t *workflow.Task) (storage.Docs, error) {
	if t == nil {
		return h.documents()
	}
	return found(h.unlimited(), t.Documents())
}

// documents are those the workflow is about, as far as they are there.
// Read as the server: whether the workflow goes on must not depend on what the person who ends a
// task may read.
func (h *host) documents() (storage.Docs, error) { return found(h.unlimited(), h.instance.Documents) }

// found are documents, as far as they are there.
func found(tx *storage.Tx, ids []string) (storage.Docs, error) {
	docs := storage.Docs{}
	for _, id := range ids {
		d, err := tx.Doc(storage.Ref(id))
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}
