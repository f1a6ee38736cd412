// Package waiting keeps chains that wait for an instant, an event of a document or the end of a task, and chains that
// work in batches. Of each there is a row with all that it needs to go on, and a job in the outbox that is due when
// it does. The transaction in which a chain goes on takes its row away, so that it goes on once, whatever happens to
// the server; one that fails is tried again as other jobs are, and its row stays.
package waiting

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// JobKind is the kind of the jobs that have a chain go on.
const JobKind = "chain.continue"

const (
	table      = "waiting"
	eventTable = "waiting.event" // by subject and event, the rows of those that wait for it
	itemTable  = "waiting.item"  // the items of batches that are still to come

	maxReason = 2000
	maxRow    = 1 << 20 // bytes of all that one chain needs to go on
)

// Owner ends what waits for a document or for a user who is gone.
var Owner = storage.Owner{Name: "waiting", Erase: erase, Leave: leave}

// Runs are the chains of one engine that wait.
type Runs struct{ engine *engine.Engine }

// New returns the chains that wait, before there is an engine.
func New() *Runs { return &Runs{} }

// Load has events wake what waits for them. It is called once, before the repository is used.
func (r *Runs) Load(ctx context.Context, e *engine.Engine) error {
	r.engine = e
	r.Watch(e.Repo())
	return r.Refresh(ctx, e)
}

// Watch has what happens in a repository wake the chains that wait for it.
func (r *Runs) Watch(repo *storage.Repo) { repo.OnEvent(happened) }

// Refresh has the store know of what was waited for before it knew of such waits, and of what waits on servers of that version.
func (r *Runs) Refresh(ctx context.Context, e *engine.Engine) error {
	var unknown []string
	err := e.Repo().View(ctx, e.System(), func(tx *storage.Tx) error {
		unknown = nil
		// The row of the list is there before anything waits: one that is missing cannot be read without guarding the place where it
		// would be, which on a database is a place that all writers of documents write near to.
		if known, err := storage.Awaited(tx, engine.TaskEnded); err != nil {
			return err
		} else if !known {
			unknown = append(unknown, engine.TaskEnded)
		}
		for k, err := range storage.Records[awaited](tx.Table(eventTable), "", "", 0) {
			if err != nil {
				return err
			}
			if known, err := awaits(tx, k.Event); err != nil {
				return err
			} else if !known {
				unknown = append(unknown, k.Event)
			}
		}
		return nil
	})
	if err != nil || len(unknown) == 0 {
		return err
	}
	return e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
		for _, event := range unknown {
			if err := storage.Await(tx, event); err != nil {
				return err
			}
		}
		return nil
	})
}

// awaits reports whether chains may wait for an event.
func awaits(tx *storage.Tx, event string) (bool, error) {
	if event == engine.TaskEnded { // most waits are for tasks
		return true, nil
	}
	return storage.Awaited(tx, event)
}

// row is a chain that waits.
type row struct {
	Run     string
	Chain   string
	Version int64 `json:",omitempty"`
	Latest  bool  `json:",omitempty"` // it is to go on in the version that is deployed then, as somebody asked
	Step    int
	Line    int
	storage.Owned
	Actor   string    `json:",omitempty"` // for whom the server acts, of one of its own
	Began   time.Time // when it waited for the first time
	Since   time.Time
	Turn    int // counts the jobs that may have it go on; only the last one does
	For     string
	Until   time.Time `json:",omitzero"`
	Event   string    `json:",omitempty"`
	Subject string    `json:",omitempty"` // the document or the task
	Batched bool      `json:",omitempty"`
	Batch   int       `json:",omitempty"`
	Done    int       `json:",omitempty"` // batches that are done
	Batches int       `json:",omitempty"` // altogether
	Holder  string    `json:",omitempty"` // id by which the content of Files is held
	Files   []string  `json:",omitempty"` // digests of the content that is held for the values below and for items
	Input   json.RawMessage
	Vars    json.RawMessage
	Params  json.RawMessage
	Reason  string `json:",omitempty"` // why it is to go on, once it is
	Action  string `json:",omitempty"` // what ended the task that it waited for
	Failure string `json:",omitempty"` // of the last try to go on
}

// key is where the row is.
func (w *row) key() string { return url.PathEscape(w.Owner) + "/" + w.Run }

// awaited is the row of an event that a chain waits for.
type awaited struct{ Event, Key string }

// turn is the data of a job: which chain goes on, in which turn, and why.
type turn struct {
	Key    string `json:"key"`
	Turn   int    `json:"turn"`
	Reason string `json:"reason"`
}

func subjectKey(subject, event, run string) string { return subject + "/" + event + "/" + run }

// Suspend keeps a chain that waits, and returns what its caller is informed of the run.
func (r *Runs) Suspend(c *engine.Ctx, s *engine.Suspension) (any, error) {
	w := &row{
		Run: s.Run, Chain: s.Chain, Version: s.Version, Step: s.Step, Line: s.Line, Owned: storage.OwnedBy(c.As), Actor: c.As.Actor,
		Since: c.Now, Batched: s.Batched, Batch: s.Batch, Began: c.Now,
	}
	if !c.As.System {
		if _, err := storage.PrincipalOf(c.Tx.As(c.Tx.Repo().System()), w.Owner); err != nil {
			return nil, fault.Denied.Errorf("only a chain that runs as a user can wait, not one of %s", w.Owner)
		}
	}
	if w.Run == "" {
		if err := w.oneMore(c); err != nil {
			return nil, err
		}
		if err := w.identify(c); err != nil {
			return nil, err
		}
	} else if err := w.continued(c); err != nil {
		return nil, err
	}
	k := &engine.ValueWriter{TakesFiles: true}
	if err := w.fill(s, k); err != nil {
		return nil, err
	}
	if size := len(w.Input) + len(w.Vars) + len(w.Params); size > maxRow {
		return nil, fault.Limit.Errorf("a chain that waits keeps at most %d bytes, not %d", maxRow, size)
	}
	if err := w.await(c, s, k); err != nil {
		return nil, err
	}
	if err := w.holdFiles(c, k.Files); err != nil {
		return nil, err
	}
	if err := c.Tx.Table(table).Put(w.key(), w); err != nil {
		return nil, err
	}
	return w.status().asMap(), nil
}

// oneMore refuses a chain that would be one too many of its user's. The server's own are bounded by what begins them.
func (w *row) oneMore(c *engine.Ctx) error {
	most := c.Engine().Limits().UserWaiting
	if c.As.System {
		return nil
	}
	n := 0
	from := url.PathEscape(w.Owner) + "/"
	for range c.Tx.Table(table).Scan(from, from+"\xff", false, most) {
		n++
	}
	if n >= most {
		return fault.Limit.Errorf("user %s: %d chains are waiting, limit %d", w.Owner, n, most)
	}
	return nil
}

// identify gives the chain the id of the run that began it. A run may begin several, as steps of another chain: those have a
// number behind the id.
func (w *row) identify(c *engine.Ctx) error {
	w.Run = c.RunID()
	for n := 0; ; n++ {
		if n > 0 {
			w.Run = c.RunID() + "." + strconv.Itoa(n)
		} else if c.RunName() != w.Chain {
			continue
		}
		found, err := c.Tx.Table(table).Get(w.key(), &row{})
		if err != nil || !found {
			return err
		}
	}
}

// next is the version in which the chain goes on.
func (w *row) next(e *engine.Engine) int64 {
	if d, ok := e.Set().Op(w.Chain); ok && w.Latest {
		return d.Version
	}
	return w.Version
}

// began is the id of the run that began the chain.
func (w *row) began() string {
	id, _, _ := strings.Cut(w.Run, ".")
	return id
}

// continued takes over from the row what has been before.
func (w *row) continued(c *engine.Ctx) error {
	var before row
	found, err := c.Tx.Table(table).Get(w.key(), &before)
	if err != nil || !found {
		return err
	}
	w.Began, w.Turn, w.Files = before.Began, before.Turn+1, before.Files
	if len(w.Files) > 0 {
		w.Holder = before.holder()
	}
	// The same step in batches once more: one batch further. Another step begins to count again.
	if w.Batched && before.Batched && before.Step == w.Step {
		w.Done, w.Batches = before.Done+1, before.Batches
	}
	return nil
}

// await has the chain go on when the time has come.
func (w *row) await(c *engine.Ctx, s *engine.Suspension, k *engine.ValueWriter) error {
	reason := engine.WaitedTime
	switch {
	case w.Batched:
		w.For = "batch"
		if !s.More {
			if err := w.keepItems(c, s.Items, k); err != nil {
				return err
			}
		}
		return enqueue(c.Tx, w, c.Now, "")
	case s.Wait.Event == "":
		w.For = engine.WaitedTime
	default:
		w.For, w.Event, w.Subject = engine.WaitedEvent, s.Wait.Event, s.Wait.Doc
		if w.Event == engine.TaskEnded {
			w.For = engine.WaitedTask
		}
		if s.Wait.Task != "" {
			w.Subject = s.Wait.Task
		}
		if err := storage.Await(c.Tx, w.Event); err != nil {
			return err
		}
		key := subjectKey(w.Subject, w.Event, w.Run)
		if err := c.Tx.Table(eventTable).Put(key, awaited{w.Event, w.key()}); err != nil {
			return err
		}
		reason = engine.WaitedTimeout
	}
	// Without a time, only the event continues it, and there is no job.
	if w.Until = s.Wait.Until; w.Until.IsZero() {
		return nil
	}
	return enqueue(c.Tx, w, w.Until, reason)
}

func enqueue(tx *storage.Tx, w *row, due time.Time, reason string) error {
	data, err := json.Marshal(turn{w.key(), w.Turn, reason})
	if err != nil {
		return err
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: JobKind, As: w.Owner, Due: due, Data: data})
}

// happened has the chains that wait for an event of a document go on once the transaction is committed.
func happened(tx *storage.Tx, e storage.Event) error {
	if known, err := awaits(tx, e.Name); err != nil || !known {
		return err
	}
	var subjects []string
	action, _ := e.Extra["action"].(string)
	if e.Doc != nil && e.Doc.Saved() {
		subjects = append(subjects, e.Doc.ID())
	}
	if task, ok := e.Extra["taskId"].(string); ok && e.Name == engine.TaskEnded {
		subjects = append(subjects, task)
	}
	for _, subject := range subjects {
		// Rows of all runs that wait for this event of this subject; the run's id is the last part of the key.
		from := subjectKey(subject, e.Name, "")
		for a, err := range storage.Records[awaited](tx.Table(eventTable), from, from+"\xff", 0) {
			if err != nil {
				return err
			}
			if err := wake(tx, a.Key, action); err != nil {
				return err
			}
		}
	}
	return nil
}

// wake has a chain go on because of what it waits for; action is what ended the task.
func wake(tx *storage.Tx, key, action string) error {
	var w row
	// With a reason the chain is about to go on already.
	if found, err := tx.Table(table).Get(key, &w); err != nil || !found || w.Reason != "" {
		return err
	}
	if err := w.forget(tx); err != nil {
		return err
	}
	w.Reason, w.Action = w.For, action
	if err := w.another(tx); err != nil {
		return err
	}
	return enqueue(tx, &w, tx.Now(), w.Reason)
}

// another keeps the row with a turn of its own for a job that is to be added. Those there are, of a timeout or of a try that
// failed, then do nothing: two that had the chain go on at once would both do what its steps do outside of the server, although
// only one could commit.
func (w *row) another(tx *storage.Tx) error {
	w.Turn++
	return tx.Table(table).Put(w.key(), w)
}

// forget removes what would wake the chain.
func (w *row) forget(tx *storage.Tx) error {
	if w.Event == "" {
		return nil
	}
	return tx.Table(eventTable).Delete(subjectKey(w.Subject, w.Event, w.Run))
}

// remove removes the chain with everything that is kept for it.
func (w *row) remove(tx *storage.Tx) error {
	err := errors.Join(tx.Table(table).Delete(w.key()), w.forget(tx), w.release(tx))
	// Items of batches that are done were deleted as each began.
	for n := w.Done; n < w.Batches && err == nil; n++ {
		err = tx.Table(itemTable).Delete(w.itemKey(n))
	}
	return err
}

// Jobs returns what has the chains of a repository go on, and undoes what calls have left that failed.
func (r *Runs) Jobs(repo *storage.Repo) outbox.Handlers {
	undo := outbox.Handler{AtOnce: 4, Do: func(ctx context.Context, j outbox.Job) error { return r.undo(ctx, r.engine.On(repo), j) }}
	return outbox.Handlers{
		JobKind: {AtOnce: 4, Do: func(ctx context.Context, j outbox.Job) error { return r.proceed(ctx, r.engine.On(repo), j) }},
		UndoJob: undo, formerUndoJob: undo,
	}
}

// row returns the chain whose turn it is; nil if it has had another turn since, for example because an event came before the timeout
// that the job is of.
func (t *turn) row(tx *storage.Tx) (*row, error) {
	var w row
	found, err := tx.Table(table).Get(t.Key, &w)
	if err != nil || !found || w.Turn != t.Turn {
		return nil, err
	}
	return &w, nil
}

// note notes why the chain did not go on.
func (t *turn) note(ctx context.Context, e *engine.Engine, why string) error {
	return e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
		w, err := t.row(tx)
		if err != nil || w == nil {
			return err
		}
		w.Failure = why[:min(len(why), maxReason)]
		return tx.Table(table).Put(t.Key, w)
	})
}

// proceed has a chain go on.
func (r *Runs) proceed(ctx context.Context, e *engine.Engine, j outbox.Job) error {
	var t turn
	if err := json.Unmarshal(j.Data, &t); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	var w *row
	err := e.Repo().View(ctx, e.System(), func(tx *storage.Tx) (err error) {
		w, err = t.row(tx)
		return err
	})
	if err != nil || w == nil {
		return err // it has gone on already, or was stopped
	}
	if t.Reason == erased {
		return lose(ctx, e, t)
	}
	call := engine.Call{
		Op: w.Chain, Version: w.next(e), As: e.System(), For: w.Owned, EntryPoint: engine.Listener, Asked: &engine.Asked{Began: w.began()},
	}
	err = e.Work(ctx, call, engine.Writes, func(tx *storage.Tx) error { return goOn(tx, e, t) })
	if err == nil {
		return nil
	}
	noted := t.note(context.WithoutCancel(ctx), e, err.Error())
	// Trying again cannot help with these. The row stays, so that Run.Continue can, once the cause is mended.
	if k := fault.Of(err); k == fault.Invalid || k == fault.Denied || k == fault.Limit || k == fault.NotFound {
		err = &outbox.GaveUp{Err: err}
	}
	// The outbox tries errors again by itself unless it is told to give up.
	return errors.Join(err, noted)
}

// goOn has a chain go on in a transaction, which takes away what it waited with.
func goOn(tx *storage.Tx, e *engine.Engine, t turn) error {
	w, err := t.row(tx)
	if err != nil || w == nil {
		return err
	}
	as, err := w.Acting(tx, w.Actor)
	if err != nil {
		return fault.Denied.Errorf("user %s: %w", w.Owner, err)
	}
	if err := w.forget(tx); err != nil {
		return err
	}
	err = e.Within(tx, as, engine.Listener, w.Chain, func(c *engine.Ctx) error {
		s, err := w.suspension(c)
		if err != nil {
			return err
		}
		reason := t.Reason
		if reason == "" {
			reason = w.For
		}
		_, err = c.Resume(s, reason)
		return err
	})
	if err != nil {
		return err
	}
	var after row
	if _, err := tx.Table(table).Get(t.Key, &after); err != nil || after.Turn != w.Turn {
		return err // it waits again
	}
	if err := w.release(tx); err != nil {
		return err
	}
	return tx.Table(table).Delete(t.Key)
}

// leave ends the chains of a user.
func leave(tx *storage.Tx, user string) error {
	all := tx.As(tx.Repo().System())
	from := url.PathEscape(user)
	for w, err := range storage.Records[row](all.Table(table), from+"/", from+"0", 0) {
		if err != nil {
			return err
		}
		if err := w.remove(all); err != nil {
			return err
		}
	}
	return nil
}
