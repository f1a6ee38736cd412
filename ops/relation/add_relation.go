package relation

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/relation"
)

var addRelation = engine.Op{
	Name:     "Document.AddRelation",
	Aliases:  []string{"Relations.CreateRelation"},
	Label:    "Create Relation",
	Category: "Services",
	Doc: "Creates a relation from another document to the input, or with outgoing from the input to the other document, and returns the input. " +
		"It fails if the relation already exists.",
	Callers: engine.Anyone,
	Run:     engine.Each(addRelationParams.run),
}

type addRelationParams struct {
	Object    storage.Ref `json:"object" doc:"Path or id of the other document; a path that starts with a dot is relative to the input."`
	Predicate string      `json:"predicate" doc:"Name of the relation, for example http://purl.org/dc/terms/IsBasedOn."`
	Outgoing  bool        `json:"outgoing" default:"false" values:"false" doc:"The relation goes from the input to the other document."`
}

func (p addRelationParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	subject, object, err := ends(c, d, p.Object, p.Outgoing)
	if err != nil {
		return nil, err
	}
	return d, relation.Add(c.Tx, subject, p.Predicate, object)
}
