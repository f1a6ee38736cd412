package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// bulkRestart differs from the platform, which commits after every batchSize instances and with
// that the transaction around. One call is one transaction here, so batchSize is a bound instead.
func bulkRestart(ms models) engine.Op {
	return engine.Op{
		Name:     "WorkflowModel.BulkRestartInstances",
		Aliases:  []string{"BulkRestartWorkflow"},
		Label:    "Bulk Restart Workflow",
		Category: context,
		Doc: "Restarts the running instances of a workflow, for their initiators: each is canceled and deleted, and a new one is started on its " +
			"documents. Failures are logged, and the instance is kept. Everything happens in the transaction of the call, so it fails if there are more than batchSize " +
			"instances. Returns the input.",
		Callers: engine.Admins,
		Run:     on(ms, bulkRestartParams.run),
	}
}

type bulkRestartParams struct {
	Model string `json:"workflowId" doc:"Name of the workflow."`
	Batch int    `json:"batchSize" default:"1000" doc:"Maximum number of instances."`
	Node  string `json:"nodeId,omitzero" doc:"Only instances waiting at this node."`
	Reset bool   `json:"reinitLifecycle" default:"false" doc:"Whether the documents follow the transition to the initial state of their life cycle, if there is one."`
}

func (p bulkRestartParams) run(e *env, _ engine.Void) (engine.Void, error) {
	m, err := e.models.Find(e.Tx, p.Model)
	if err != nil {
		return engine.Void{}, err
	}
	if p.Node != "" {
		if _, err := m.Node(p.Node); err != nil {
			return engine.Void{}, err
		}
	}
	// All running instances of the model are counted, also those that wait at other nodes than Node
	// and are skipped below: the states of nodes are JSON text, which no query sees.
	page, err := workflow.Instances(e.unlimited(), workflow.Filter{Model: p.Model}, storage.PageOptions{Limit: max(p.Batch, 1), CountLimit: -1})
	if err != nil {
		return engine.Void{}, err
	}
	if page.HasNext {
		return engine.Void{}, fault.Limit.Errorf("batchSize: more than %d instances are running", len(page.Docs)).In("batchSize")
	}
	for _, d := range page.Docs {
		err := e.Tx.Nest(func() error { return p.restart(e, m, d) })
		// A limit of the call or its cancellation is not the failure of one instance: going on
		// would fail for each that is left.
		if engine.Ends(err) {
			return engine.Void{}, err
		}
		if err != nil {
			e.Log.Warn("workflow is not restarted", "workflow", d.ID(), "error", err)
		}
	}
	return engine.Void{}, nil
}

// restart puts a new instance in place of one. It runs in a nested transaction, so a failure leaves the old
// instance as it was.
func (p bulkRestartParams) restart(e *env, m *workflow.Model, d *storage.Doc) error {
	old, err := workflow.OpenInstance(e.models, d)
	// Here err is nil when the instance merely waits elsewhere: it is left alone, which is a
	// success.
	if err != nil || p.Node != "" && old.Node(p.Node).State != workflow.Suspended {
		return err
	}
	h := &host{env: e, instance: old}
	// The documents are asked for after the cancellation, since listeners and chains that run on it
	// may change or delete them.
	if err := h.cancel(); err != nil {
		return err
	}
	docs, err := h.documents()
	if err != nil {
		return err
	}
	tx := e.unlimited()
	for _, about := range docs {
		if p.Reset {
			if err := toStart(tx, about); err != nil {
				return err
			}
		}
	}
	if err := tx.Delete(old.Doc); err != nil {
		return err
	}
	// The variables of the old instance are not taken over: a restart begins with the values that
	// the model declares. The initiator's permission to start it is not checked again, as an
	// administrator has decided it.
	_, err = e.launch(m, workflow.Start{Initiator: old.Initiator, Documents: old.Documents}, true)
	return err
}

// toStart has a document follow the transition that leads to the first state of its life cycle.
// A document for which no single transition leads there stays in its state: a longer way would fire
// the events of states that nobody asked for.
func toStart(tx *storage.Tx, d *storage.Doc) error {
	cycle := d.Type().LifeCycle
	if cycle == nil || d.State() == cycle.Initial {
		return nil
	}
	for _, name := range cycle.Allowed(d.State()) {
		if to, err := cycle.Follow(d.State(), name); err == nil && to == cycle.Initial {
			_, err := tx.Follow(d, name)
			return err
		}
	}
	return nil
}
