package storage

import (
	"encoding/json"
	"slices"

	"catena/storage/fault"
)

// The states of a job in the outbox.
const (
	JobWaits   = "waiting"
	JobRuns    = "running"
	JobGivenUp = "dead"
)

// JobState is a job with where it stands.
type JobState struct {
	Job
	State string
}

var jobStates = []struct {
	state string
	queue byte
}{{JobGivenUp, jobDead}, {JobRuns, jobLeased}, {JobWaits, jobDue}}

// Jobs returns jobs of the outbox for administrators: those given up, those that run, those that wait, at most
// limit of each; state and kind may be empty for any.
func (t *Tx) Jobs(state, kind string, limit int) ([]JobState, error) {
	if err := t.mayRunJobs(); err != nil {
		return nil, err
	}
	if state != "" && state != JobWaits && state != JobRuns && state != JobGivenUp {
		return nil, fault.Invalid.Errorf("state %q: waiting, running or dead expected", state).In("state")
	}
	var out []JobState
	for _, s := range jobStates {
		if state != "" && state != s.state {
			continue
		}
		n := 0
		err := t.eachJob(s.queue, func(_ []byte, j Job) bool {
			if kind == "" || j.Kind == kind {
				out = append(out, JobState{j, s.state})
				n++
			}
			return limit <= 0 || n < limit
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t *Tx) mayRunJobs() error {
	if t.rights.admin {
		return nil
	}
	return fault.Denied.Errorf("the outbox is for administrators, not for '%s'", t.as.Name)
}

func (t *Tx) eachJob(queue byte, fn func(key []byte, j Job) bool) error {
	r := prefix([]byte{spaceJob, queue})
	r.Limit = t.repo.limits.ScanRows
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return err
		}
		var j Job
		if err := json.Unmarshal(row.Value, &j); err != nil {
			return fault.Internal.Errorf("job: %w", err)
		}
		if !fn(row.Key, j) {
			return nil
		}
	}
	return nil
}

// RetryJob has a job that was given up, or that waits, tried again at once, for administrators.
func (t *Tx) RetryJob(id string) (JobState, error) {
	return t.takeJob(id, func(j Job) error {
		j.Tries, j.Due = 0, t.now
		t.kv.Wake(jobTopic)
		return putJob(t.kv, jobDue, j.Due, j)
	})
}

// DeleteJob removes a job that was given up, or that waits, for administrators.
func (t *Tx) DeleteJob(id string) error {
	_, err := t.takeJob(id, func(Job) error { return nil })
	return err
}

// takeJob takes a job out of its queue. One that runs cannot be taken.
func (t *Tx) takeJob(id string, then func(Job) error) (found JobState, err error) {
	if err := firstError(t.mayRunJobs(), t.MayWrite()); err != nil {
		return found, err
	}
	for _, s := range jobStates {
		var at []byte
		err := t.eachJob(s.queue, func(key []byte, j Job) bool {
			if j.ID == id {
				at, found = slices.Clone(key), JobState{j, s.state}
			}
			return at == nil
		})
		switch {
		case err != nil:
			return found, err
		case at == nil:
			continue
		case s.queue == jobLeased && t.repo.clock().Before(leaseEnd(at)):
			return found, fault.Conflict.Errorf("job %s: runs", id)
		}
		t.Changed("job", found.Kind)
		found.State, found.Tries, found.Due = JobWaits, 0, t.now
		return found, firstError(t.kv.Delete(at), then(found.Job))
	}
	return found, fault.NotFound.Errorf("job %s", id)
}
