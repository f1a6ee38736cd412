package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
)

func getModel(ms models) engine.Op {
	return engine.Op{
		Name:     "WorkflowModel.Get",
		Label:    "Workflow model",
		Category: services,
		Doc:      "Returns the declaration of a workflow: its name, its title, and its variables with their initial values. A route has no variables.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Run: on(ms, func(p modelParams, e *env, _ engine.Void) (*workflow.Model, error) {
			return e.models.Find(e.Tx, p.Name)
		}),
	}
}

type modelParams struct {
	Name string `json:"modelName" doc:"Name of the workflow."`
}

func graphModel(ms models) engine.Op {
	return engine.Op{
		Name:     "WorkflowModel.GetGraph",
		Label:    "Graph of a workflow model",
		Category: services,
		Doc:      "Returns the nodes of a workflow and the transitions between them.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Run: on(ms, func(p modelParams, e *env, _ engine.Void) (*workflow.Graph, error) {
			m, err := e.models.Find(e.Tx, p.Name)
			if err != nil {
				return nil, err
			}
			return e.drawn(m, plain)
		}),
	}
}

// plain leaves labels to their readers.
func plain(key string) string { return key }
