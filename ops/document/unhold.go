package document

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/retention"
)

var unhold = engine.Op{
	Name:     "Document.Unhold",
	Label:    "Unhold",
	Category: "Document",
	Doc:      "Removes the legal hold of the document, which remains a record, and returns it. Requires the permission ManageLegalHold.",
	Callers:  engine.Anyone,
	Run:      engine.Each(unholdParams.run),
}

type unholdParams struct {
	Description string `json:"description,omitzero" doc:"Reason, for the audit log."`
}

func (p unholdParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return retention.Hold(c.Tx, d, false, p.Description)
}
