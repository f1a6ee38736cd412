package notification

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/subscription"
)

var unsubscribe = engine.Op{
	Name:     "Document.Unsubscribe",
	Label:    "Unsubscribe document",
	Category: "Document",
	Doc:      "Removes the caller's subscriptions to notifications about the document, by default all of them, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(unsubscribeParams.run),
}

type unsubscribeParams struct {
	Notifications []string `json:"notifications,omitzero" doc:"Names of notifications."`
}

func (p unsubscribeParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return d, subscription.Remove(c.Tx, d, p.Notifications...)
}
