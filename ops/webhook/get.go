package webhook

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/webhook"
)

var get = engine.Op{
	Name:     "Webhook.Get",
	Label:    "Get a Webhook",
	Category: "Services",
	Doc:      "Returns one of the caller's webhooks, or for administrators any webhook.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.Ref("Webhook"),
	Run:      engine.On(getParams.run),
}

type getParams struct {
	ID string `json:"id" doc:"Identifier of the webhook."`
}

func (p getParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	w, err := webhook.Get(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	// The secret is never shown again; Webhook.Update can make another one.
	return shown(w, ""), nil
}
