package notification

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/subscription"
)

var subscribe = engine.Op{
	Name:     "Document.Subscribe",
	Label:    "Subscribe document",
	Category: "Document",
	Doc:      "Subscribes the caller to notifications about the document and everything below it, by default all of them, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(subscribeParams.run),
}

type subscribeParams struct {
	Notifications []string `json:"notifications,omitzero" doc:"Names of notifications: Approval, Comment, Creation, Modification, Move, Publication, Removal, Workflow Change."`
}

func (p subscribeParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return d, subscription.Add(c.Tx, d, p.Notifications...)
}
