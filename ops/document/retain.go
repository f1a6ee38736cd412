package document

import (
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/retention"
)

var retain = engine.Op{
	Name:     "Document.Retain",
	Label:    "Retain",
	Category: "Document",
	Doc: "Makes the document a record, retains it until a date, and returns it. Until then nobody can change or delete it. " +
		"A date can only be replaced by a later one. Requires the permission SetRetention, and MakeRecord if the document is not a record.",
	Callers: engine.Anyone,
	Run:     engine.Each(retainParams.run),
}

type retainParams struct {
	Until time.Time `json:"until,omitzero" doc:"When the retention ends; none: it is indeterminate, and can be given a date later."`
}

func (p retainParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	until := storage.Indeterminate
	if !p.Until.IsZero() {
		until = storage.Until(p.Until.UnixMilli())
	}
	d, err := retention.MakeRecord(c.Tx, d)
	if err != nil {
		return nil, err
	}
	return retention.Retain(c.Tx, d, until)
}
