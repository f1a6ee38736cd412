package export

import (
	"fmt"
	"time"

	"catena/decks/deck"
	"catena/engine"
)

// Ops are the operations on exports.
var Ops = []engine.Op{
	createExport,
	downloadExport,
	getExport,
	getExportFile,
	listExports,
}

var getExport = engine.Op{
	Name: "Deck.GetExport", Label: "Get Deck Export", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns an export of one of the caller's decks. A completed export has an address from which the file can be downloaded without " +
		"signing in, for 24 hours unless configured otherwise; reading the export again returns a new one.",
	Run: engine.On(getExportParams.run),
}

type getExportParams struct {
	Deck int64 `json:"deck_id" doc:"Number of the deck."`
	ID   int64 `json:"id" doc:"Number of the export."`
	deck.View
}

func (p getExportParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := deck.Find(c, p.Deck, false); err != nil {
		return nil, err
	}
	e, err := Find(c.Tx, p.Deck, p.ID)
	if err != nil {
		return nil, err
	}
	return exported(c, p.View, e), nil
}

// exported is the result of an operation on one export.
func exported(c *engine.Ctx, v deck.View, e *Export) map[string]any {
	out := map[string]any{"data": exportFields(c, v, e), "location": fmt.Sprintf("/v1/decks/%d/exports/%d", e.Deck, e.ID)}
	if e.Status == Pending {
		out["meta"] = map[string]any{"poll_after_seconds": int64(pollAfter)}
	}
	return out
}

// exportFields are the fields of an export as the service has them, and what is wrong with
// it, if anything.
func exportFields(c *engine.Ctx, v deck.View, e *Export) map[string]any {
	out := map[string]any{
		// The specification lists these members as null until they have a value. What is added below is ours, and
		// only there when it says something.
		"id": e.ID, "deck_id": e.Deck, "format": e.Format, "status": e.Status, "created_at": deck.Stamp(e.Created),
		"completed_at": nil, "download_url": nil, "download_url_expires_at": nil,
	}
	if e.Status == Completed {
		path, until := e.Address(c.Tx)
		out["completed_at"], out["download_url"], out["download_url_expires_at"] = deck.Stamp(e.Completed), v.Base+path, deck.Stamp(until)
	}
	if e.Failure != nil {
		out["error"] = map[string]any{"code": e.Failure.Code, "message": e.Failure.Message}
	}
	if len(e.Warnings) > 0 {
		list := make([]any, len(e.Warnings))
		for i, w := range e.Warnings {
			list[i] = w
		}
		out["warnings"] = list
	}
	if e.Stage != "" && e.Stage != Queued {
		out["progress"] = map[string]any{"stage": e.Stage, "since": deck.Stamp(later(e.Created, e.Started))}
	}
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
