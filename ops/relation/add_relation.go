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
	Doc: "Relates another document to the input, or with outgoing the input to the other document, and returns the input. " +
		"The same relation twice is an error.",
	Run: engine.Each(addRelationParams.run),
}

type addRelationParams struct {
	Object    storage.Ref `json:"object" doc:"The other document: a path, an id, or a path relative to the input that starts with a dot."`
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
