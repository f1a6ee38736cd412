package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
)

func listModels(ms models) engine.Op {
	return engine.Op{
		Name:     "WorkflowModel.List",
		Label:    "Workflow models",
		Category: services,
		Doc:      "Returns all workflow models, or with an input those that the caller may start on the document.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Run: engine.Overload(
			on(ms, func(_ engine.Void, e *env, _ engine.Void) (workflow.ModelList, error) { return e.models.Within(e.Tx) }),
			on(ms, func(_ engine.Void, e *env, d *storage.Doc) (workflow.ModelList, error) {
				all, err := e.models.Within(e.Tx)
				out := workflow.ModelList{}
				for _, m := range all {
					// Either reason hides the model: the caller lacks ManageWorkflows, or the model
					// does not suit the document.
					if m.MayStart(e.Tx, d) == nil {
						out = append(out, m)
					}
				}
				return out, err
			}),
		),
	}
}
