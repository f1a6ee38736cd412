package job_test

import (
	"testing"

	"catena/ops/job"
	"catena/ops/opstest"
)

// Jobs are for administrators: for others there are no such operations.
func TestJobsThatAreListed(t *testing.T) {
	s := opstest.Serve(t, job.Ops)
	s.Play([]opstest.Row{
		{"bob", "Job.List", "", `{}`, "! notfound unknown_operation: operation Job.List"},
		{"", "Job.Delete", "", `{"id": "x"}`, "! notfound unknown_operation: operation Job.Delete"},
		{"", "Job.Retry", "", `{"id": "x"}`, "! notfound unknown_operation: operation Job.Retry"},
		{"admin", "Job.List", "", `{"limit": 0}`, "! invalid limit: limit: 0 is not between 1 and 1000"},
		{"", "Job.List", "", `{"limit": 1001}`, "! invalid limit: limit: 1001 is not between 1 and 1000"},
		{"", "Job.List", "", `{"limit": 1000, "state": "dead"}`, ""},
		{"", "Job.List", "", `{"kind": "nöpe", "limit": 1}`, ""},
		{"", "Job.List", "", `{"state": "Dead"}`, `! invalid state: parameter "state": "Dead" is not one of dead, running, waiting`},
		{"", "Job.Delete", "", `{"id": "nope"}`, "! notfound: job nope"},
		{"", "Job.Retry", "", `{"id": "nope"}`, "! notfound: job nope"},
		{"", "Job.Delete", "", `{}`, `! invalid missing_parameter id: parameter "id" is missing`},
		{"", "WorkManager.RunWorkInFailure", "", `{}`, `{"total":0,"success":0,"filtered":0}`},
		{"", "WorkManager.RunWorkInFailure", "", `{"categoryFilter": ["nope"], "dryRun": true}`, `{"total":0,"success":0,"filtered":0}`},
	})
}
