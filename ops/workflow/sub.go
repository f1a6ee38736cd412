package workflow

import (
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// goThrough starts the workflow of a node, and reports whether it waits for somebody. A workflow that ends at
// once, because nothing in it waits, returns its result directly; one that waits continues this one later, in
// over.
func (h *host) goThrough(n *workflow.Node) (bool, error) {
	// Only declared models can be gone through, not routes. That they do not contain themselves is
	// checked when they are loaded.
	m, err := h.models.Model(n.Sub.Model.Text)
	if err != nil {
		return false, err
	}
	variables := map[string]any{}
	for name, text := range n.Sub.Variables {
		if variables[name], err = h.value(n, text.Text); err != nil {
			return false, fault.Wrap(err, "node %s: variable %s", n.ID, name)
		}
	}
	// The initiator and the documents are the parent's. Nobody's permission is checked: the
	// parent's model decides.
	parent := h.instance
	sub, err := h.launch(m, workflow.Start{
		Initiator: parent.Initiator, Documents: parent.Documents, Variables: variables, Parent: parent.ID(), ParentAt: n.ID,
	}, true)
	if err != nil {
		return false, err
	}
	// Set after the walk of the workflow within. If that has ended already, over has found no node
	// waiting for it and done nothing, so its result is taken here, once.
	h.Node(n.ID).Sub = sub.ID()
	if sub.Doc.State() == workflow.Running {
		return true, nil
	}
	return false, h.returned(n, sub)
}

// returned takes over what a workflow has come to that a node went through.
// The state in which it ended takes the place of a button, so transitions can tell done from
// canceled.
func (h *host) returned(n *workflow.Node, sub *workflow.Instance) error {
	h.Node(n.ID).Button = sub.Doc.State()
	return h.instance.AssignTo(n, sub.Variables)
}

// over fires the event of the end and continues the workflow around, if it waits for this one. Nothing is
// done if this one is canceled on behalf of the one around (alone), or if the other sees by itself that it
// has ended, in goThrough.
func (h *host) over(event string) error {
	if err := h.fire(event, nil); err != nil || h.alone || h.instance.Parent == "" {
		return err
	}
	d, err := h.unlimited().Doc(storage.Ref(h.instance.Parent))
	// The workflow around was deleted; this one ends for itself.
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	i, err := workflow.OpenInstance(h.models, d)
	if err != nil {
		return err
	}
	parent := &host{env: h.env, instance: i}
	st := i.Node(h.instance.ParentAt)
	if i.Model == nil || i.Doc.State() != workflow.Running || st.State != workflow.Suspended || st.Sub != h.instance.ID() {
		return nil // it does not wait for this one, or sees itself that it has ended
	}
	n, err := i.Model.Node(h.instance.ParentAt)
	if err != nil {
		return err
	}
	if err := parent.returned(n, h.instance); err != nil {
		return err
	}
	return parent.resume(n.ID)
}

// cancelNode gives up the open tasks of a node, or its workflow.
func (h *host) cancelNode(id string) error {
	tx := h.unlimited()
	if err := h.instance.CancelTasksOf(tx, id); err != nil {
		return err
	}
	sub := h.Node(id).Sub
	if sub == "" {
		return nil
	}
	d, err := tx.Doc(storage.Ref(sub))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	i, err := workflow.OpenInstance(h.models, d)
	if err != nil || i.Doc.State() != workflow.Running {
		return err
	}
	return (&host{env: h.env, instance: i, alone: true}).cancel()
}
