// Package webhook holds operations on webhooks, the addresses that events are sent to, and on the log of their
// deliveries. Who may see them is storage's business, sending them that of engine/delivery.
//
// A webhook belongs to the user who registers it and receives events of what that user may read. The secret of its signatures is returned once, when it is created or replaced.
package webhook

import (
	"time"

	"catena/engine"
	"catena/storage/webhook"
)

// Ops are the webhook operations.
var Ops = []engine.Op{
	create,
	deleteHook,
	deliveries,
	get,
	list,
	redeliver,
	update,
}

// shown is a webhook as operations show it; secret is empty except when it was just made.
func shown(w webhook.Webhook, secret string) map[string]any {
	m := map[string]any{
		"id": w.ID, "owner": w.Owner, "url": w.URL, "description": w.Description, "events": engine.List(w.Events),
		"enabled": !w.Disabled, "created": w.Created, "updated": w.Updated, "failures": w.Failures,
	}
	put(m, "failingSince", w.Failing)
	if w.Reason != "" {
		m["reason"] = w.Reason
	}
	if secret != "" {
		m["secret"] = secret
	}
	return m
}

// told is a delivery as operations show it.
func told(d webhook.Delivery) map[string]any {
	m := map[string]any{
		"id": d.ID, "webhook": d.Webhook, "type": d.Type, "state": d.State, "created": d.Created, "tries": d.Tries, "body": string(d.Body),
	}
	put(m, "finished", d.Finished)
	if d.Status != 0 {
		m["status"] = d.Status
	}
	if d.Failure != "" {
		m["failure"] = d.Failure
	}
	return m
}

func put(m map[string]any, name string, t time.Time) {
	if !t.IsZero() {
		m[name] = t
	}
}
