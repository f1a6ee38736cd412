package webhook

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/webhook"
)

// create can only be called directly: a chain that somebody else wrote must not have the caller's
// events sent to an address of its author's.
var create = engine.Op{
	Name:     "Webhook.Create",
	Label:    "Create a Webhook",
	Category: "Services",
	Doc: "Registers an address that receives events on the documents and decks that the caller may read, signed according to Standard Webhooks. " +
		"The signing secret is only returned once.",
	Callers: engine.Anyone.From(engine.Direct),
	Secret:  true,
	Result:  openapi.Ref("Webhook"),
	Run:     engine.On(createParams.run).As("void", "object"),
}

type createParams struct {
	URL         string   `json:"url" doc:"Address to post events to."`
	Events      []string `json:"events" doc:"Types of events: deck.created, document.*, or * for all."`
	Description string   `json:"description,omitzero" doc:"Description of the webhook."`
}

func (p createParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	w, secret, err := webhook.Create(c.Tx, webhook.Webhook{URL: p.URL, Events: p.Events, Description: p.Description})
	if err != nil {
		return nil, err
	}
	return shown(w, secret), nil
}
