package webhook

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/webhook"
)

var redeliver = engine.Op{
	Name:     "Webhook.Redeliver",
	Label:    "Redeliver to a Webhook",
	Category: "Services",
	Doc:      "Repeats a finished delivery with the same identifier.",
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.Ref("Delivery"),
	Run:      engine.On(redeliverParams.run),
}

type redeliverParams struct {
	ID       string `json:"id" doc:"Identifier of the webhook."`
	Delivery string `json:"delivery" doc:"Identifier of the delivery."`
}

func (p redeliverParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	// The identifier stays the same, so a receiver that has handled the first delivery can
	// recognize the second.
	d, err := webhook.Redeliver(c.Tx, webhook.Ref{Webhook: p.ID, Delivery: p.Delivery})
	if err != nil {
		return nil, err
	}
	return told(d), nil
}
