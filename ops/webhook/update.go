package webhook

import (
	"catena/engine"
	"catena/storage/webhook"
)

var update = engine.Op{
	Name:     "Webhook.Update",
	Label:    "Update a Webhook",
	Category: "Services",
	Doc: "Changes what is given of a webhook. A new secret is in the answer this once; the one before it still signs for a day, beside the new one. " +
		"Enabling a webhook that the server has disabled starts it anew.",
	Secret: true,
	Run:    engine.On(updateParams.run).As("void", "object"),
}

type updateParams struct {
	ID          string   `json:"id" doc:"Identifier of the webhook."`
	URL         string   `json:"url,omitzero" doc:"Address that events are posted to."`
	Events      []string `json:"events,omitzero" doc:"Types of events: deck.created, document.*, or * for all."`
	Description *string  `json:"description,omitzero" doc:"What the webhook is for."`
	Enabled     *bool    `json:"enabled,omitzero" doc:"Whether it is told anything."`
	NewSecret   bool     `json:"newSecret" default:"false" doc:"Makes a new secret."`
}

func (p updateParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	w, err := webhook.Get(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	if p.URL != "" {
		w.URL = p.URL
	}
	if p.Events != nil {
		w.Events = p.Events
	}
	if p.Description != nil {
		w.Description = *p.Description
	}
	if p.Enabled != nil {
		w.Disabled = !*p.Enabled
	}
	w, secret, err := webhook.Update(c.Tx, w, p.NewSecret)
	if err != nil {
		return nil, err
	}
	return shown(w, secret), nil
}
