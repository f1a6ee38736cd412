package job

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/fault"
	"catena/storage/outbox"
)

const maxList = 1000

var list = engine.Op{
	Name:     "Job.List",
	Label:    "List Jobs",
	Category: "Services",
	Doc:      "Lists the jobs of the outbox, at most limit per state: dead jobs first, then running ones, then waiting ones.",
	Effect:   engine.Reads,
	Callers:  engine.Admins.From(engine.Direct),
	Result:   openapi.Ref("Jobs"),
	Run:      engine.On(listParams.run),
}

type listParams struct {
	State string `json:"state,omitzero" doc:"Only jobs in this state." enum:"dead,running,waiting"`
	Kind  string `json:"kind,omitzero" doc:"Only jobs of this kind, for example mail."`
	Limit int    `json:"limit" default:"100" doc:"Maximum number of jobs in each state."`
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	if p.Limit < 1 || p.Limit > maxList {
		return nil, fault.Invalid.Errorf("limit: %d is not between 1 and %d", p.Limit, maxList).In("limit")
	}
	jobs, err := outbox.Jobs(c.Tx, p.State, p.Kind, p.Limit)
	out := make([]any, len(jobs))
	for i, j := range jobs {
		out[i] = shown(j)
	}
	return out, err
}
