package resource

import (
	"bytes"
	"strconv"
	"time"

	"catena/engine"
	"catena/engine/sheet"
	"catena/storage"
)

var auditTable = engine.Op{
	Name:     "Resource.AuditTable",
	Label:    "Audit by Page as a Table",
	Category: "Resource",
	Doc:      "Returns a page of the document's audit records, newest first, as comma separated values. Values that a spreadsheet would interpret as formulas are prefixed with an apostrophe.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(auditParams.table),
}

// The names and the order are those of the JSON form; programs read the table by its first line.
var auditColumns = []string{
	"id", "eventId", "category", "eventDate", "logDate", "principalName", "docUUID", "docType", "docPath", "docLifeCycle", "repositoryId", "comment",
}

func (p auditParams) table(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	page, err := p.run(c, d)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	// Comments and paths are chosen by users. Without the apostrophe, a spreadsheet would run what
	// one of them has written as a formula.
	w := sheet.NewWriter(&b, true)
	if err := w.Write(auditColumns); err != nil {
		return nil, err
	}
	for _, e := range page.Entries {
		err := w.Write([]string{
			strconv.FormatInt(e.ID, 10), e.Event, e.Category, e.Time.Format(time.RFC3339Nano), e.Logged.Format(time.RFC3339Nano),
			e.User, e.DocID, e.DocType, e.DocPath, e.DocState, d.Repository(), e.Comment,
		})
		if err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return engine.NewBlob("audit.csv", "text/csv", b.Bytes()), nil
}
