package job

import (
	"catena/engine"
	"catena/storage/outbox"
)

var deleteJob = engine.Op{
	Name:     "Job.Delete",
	Label:    "Delete a Job",
	Category: "Services",
	Doc:      "Deletes a dead or waiting job: it will not run.",
	Callers:  engine.Admins.From(engine.Direct),
	Run:      engine.On(deleteParams.run),
}

type deleteParams struct {
	ID string `json:"id" doc:"Identifier of the job."`
}

func (p deleteParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, outbox.Delete(c.Tx, p.ID)
}
