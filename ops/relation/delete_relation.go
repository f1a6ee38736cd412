package relation

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/relation"
)

var deleteRelation = engine.Op{
	Name:     "Document.DeleteRelation",
	Aliases:  []string{"Relations.DeleteRelation"},
	Label:    "Delete Relation",
	Category: "Services",
	Doc: "Ends the relation of another document to the input, or with outgoing of the input to the other document, and returns " +
		"the input. There need not be one.",
	Run: engine.Each(deleteRelationParams.run),
}

type deleteRelationParams struct {
	Object    storage.Ref `json:"object" doc:"The other document: a path, an id, or a path relative to the input that starts with a dot."`
	Predicate string      `json:"predicate" doc:"Name of the relation."`
	Outgoing  bool        `json:"outgoing" default:"false" values:"false" doc:"The relation goes from the input to the other document."`
}

func (p deleteRelationParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	subject, object, err := ends(c, d, p.Object, p.Outgoing)
	if err != nil {
		return nil, err
	}
	return d, relation.Remove(c.Tx, subject, p.Predicate, object)
}
