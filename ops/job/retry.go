package job

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/outbox"
)

var retry = engine.Op{
	Name:     "Job.Retry",
	Label:    "Retry a Job",
	Category: "Services",
	Doc:      "Retries a dead or waiting job immediately.",
	Callers:  engine.Admins.From(engine.Direct),
	Result:   openapi.Ref("Job"),
	Run:      engine.On(retryParams.run),
}

type retryParams struct {
	ID string `json:"id" doc:"Identifier of the job."`
}

func (p retryParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	j, err := outbox.Retry(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	return shown(j), nil
}
