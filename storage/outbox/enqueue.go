package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/trace"
)

// Enqueue adds a job that is carried out once the transaction is committed.
func Enqueue(t *storage.Tx, j Job) error {
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
	storage.NoteChange(t, "job", j.Kind)
	return addRow(rowsOf(t), j)
}

// Jobs returns jobs of the outbox for administrators: those given up, those that run, those that wait, at most
// limit of each; state and kind may be empty for any.
func Jobs(t *storage.Tx, state, kind string, limit int) ([]State, error) {
	if err := mayManage(t); err != nil {
		return nil, err
	}
	return listRows(rowsOf(t), state, kind, limit, t.Repo().Limits().ScanRows)
}

func mayManage(t *storage.Tx) error {
	if t.Principal().Is() {
		return nil
	}
	return fault.Denied.Errorf("only administrators may manage the outbox, not '%s'", t.Principal().Name)
}

// Retry has a job that was given up, or that waits, tried again at once, for administrators.
func Retry(t *storage.Tx, id string) (State, error) {
	j, err := takeJob(t, id)
	if err != nil {
		return j, err
	}
	j.State, j.Tries, j.Interrupted, j.Due, j.Since = Waits, 0, 0, t.Now(), t.Now()
	return j, addRow(rowsOf(t), j.Job)
}

// Delete removes a job that was given up, or that waits, for administrators.
func Delete(t *storage.Tx, id string) error {
	_, err := takeJob(t, id)
	return err
}

// takeJob takes a job out of its queue. One that runs cannot be taken.
func takeJob(t *storage.Tx, id string) (State, error) {
	if err := cmp.Or(mayManage(t), t.MayWrite()); err != nil {
		return State{}, err
	}
	j, err := takeRow(rowsOf(t), id, inside(t.Repo()).Clock(), t.Repo().Limits().ScanRows)
	if err == nil {
		storage.NoteChange(t, "job", j.Kind)
	}
	return j, err
}

// Count returns how much is in the outbox; counting stops where reading for a query does.
func Count(ctx context.Context, r *storage.Repo) (b Backlog, err error) {
	err = inside(r).DB().View(ctx, func(k *kv.Tx) error {
		b, err = countRows(k, inside(r).Clock(), r.Limits().ScanRows)
		return err
	})
	return b, err
}

func queueOf(r *storage.Repo) *Queue {
	return &Queue{DB: inside(r).DB(), Clock: inside(r).Clock, Log: r.Log(), Jitter: r.Jitter}
}

// Watch returns a channel that receives after a job was carried out or has failed, whichever it
// was: who waits for one looks again. It is a hint, and one may stand for several jobs.
func Watch(r *storage.Repo) (settled <-chan struct{}, stop func()) {
	return inside(r).DB().Watch(settledTopic)
}

// Run claims and carries out jobs until ctx ends; handlers are chosen by kind, and jobs of other kinds
// are left alone. A job that fails is tried again later, at most 8 times altogether over a day, unless it
// says GaveUp or Later; a handler may meet the same job twice.
func Run(ctx context.Context, r *storage.Repo, handlers Handlers) error {
	defer inside(r).Work()()
	return queueOf(r).Run(ctx, handlers)
}

// Owner keeps the jobs of a repository.
var Owner = storage.Owner{Name: "outbox", Open: open, Sweep: sweep}

func open(ctx context.Context, r *storage.Repo) error {
	if r.Shared() { // leases end by themselves
		return nil
	}
	return queueOf(r).Open(ctx)
}

// sweep removes jobs that were given up long ago.
func sweep(ctx context.Context, r *storage.Repo) error {
	return inside(r).SweepRows(ctx, deadRows(), func(value []byte) []byte {
		if isOld(value, inside(r).Clock()) {
			return nil
		}
		return value
	})
}

func inside(r *storage.Repo) storage.RepoInternal { return r.Internal(row.Ordered{}) }

func rowsOf(t *storage.Tx) *kv.Tx { return t.Internal(row.Ordered{}).KV() }
