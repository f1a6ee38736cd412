package resource

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
)

var auditTable = engine.Op{
	Name:     "Resource.AuditTable",
	Label:    "Audit by Page as a Table",
	Category: "Resource",
	Doc:      "Returns a page of the document's audit records, newest first, as comma separated values. What a spreadsheet would take for a formula has an apostrophe in front.",
	Effect:   engine.Reads,
	Run:      engine.On(auditParams.table),
}

var auditColumns = []string{
	"id", "eventId", "category", "eventDate", "logDate", "principalName", "docUUID", "docType", "docPath", "docLifeCycle", "repositoryId", "comment",
}

func (p auditParams) table(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	page, err := p.run(c, d)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	rows := [][]string{auditColumns}
	for _, e := range page.Entries {
		rows = append(rows, []string{
			strconv.FormatInt(e.ID, 10), cell(e.Event), cell(e.Category), e.Time.Format(time.RFC3339Nano), e.Logged.Format(time.RFC3339Nano),
			cell(e.User), e.DocID, cell(e.DocType), cell(e.DocPath), cell(e.DocState), d.Repository(), cell(e.Comment),
		})
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return engine.NewBlob("audit.csv", "text/csv", b.Bytes()), nil
}

// cell is a text that no spreadsheet takes for a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}
