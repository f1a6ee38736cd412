package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
)

func listInstances(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.List",
		Label:    "Running workflows",
		Category: services,
		Doc: "Returns the running workflows that the caller has started, oldest first, or with an input the workflows on the input documents that the " +
			"caller may see: the initiator, actors of its tasks, and administrators may. The result is limited to the server's page limit.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run: engine.Overload(
			on(ms, func(p listParams, e *env, _ engine.Void) (workflow.InstanceList, error) {
				f := workflow.Filter{Initiator: e.As.Name}
				if p.All {
					f.Initiator = ""
				}
				return p.run(e, f)
			}),
			on(ms, func(p listParams, e *env, d *storage.Doc) (workflow.InstanceList, error) {
				return p.run(e, workflow.Filter{Documents: []string{d.ID()}})
			}),
			on(ms, func(p listParams, e *env, docs storage.Docs) (workflow.InstanceList, error) {
				return p.run(e, workflow.Filter{Documents: idsOf(docs)})
			}),
		),
	}
}

type listParams struct {
	Model string `json:"workflowModelName,omitzero" doc:"Only instances of this workflow; empty means all."`
	All   bool   `json:"all,omitzero" doc:"Also those of others that the caller may see; with an input, they always are included."`
}

func (p listParams) run(e *env, f workflow.Filter) (workflow.InstanceList, error) {
	f.Model = p.Model
	// Storage filters by the permission to read the instance; nothing is counted, as the answer has
	// no place for a total.
	page, err := workflow.Instances(e.Tx, f, storage.PageOptions{CountLimit: -1})
	if err != nil {
		return nil, err
	}
	out := workflow.InstanceList{}
	for _, d := range page.Docs {
		i, err := workflow.OpenInstance(e.models, d)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}
