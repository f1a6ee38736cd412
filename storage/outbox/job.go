// Package outbox is a queue of work outside of transactions: a transaction adds a job, which is executed after the
// commit, at least once. It keeps the rows of jobs and runs them; what they do is up to the code that adds them.
//
// Jobs are ordered by when they are due, in one of three queues: waiting, running, given up. A worker claims
// a job by moving its row to the running queue, under a lease that it renews; if the process dies, the lease
// ends and the job is due again. So a job may be carried out twice, and its handler must bear that. Failures
// are tried again with growing pauses, eight times in a day at most. The order of jobs is not guaranteed.
//
// Waking up is a hint, not a promise: a commit wakes the topic, and workers look at the queue once a second
// anyway.
package outbox

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/trace"
)

// Job is a row of the outbox: work to be done outside of transactions, at least once.
type Job struct {
	ID, Kind string
	Due      time.Time
	Fixed    bool `json:",omitempty"` // Due is a time of day, as of a schedule, and not the end of a wait: it stays when the clock is set back
	Tries    int
	As       string // user it acts for
	Data     json.RawMessage

	Created time.Time   `json:",omitzero"`
	Since   time.Time   `json:",omitzero"`  // when Due was set; zero: when the job was created
	Trace   trace.Trace `json:",omitzero"`  // that what caused the job belongs to
	Failure string      `json:",omitempty"` // what went wrong last

	Interrupted int `json:",omitempty"` // how many tries before this one ended with the process
}

// since is when Due was set.
func (j *Job) since() time.Time {
	if j.Since.IsZero() {
		return j.Created
	}
	return j.Since
}

// The states of a job.
const (
	Waits   = "waiting"
	Runs    = "running"
	GivenUp = "dead"
)

// State is a job with where it stands.
type State struct {
	Job
	State string
}

// GaveUp is an error of a job that trying again cannot fix.
type GaveUp struct{ Err error }

// Error says what went wrong.
func (e *GaveUp) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *GaveUp) Unwrap() error { return e.Err }

// Final is an error of a job as GaveUp if its kind says that trying again cannot fix it.
func Final(err error) error {
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Denied) || fault.Is(err, fault.Limit) {
		return &GaveUp{Err: err}
	}
	return err
}

// Later is an error of a job that could not be begun: it waits until then, and the try does not count.
type Later struct {
	At  time.Time // by the clock of the queue; zero: it is due as it was
	Why string
}

// Error says what the job waits for.
func (e *Later) Error() string { return e.Why }

// Space begins the keys of all jobs. After it comes the queue, then the moment the job is due or
// its lease ends, which those given up do not have, then the job.
const Space = 'j'

const (
	// The queues are part of the keys on disk.
	queueWaiting = 0
	queueRunning = 1
	queueDead    = 2
)

const topic = "jobs"

// settledTopic is the topic that is woken when a job was carried out, or failed.
const settledTopic = "jobs settled"

var queues = []struct {
	state string
	queue byte
}{{GivenUp, queueDead}, {Runs, queueRunning}, {Waits, queueWaiting}}

func key(queue byte, at time.Time, job string) []byte {
	k := []byte{Space, queue}
	if queue != queueDead {
		// With the sign bit flipped, negative times sort before positive ones as bytes.
		k = binary.BigEndian.AppendUint64(k, uint64(at.UnixMilli())^1<<63)
	}
	return append(k, job...)
}

// moment is when the job of a key is due, or its lease ends.
func moment(key []byte) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(key[2:]) ^ 1<<63))
}

func put(k *kv.Tx, queue byte, at time.Time, j Job) error {
	b, err := json.Marshal(j)
	if err != nil {
		return fault.Invalid.Errorf("job %s: %w", j.Kind, err)
	}
	return k.Set(key(queue, at, j.ID), b)
}

// addRow adds a job that is complete.
func addRow(k *kv.Tx, j Job) error {
	k.Wake(topic)
	return putDue(k, queueWaiting, j)
}

// putDue puts a job into a queue by when it is due. One that was due before it comes stands there as one that is due now, since looks pass
// over what lies further back.
func putDue(k *kv.Tx, queue byte, j Job) error {
	at := j.Due
	if since := j.since(); since.After(at) {
		at = since
	}
	return put(k, queue, at, j)
}

// each calls fn with the jobs of a queue, at most so many, until it returns false.
func each(k *kv.Tx, queue byte, most int, fn func(key []byte, j Job) bool) error {
	r := kv.Prefix([]byte{Space, queue})
	r.Limit = most
	for row, err := range k.Scan(r) {
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

// listRows returns jobs: those given up, those that run, those that wait, at most limit of each and read among
// so many; state and kind may be empty for any.
func listRows(k *kv.Tx, state, kind string, limit, read int) ([]State, error) {
	if state != "" && state != Waits && state != Runs && state != GivenUp {
		return nil, fault.Invalid.Errorf("state %q: must be waiting, running or dead", state).In("state")
	}
	var out []State
	for _, s := range queues {
		if state != "" && state != s.state {
			continue
		}
		n := 0
		err := each(k, s.queue, read, func(_ []byte, j Job) bool {
			if kind == "" || j.Kind == kind {
				out = append(out, State{j, s.state})
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

// takeRow takes a job out of its queue. One that runs now cannot be taken.
func takeRow(k *kv.Tx, id string, now time.Time, read int) (found State, err error) {
	for _, s := range queues {
		var at []byte
		err := each(k, s.queue, read, func(key []byte, j Job) bool {
			if j.ID == id {
				at, found = slices.Clone(key), State{j, s.state}
			}
			return at == nil
		})
		switch {
		case err != nil:
			return found, err
		case at == nil:
			continue
		case s.queue == queueRunning && now.Before(moment(at)):
			return found, fault.Conflict.Errorf("job %s: is running", id)
		}
		return found, k.Delete(at)
	}
	return found, fault.NotFound.Errorf("job %s", id)
}

// deadRows begins the keys of the jobs that were given up.
func deadRows() []byte { return []byte{Space, queueDead} }

// kept is how long a job that was given up can be looked at.
const kept = 7 * 24 * time.Hour

// isOld reports whether the row of a job that was given up is kept no longer.
func isOld(row []byte, now time.Time) bool {
	var j Job
	return json.Unmarshal(row, &j) == nil && now.Sub(j.Due) > kept
}

// Backlog is how much is in the queues.
type Backlog struct {
	Jobs map[string]int // by state
	Late time.Duration  // how long the job that waits longest is due; 0 if none is
}

// countRows counts the jobs of each state, up to most.
func countRows(k *kv.Tx, now time.Time, most int) (Backlog, error) {
	b := Backlog{Jobs: map[string]int{}}
	for _, s := range queues {
		r := kv.Prefix([]byte{Space, s.queue})
		r.Limit, r.KeysOnly = most, true
		n := 0
		for row, err := range k.Scan(r) {
			if err != nil {
				return b, err
			}
			if n++; n == 1 && s.queue == queueWaiting {
				b.Late = max(0, now.Sub(moment(row.Key)))
			}
		}
		b.Jobs[s.state] = n
	}
	return b, nil
}

// cutText shortens a text, between two characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// delays are how long a job waits after its n-th try failed, up to a fifth more: together, a day.
var delays = [most - 1]time.Duration{
	time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 5 * time.Hour, 14 * time.Hour,
}

func delay(tries int) time.Duration {
	return delays[min(max(tries, 1), len(delays))-1]
}
