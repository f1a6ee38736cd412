package webhook

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/fault"
	"catena/storage/webhook"
)

var deliveries = engine.Op{
	Name:     "Webhook.Deliveries",
	Label:    "List Deliveries of a Webhook",
	Category: "Services",
	Doc:      "Returns the latest deliveries of a webhook and their results, newest first. Those that are waiting and the last 100 finished ones are kept; a sweep removes older ones every few minutes.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.Ref("Deliveries"),
	Run:      engine.On(deliveriesParams.run),
}

type deliveriesParams struct {
	ID    string `json:"id" doc:"Identifier of the webhook."`
	Limit int    `json:"limit" default:"20" doc:"Maximum number of deliveries."`
}

func (p deliveriesParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	// Bodies are part of the answer, so it is bounded. More than 100 come only while many
	// deliveries wait.
	if p.Limit < 1 || p.Limit > 1000 {
		return nil, fault.Invalid.Errorf("limit: %d is not between 1 and 1000", p.Limit).In("limit")
	}
	all, err := webhook.Deliveries(c.Tx, p.ID, p.Limit)
	out := make([]any, len(all))
	for i, d := range all {
		out[i] = told(d)
	}
	return out, err
}
