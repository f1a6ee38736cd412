package webhook

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/webhook"
)

var update = engine.Op{
	Name:     "Webhook.Update",
	Label:    "Update a Webhook",
	Category: "Services",
	Doc: "Changes the given fields of a webhook. A new secret is only returned once; the previous one remains valid in addition for a day. " +
		"Enabling a webhook that the server has disabled restarts it.",
	Callers: engine.Anyone.From(engine.Direct),
	Secret:  true,
	Result:  openapi.Ref("Webhook"),
	Run:     engine.On(updateParams.run).As("void", "object"),
}

type updateParams struct {
	ID          string   `json:"id" doc:"Identifier of the webhook."`
	URL         string   `json:"url,omitzero" doc:"Address to post events to."`
	Events      []string `json:"events,omitzero" doc:"Types of events: deck.created, document.*, or * for all."`
	Description *string  `json:"description,omitzero" doc:"Description of the webhook."`
	Enabled     *bool    `json:"enabled,omitzero" doc:"Whether the webhook receives events."`
	NewSecret   bool     `json:"newSecret" default:"false" doc:"Whether to create a new secret."`
}

func (p updateParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	// Get finds only webhooks that the caller may change, so nothing else needs to be checked here.
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
	// A pointer, since an empty description is a value; an empty address or list of events would
	// not be one.
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
