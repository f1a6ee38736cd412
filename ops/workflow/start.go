package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

func startInstance(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.Start",
		Label:    "Start a workflow",
		Category: services,
		Doc: "Starts a workflow on the named documents, or on the input document, and returns it. The caller, who needs the " +
			"permission ManageWorkflows on each of them, is its initiator.",
		Callers: engine.Anyone,
		Run: engine.Overload(
			on(ms, func(p startParams, e *env, _ engine.Void) (*workflow.Instance, error) { return p.run(e, nil) }),
			on(ms, startParams.run),
		),
	}
}

type startParams struct {
	Workflow map[string]any `json:"workflow" type:"object" doc:"The workflow: workflowModelName, attachedDocumentIds and variables."`
}

func (p startParams) run(e *env, d *storage.Doc) (*workflow.Instance, error) {
	name, _ := p.Workflow["workflowModelName"].(string)
	if name == "" {
		return nil, fault.Invalid.Errorf("workflowModelName: is missing").In("workflowModelName")
	}
	docs := storage.Docs{}
	// An input document takes precedence over the ids in the body: it is the one that the address
	// names.
	if d != nil {
		docs = storage.Docs{d}
	} else if ids, ok := p.Workflow["attachedDocumentIds"].([]any); ok {
		refs := make(storage.Refs, 0, len(ids))
		for _, id := range ids {
			if m, ok := id.(map[string]any); ok { // as answers have it
				id = m["id"]
			}
			text, ok := id.(string)
			if !ok {
				return nil, fault.Invalid.Errorf("attachedDocumentIds: must be a list of ids").In("attachedDocumentIds")
			}
			refs = append(refs, storage.Ref(text))
		}
		var err error
		// Read as the caller; begin then checks ManageWorkflows on each.
		if docs, err = e.Tx.Docs(refs); err != nil {
			return nil, err
		}
	}
	variables, ok := p.Workflow["variables"].(map[string]any)
	if !ok && p.Workflow["variables"] != nil {
		return nil, fault.Invalid.Errorf("variables: must be an object").In("variables")
	}
	return e.begin(name, docs, variables, true)
}
