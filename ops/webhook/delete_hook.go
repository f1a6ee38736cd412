package webhook

import (
	"catena/engine"
	"catena/storage/webhook"
)

var deleteHook = engine.Op{
	Name:     "Webhook.Delete",
	Label:    "Delete a Webhook",
	Category: "Services",
	Doc:      "Deletes a webhook and the log of its deliveries. Pending events are not delivered.",
	Callers:  engine.Anyone.From(engine.Direct),
	Run:      engine.On(deleteParams.run),
}

type deleteParams struct {
	ID string `json:"id" doc:"Identifier of the webhook."`
}

func (p deleteParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, webhook.Delete(c.Tx, p.ID)
}
