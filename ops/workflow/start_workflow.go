package workflow

import (
	"encoding/json"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

func startWorkflow(ms models) engine.Op {
	return engine.Op{
		Name:     "Context.StartWorkflow",
		Label:    "Start workflow",
		Category: context,
		Requires: "Workflow",
		Doc: "Starts one workflow on the input document or on all documents of the input list, and returns the input. The caller, who needs the permission " +
			"ManageWorkflows on each of them, is its initiator. The context variables WorkflowId and " + workflowID + " hold its id.",
		Callers:   engine.Anyone,
		Constants: map[string]func(string) error{"id": ms.known},
		Sets:      []string{"WorkflowId", workflowID},
		Run: engine.Overload(
			on(ms, func(p startWorkflowParams, e *env, d *storage.Doc) (*storage.Doc, error) {
				return d, p.run(e, storage.Docs{d})
			}),
			on(ms, func(p startWorkflowParams, e *env, docs storage.Docs) (storage.Docs, error) {
				return docs, p.run(e, docs)
			}),
		),
	}
}

type startWorkflowParams struct {
	ID        string        `json:"id" blamed:"workflowModelName" doc:"Name of the workflow."`
	Start     bool          `json:"start" default:"true" values:"true" doc:"False creates the workflow without its first task; only Workflow.ResumeNode can start it later."`
	Variables storage.Props `json:"variables,omitzero" doc:"Initial values of its variables; values other than text may be given as JSON text."`
}

func (p startWorkflowParams) run(e *env, docs storage.Docs) error {
	i, err := e.begin(p.ID, docs, p.Variables, p.Start)
	if err != nil {
		return err
	}
	e.SetVar("WorkflowId", i.ID())
	e.SetVar(workflowID, i.ID())
	return nil
}

// begin makes an instance of a model and has it walk to its first tasks.
func (e *env) begin(name string, docs storage.Docs, variables map[string]any, start bool) (*workflow.Instance, error) {
	m, err := e.models.Find(e.Tx, name)
	// The model is a value in the request here and not what the address names, so an unknown one is
	// a bad request.
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Invalid.Errorf("workflowModelName: %v does not exist", err).In("workflowModelName")
	}
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(docs))
	for n, d := range docs {
		if err := m.MayStart(e.Tx, d); err != nil {
			return nil, err
		}
		ids[n] = d.ID()
	}
	// The actor is the person, also where a chain has logged in as somebody else.
	return e.launch(m, workflow.Start{Initiator: e.Tx.Actor(), Documents: ids, Variables: variables}, start)
}

// launch makes an instance, regardless of who may start it.
func (e *env) launch(m *workflow.Model, s workflow.Start, start bool) (*workflow.Instance, error) {
	s.Variables = typed(m.Variables, s.Variables)
	i, err := workflow.NewInstance(e.unlimited(), m, s)
	if err != nil {
		return nil, err
	}
	h := &host{env: e, instance: i}
	// The event precedes the walk, which may assign tasks or even end the workflow at once:
	// listeners see events in their order.
	if err := h.fire("afterWorkflowStarted", nil); err != nil || !start {
		return i, err
	}
	err = h.start()
	return h.instance, err
}

// typed are variables with the values that JSON text stands for, where the variable is declared as something
// else than text. Text that is not JSON is kept: the check of the type, later, names the variable.
func typed(fields []*schema.Field, variables map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range variables {
		out[name] = v
	}
	for _, f := range fields {
		text, ok := out[f.Name].(string)
		if !ok || f.Kind == schema.String && !f.List {
			continue
		}
		var v any
		// The platform sends such values as JSON text in its properties format, whose values are
		// all texts.
		if json.Unmarshal([]byte(text), &v) == nil {
			out[f.Name] = v
		}
	}
	return out
}
