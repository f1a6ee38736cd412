package audit

import (
	"catena/engine"
	"catena/storage"
)

var logEvent = engine.Op{
	Name:     "Audit.LogEvent",
	Aliases:  []string{"Audit.Log"},
	Label:    "Log Event In Audit",
	Category: "Services",
	Doc:      "Writes an audit record about the document, marked as written by a client and not by the server itself, and returns the document. No event is fired.",
	Callers:  engine.Admins.OrStored(),
	Run:      engine.Each(logEventParams.run),
}

type logEventParams struct {
	Event    string `json:"event" widget:"AuditEvent" doc:"Name of the event."`
	Category string `json:"category" default:"Automation" values:"Automation" doc:"Category of the event."`
	Comment  string `json:"comment,omitzero" widget:"TextArea" doc:"A comment."`
}

func (p logEventParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	e := storage.Entry{Event: p.Event, Category: p.Category, Comment: p.Comment, Source: "client"}
	// A document that is not stored yet has no id to find the record by. Path, type and state are
	// filled in by storage, not by the caller.
	if d.Saved() {
		e.DocID = d.ID()
	}
	return d, c.Tx.LogEntry(e)
}
