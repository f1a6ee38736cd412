package webhook

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/webhook"
)

var list = engine.Op{
	Name:     "Webhook.List",
	Label:    "List Webhooks",
	Category: "Services",
	Doc:      "Returns the caller's webhooks, or for administrators those of any user, by default of all users.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.Ref("Webhooks"),
	Run:      engine.On(listParams.run),
}

type listParams struct {
	Owner string `json:"owner,omitzero" doc:"Name of the user."`
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	hooks, err := webhook.List(c.Tx, p.Owner)
	out := make([]any, len(hooks))
	for i, w := range hooks {
		out[i] = shown(w, "")
	}
	return out, err
}
