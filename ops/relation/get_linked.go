package relation

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/relation"
)

var getLinked = engine.Op{
	Name:     "Document.GetLinkedDocuments",
	Aliases:  []string{"Relations.GetRelations"},
	Label:    "Get Linked Documents",
	Category: "Services",
	Doc:      "Returns the documents that the input is related to, or those that are related to the input.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(getLinkedParams.run),
}

type getLinkedParams struct {
	Predicate string `json:"predicate" doc:"Name of the relation; empty means any."`
	Graph     string `json:"graphName,omitzero" doc:"Name of the graph; the only one is default."`
	Outgoing  bool   `json:"outgoing" default:"true" doc:"The relation goes from the input to the other documents."`
}

func (p getLinkedParams) run(c *engine.Ctx, d *storage.Doc) (storage.Docs, error) {
	if !slices.Contains(defaultGraphs, p.Graph) {
		return storage.Docs{}, nil
	}
	docs, err := relation.Find(c.Tx, d, p.Predicate, p.Outgoing)
	if docs == nil {
		docs = storage.Docs{}
	}
	return docs, err
}
