package job

import (
	"encoding/json"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/outbox"
)

var runFailed = engine.Op{
	Name:     "WorkManager.RunWorkInFailure",
	Label:    "Executes Works stored in the dead letter queue",
	Category: "Services",
	Doc: "Retries dead jobs in the background, up to 1,000 at a time. Returns JSON with the number of jobs found (total), the number retried " +
		"(success), and the number excluded by kind (filtered).",
	Callers: engine.Admins.From(engine.Direct),
	Run:     engine.On(runFailedParams.run),
}

type runFailedParams struct {
	Kinds   []string `json:"categoryFilter,omitzero" doc:"Only jobs of these kinds."`
	DryRun  bool     `json:"dryRun" default:"false" doc:"Only count."`
	Timeout int64    `json:"timeoutSeconds" default:"3600" unused:"true" doc:"Accepted but ignored: the call does not wait for the jobs."`
}

func (p runFailedParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	jobs, err := outbox.Jobs(c.Tx, outbox.GivenUp, "", maxList)
	if err != nil {
		return nil, err
	}
	var done struct {
		Total    int `json:"total"`
		Success  int `json:"success"`
		Filtered int `json:"filtered"`
	}
	for _, j := range jobs {
		if len(p.Kinds) > 0 && !slices.Contains(p.Kinds, j.Kind) {
			done.Filtered++
			continue
		}
		done.Total++
		if !p.DryRun {
			if _, err := outbox.Retry(c.Tx, j.ID); err != nil {
				return nil, err
			}
		}
		done.Success++
	}
	raw, err := json.Marshal(done)
	return engine.NewBlob("jobs.json", "application/json", raw), err
}
