package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/outbox"
	"catena/storage/trace"
)

// Enqueue adds a job that is carried out once the transaction is committed.
func (t *Tx) Enqueue(j outbox.Job) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if j.Kind == "" {
		return fault.Invalid.Errorf("job: the kind is missing").In("kind")
	}
	if j.ID == "" {
		j.ID = t.NewID()
	}
	if j.Due.IsZero() {
		j.Due = t.Now()
	}
	if j.As == "" {
		j.As = t.Principal().Name
	}
	if len(j.Data) == 0 {
		j.Data = json.RawMessage("null")
	}
	if j.Trace.ID == "" {
		j.Trace, _ = trace.Of(t.Context())
	}
	j.Created, j.Since, j.Due = t.Now(), time.Time{}, j.Due.UTC().Truncate(time.Millisecond)
	t.Changed("job", j.Kind)
	return outbox.Add(rowsOf(t), j)
}

// Jobs returns jobs of the outbox for administrators: those given up, those that run, those that wait, at most
// limit of each; state and kind may be empty for any.
func (t *Tx) Jobs(state, kind string, limit int) ([]outbox.State, error) {
	if err := t.mayRunJobs(); err != nil {
		return nil, err
	}
	return outbox.List(rowsOf(t), state, kind, limit, t.Repo().Limits().ScanRows)
}

func (t *Tx) mayRunJobs() error {
	if t.Principal().Is() {
		return nil
	}
	return fault.Denied.Errorf("only administrators may manage the outbox, not '%s'", t.Principal().Name)
}

// RetryJob has a job that was given up, or that waits, tried again at once, for administrators.
func (t *Tx) RetryJob(id string) (outbox.State, error) {
	j, err := t.takeJob(id)
	if err != nil {
		return j, err
	}
	j.State, j.Tries, j.Due, j.Since = outbox.Waits, 0, t.Now(), t.Now()
	return j, outbox.Add(rowsOf(t), j.Job)
}

// DeleteJob removes a job that was given up, or that waits, for administrators.
func (t *Tx) DeleteJob(id string) error {
	_, err := t.takeJob(id)
	return err
}

// takeJob takes a job out of its queue. One that runs cannot be taken.
func (t *Tx) takeJob(id string) (outbox.State, error) {
	if err := cmp.Or(t.mayRunJobs(), t.MayWrite()); err != nil {
		return outbox.State{}, err
	}
	j, err := outbox.Take(rowsOf(t), id, insideJobs(t.Repo()).Clock(), t.Repo().Limits().ScanRows)
	if err == nil {
		t.Changed("job", j.Kind)
	}
	return j, err
}

// Backlog returns how much is in the outbox; counting stops where reading for a query does.
func (r *Repo) Backlog(ctx context.Context) (b outbox.Backlog, err error) {
	err = insideJobs(r).DB().View(ctx, func(k *kv.Tx) error {
		b, err = outbox.Count(k, insideJobs(r).Clock(), r.Limits().ScanRows)
		return err
	})
	return b, err
}

func queueOf(r *Repo) *outbox.Queue {
	return &outbox.Queue{DB: insideJobs(r).DB(), Clock: insideJobs(r).Clock, Log: r.Log(), Jitter: r.Jitter}
}

// WatchJobs returns a channel that receives after a job was carried out or has failed, whichever it
// was: who waits for one looks again. It is a hint, and one may stand for several jobs.
func (r *Repo) WatchJobs() (settled <-chan struct{}, stop func()) {
	return insideJobs(r).DB().Watch(outbox.Settled)
}

// RunJobs claims and carries out jobs until ctx ends; handlers are chosen by kind, and jobs of other kinds
// are left alone. A job that fails is tried again later, at most 8 times altogether over a day, unless it
// says GaveUp or Later; a handler may meet the same job twice.
func (r *Repo) RunJobs(ctx context.Context, handlers outbox.Handlers) error {
	defer insideJobs(r).Work()()
	return queueOf(r).Run(ctx, handlers)
}

// outboxOwner keeps the jobs of a repository.
var outboxOwner = Owner{Name: "outbox", Open: openJobs, Sweep: sweepJobs}

func openJobs(ctx context.Context, r *Repo) error { return queueOf(r).Open(ctx) }

// sweepJobs removes jobs that were given up long ago.
func sweepJobs(ctx context.Context, r *Repo) error {
	return insideJobs(r).SweepRows(ctx, outbox.Dead(), func(value []byte) []byte {
		if outbox.Old(value, insideJobs(r).Clock()) {
			return nil
		}
		return value
	})
}

func insideJobs(r *Repo) RepoInternal { return r.Internal(row.Ordered{}) }

func rowsOf(t *Tx) *kv.Tx { return t.Internal(row.Ordered{}).KV() }
