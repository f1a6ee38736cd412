package workflow

import (
	"catena/engine"
	"catena/engine/workflow"
	"catena/storage"
	"catena/storage/fault"
)

func graphInstance(ms models) engine.Op {
	return engine.Op{
		Name:     "Workflow.GetGraph",
		Label:    "Graph of a workflow",
		Category: services,
		Doc:      "Returns the nodes of a workflow instance, with their positions, and the transitions between them.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Run: on(ms, func(p getParams, e *env, _ engine.Void) (*workflow.Graph, error) {
			return e.graph(p.ID, plain)
		}),
	}
}

// graph draws an instance that the caller may read.
func (e *env) graph(id string, text func(string) string) (*workflow.Graph, error) {
	// The platform reads graphs as the server. Here the caller must be able to read the instance,
	// since its state shows who has done what.
	i, err := e.instance(id)
	if err != nil {
		return nil, err
	}
	if i.IsRoute() {
		return workflow.RouteGraph(e.Tx, i.Doc)
	}
	if i.Model == nil {
		return nil, fault.Conflict.Errorf("workflow %s: %s is no longer declared", id, i.ModelName).WithCode(fault.CodeWorkflowState)
	}
	return i.Model.Graph(text, i), nil
}

func getGraph(ms models) engine.Op {
	return engine.Op{
		Name:     "Document.Routing.GetGraph",
		Label:    "Get graph",
		Category: "Routing",
		Doc:      "Returns a JSON file with the nodes of a workflow instance, or of the model with a name, and the transitions between them.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Run:      on(ms, getGraphParams.run),
	}
}

type getGraphParams struct {
	ID       string `json:"routeDocId" doc:"Id of the workflow, or name of a model."`
	Language string `json:"language,omitzero" doc:"Language of titles and labels; English by default."`
}

func (p getGraphParams) run(e *env, _ engine.Void) (*storage.Blob, error) {
	text := func(key string) string { return e.models.Text(p.Language, key) }
	var g *workflow.Graph
	// Models come first: their names are few and chosen by administrators, while ids are random and
	// never collide with them.
	m, err := e.models.Find(e.Tx, p.ID)
	if err == nil {
		g, err = e.drawn(m, text)
	} else if fault.Is(err, fault.NotFound) {
		g, err = e.graph(p.ID, text)
	}
	if err != nil {
		return nil, err
	}
	return file("graph.json", g)
}

// drawn is the graph of a model.
func (e *env) drawn(m *workflow.Model, text func(string) string) (*workflow.Graph, error) {
	// A route is drawn from its steps as documents, with the permissions of the caller.
	if m.Route != nil {
		return workflow.RouteGraph(e.Tx, m.Route)
	}
	return m.Graph(text, nil), nil
}
