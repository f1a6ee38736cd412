package document

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/retention"
)

var makeRecord = engine.Op{
	Name:     "Document.MakeRecord",
	Label:    "Make a Record",
	Category: "Document",
	Doc:      "Makes the document a record, whose files can no longer change, and returns it. Requires the permission MakeRecord.",
	Callers:  engine.Anyone,
	Run:      engine.Each(makeRecordParams.run),
}

type makeRecordParams struct{}

func (makeRecordParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return retention.MakeRecord(c.Tx, d)
}
