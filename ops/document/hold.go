package document

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/retention"
)

var hold = engine.Op{
	Name:     "Document.Hold",
	Label:    "Hold",
	Category: "Document",
	Doc: "Makes the document a record, puts a legal hold on it, and returns it. As long as it has one, nobody can change or delete it. " +
		"Requires the permission ManageLegalHold, and MakeRecord if the document is not a record.",
	Callers: engine.Anyone,
	Run:     engine.Each(holdParams.run),
}

type holdParams struct {
	Description string `json:"description,omitzero" doc:"Reason, for the audit log."`
}

func (p holdParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	d, err := retention.MakeRecord(c.Tx, d)
	if err != nil {
		return nil, err
	}
	return retention.Hold(c.Tx, d, true, p.Description)
}
