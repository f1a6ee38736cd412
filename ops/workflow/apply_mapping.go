package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

// applyMapping serves the chains of a model, not people: it writes to the task as the server and
// checks no permission of the caller, which is why only administrators and stored chains may call
// it.
func applyMapping(ms models) engine.Op {
	return engine.Op{
		Name:     "Task.ApplyDocumentMapping",
		Aliases:  []string{"Context.ApplyMappingOnTask"},
		Label:    "Apply mapping on input task doc",
		Category: context,
		Requires: "Workflow",
		Doc: "Copies properties of the first document of a task to the task, according to a mapping declared with the workflows, and " +
			"returns the task.",
		Callers: engine.Admins.OrStored(),
		Run:     on(ms, applyMappingParams.run),
	}
}

type applyMappingParams struct {
	Mapping string `json:"mappingName" doc:"Name of the mapping."`
}

func (p applyMappingParams) run(e *env, d *storage.Doc) (*storage.Doc, error) {
	t, err := workflow.OpenTask(e.unlimited(), e.models, d)
	if err != nil {
		return nil, fault.Invalid.Errorf("input: document %s is not a task", d.ID()).In("input")
	}
	mapping, err := e.models.Mapping(p.Mapping)
	if err != nil {
		return nil, err
	}
	// As in the platform, only the first document counts, and a task whose documents are all
	// deleted is an error.
	docs, err := found(e.unlimited(), t.Documents())
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, fault.Conflict.Errorf("task %s: its documents do not exist", t.ID()).WithCode(fault.CodeWorkflowState)
	}
	// The targets are sorted, so that of several bad properties the same one is always reported.
	// The first failure leaves the task unsaved.
	for _, to := range mapping.Targets() {
		v, err := docs[0].Get(mapping[to])
		if err == nil {
			err = t.Doc.Set(to, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return e.unlimited().Save(t.Doc, storage.SaveOptions{})
}
