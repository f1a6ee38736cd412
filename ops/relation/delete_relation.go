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
	Doc: "Deletes the relation from another document to the input, or with outgoing from the input to the other document, and returns " +
		"the input. The relation need not exist.",
	Callers: engine.Anyone,
	Run:     engine.Each(deleteRelationParams.run),
}

type deleteRelationParams struct {
	Object    storage.Ref `json:"object" doc:"Path or id of the other document; a path that starts with a dot is relative to the input."`
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
