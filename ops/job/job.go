// Package job holds operations on the outbox: jobs that are waiting, running, or have failed for good. Carrying jobs
// out is storage's business and that of the packages whose kinds they are.
//
// A job that has failed for good stays in the outbox until an administrator retries or deletes it: its input
// is what a user waits for. All operations here are for administrators.
package job

import (
	"catena/engine"
	"catena/storage/outbox"
)

// Ops are the operations on jobs.
var Ops = []engine.Op{
	deleteJob,
	list,
	retry,
	runFailed,
}

// shown is a job without what it carries, which may be private.
func shown(j outbox.State) map[string]any {
	m := map[string]any{
		"id": j.ID, "kind": j.Kind, "state": j.State, "due": j.Due, "created": j.Created, "tries": j.Tries, "user": j.As,
	}
	if j.Failure != "" {
		m["failure"] = j.Failure
	}
	return m
}
