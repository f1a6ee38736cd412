package bulk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"catena/engine"
	"catena/engine/sheet"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// JobKind is the kind of the jobs that carry out commands. It is stored with the jobs and must not
// change.
const JobKind = "bulk"

// order is the data of a job. The command itself is a row and not part of the job: the job may run
// again, and must then see how far it has got.
type order struct {
	Command string `json:"command"`
	Forget  bool   `json:"forget,omitempty"`
}

// Job returns what carries out commands on an engine.
func Job(e *engine.Engine) func(context.Context, outbox.Job) error {
	return jobOf("bulk", func(id string) task { return &worker{e: e, id: id} })
}

// Buried returns what ends a command whose job was given up, because what kept it from its work did not pass: clients would
// otherwise wait for it for ever.
func Buried(e *engine.Engine) func(context.Context, outbox.Job) error {
	return buriedOf(func(id string) task { return &worker{e: e, id: id} })
}

// task is the work behind an order: it goes on from where its row says that it has got, fails as a whole, or is forgotten.
type task interface {
	work(ctx context.Context) error
	fail(ctx context.Context, cause error) error
	forget(ctx context.Context) error
}

// jobOf returns what carries out orders of a kind.
func jobOf(what string, of func(id string) task) func(context.Context, outbox.Job) error {
	return func(ctx context.Context, j outbox.Job) error {
		var o order
		if err := json.Unmarshal(j.Data, &o); err != nil {
			// Data that cannot be read now cannot be read later either.
			return &outbox.GaveUp{Err: fault.Invalid.Errorf("%s: %w", what, err)}
		}
		w := of(o.Command)
		if o.Forget {
			return w.forget(ctx)
		}
		err := w.work(ctx)
		// An error that would be the same the next time becomes the state of the work; the job
		// itself is then done. A temporary one is returned, so that the outbox runs the job again
		// after a pause.
		if err != nil && !temporary(err) {
			return errors.Join(w.fail(ctx, err), nil)
		}
		return err
	}
}

// buriedOf returns what ends the work of an order whose job was given up.
func buriedOf(of func(id string) task) func(context.Context, outbox.Job) error {
	return func(ctx context.Context, j outbox.Job) error {
		var o order
		if err := json.Unmarshal(j.Data, &o); err != nil || o.Forget {
			return err
		}
		return of(o.Command).fail(ctx, errors.New(cmp.Or(j.Failure, "the work was given up")))
	}
}

// temporary reports whether a command may do better later. Internal counts as temporary because it may
// be a defect of one version or a disk that is full; the outbox gives up at some point by itself. Work
// that an administrator has ended must not begin again.
func temporary(err error) bool {
	k := fault.Of(err)
	return fault.CodeOf(err) != fault.CodeRunEnded && (k == fault.Unavailable || k == fault.Conflict || k == fault.Internal)
}

// worker carries out one command.
type worker struct {
	e  *engine.Engine
	id string
	as *storage.Principal // whose command it is
}

// call is what those who look at runs see of the work.
func (w *worker) call() engine.Call {
	return engine.Call{Op: "bulk " + w.id, As: w.as, EntryPoint: engine.Server}
}

// update changes the command in a transaction of the system's, unless it has ended.
func (w *worker) update(ctx context.Context, fn func(tx *storage.Tx, cmd *command) error) (over bool, err error) {
	repo := w.e.Repo()
	err = repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		over, err = w.change(tx, fn)
		return err
	})
	return over, err
}

// change changes the command, unless it has ended or gone.
func (w *worker) change(tx *storage.Tx, fn func(tx *storage.Tx, cmd *command) error) (over bool, err error) {
	cmd, err := find(tx, w.id)
	switch {
	case fault.Is(err, fault.NotFound):
		return true, nil
	case err != nil:
		return false, err
	// An aborted command: what is left of its work is removed by the first worker that notices.
	case cmd.over():
		return true, w.drop(tx)
	}
	if err := fn(tx, cmd); err != nil {
		return false, err
	}
	cmd.Changed = tx.Now()
	return cmd.over(), cmd.put(tx)
}

// work goes on where the command stands. It is entered again after a restart or a temporary error. A
// command that was still looking for its documents begins that again, from nothing, since a part of a
// list cannot be told from a whole one; a running one goes on with Next.
func (w *worker) work(ctx context.Context) error {
	found := false
	over, err := w.update(ctx, func(tx *storage.Tx, cmd *command) error {
		var err error
		if w.as, err = cmd.Principal(tx); err != nil {
			return err
		}
		found = cmd.State == running
		if !found {
			cmd.State, cmd.ScrollStart = scrolling, tx.Now()
			return w.drop(tx)
		}
		return nil
	})
	if err == nil && !over && !found {
		over, err = w.scroll(ctx)
	}
	for err == nil && !over {
		if err = ctx.Err(); err == nil {
			over, err = w.batch(ctx)
		}
	}
	return err
}

// scroll finds the documents, in one snapshot, and keeps them in batches.
func (w *worker) scroll(ctx context.Context) (over bool, err error) {
	var ids []string
	size := usual
	err = w.e.Work(ctx, w.call(), engine.Reads, func(tx *storage.Tx) error {
		cmd, err := find(tx, w.id)
		if err != nil {
			return err
		}
		size = cmd.Batch
		as, err := cmd.Principal(tx)
		if err != nil {
			return err
		}
		return w.e.Within(tx, as, engine.Server, "bulk "+w.id, func(c *engine.Ctx) error {
			if ids, err = cmd.Query.ids(c); on(cmd.Params, "sort", "sortResult") {
				slices.Sort(ids) // lines begin with the repository and the id
			}
			return err
		})
	})
	if err != nil {
		return false, err
	}
	// A transaction for each batch, since the ids of half a million documents would be too much for
	// one. The state changes only after the last, which is what makes the list whole.
	for n, from := 0, 0; from < len(ids); n, from = n+1, from+size {
		part := ids[from:min(from+size, len(ids))]
		over, err := w.update(ctx, func(tx *storage.Tx, _ *command) error {
			return tx.Table(listTable).Put(w.key(n), part)
		})
		if err != nil || over {
			return over, err
		}
	}
	return w.update(ctx, func(tx *storage.Tx, cmd *command) error {
		cmd.State, cmd.Total, cmd.ScrollEnd, cmd.WorkStart = running, len(ids), tx.Now(), tx.Now()
		return nil
	})
}

// Nine digits keep the keys in the order of the numbers.
func (w *worker) key(n int) string { return fmt.Sprintf("%s/%09d", w.id, n) }

// batch acts on the next batch, in one transaction. What fails for a document is undone for it and
// counted. The rows that say how far the command has got are written by the same transaction as the
// changes: a batch is done and counted, or neither.
func (w *worker) batch(ctx context.Context) (over bool, err error) {
	err = w.e.Work(ctx, w.call(), engine.Writes, func(tx *storage.Tx) error {
		over, err = w.change(tx, w.next)
		return err
	})
	return over, err
}

// next acts on the next batch in a transaction.
func (w *worker) next(tx *storage.Tx, cmd *command) error {
	var ids []string
	ok, err := tx.Table(listTable).Get(w.key(cmd.Next), &ids)
	if err != nil {
		return err
	}
	as, err := cmd.Principal(tx)
	if err != nil {
		return err
	}
	// The entry point is REST, not the server: what an action runs has no more rights than what its
	// user sends, so operations closed to clients stay closed, and expressions of clients are not
	// evaluated.
	err = w.e.Within(tx, as, engine.REST, "bulk "+w.id, func(c *engine.Ctx) error {
		if !ok {
			return w.finish(tx, c, cmd)
		}
		return w.act(tx, c, cmd, ids)
	})
	if err != nil || !ok {
		return err
	}
	if err := tx.Table(listTable).Delete(w.key(cmd.Next)); err != nil {
		return err
	}
	cmd.Next++
	return nil
}

// finish ends a command whose documents are all done.
func (w *worker) finish(tx *storage.Tx, c *engine.Ctx, cmd *command) error {
	cmd.State, cmd.WorkEnd, cmd.Done = completed, tx.Now(), tx.Now()
	cmd.Millis = cmd.WorkEnd.Sub(cmd.WorkStart).Milliseconds()
	if actions[cmd.Action].line == nil {
		return nil
	}
	return w.join(tx.As(w.e.System()), c, cmd)
}

// act acts on the documents of a batch.
func (w *worker) act(tx *storage.Tx, c *engine.Ctx, cmd *command, ids []string) error {
	var lines bytes.Buffer
	t := csvTable{params: cmd.Params, out: sheet.NewWriter(&lines, false)}
	if actions[cmd.Action].line != nil {
		var err error
		if t.columns, err = columns(c, cmd.Params); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := cmd.one(c, id, t); err != nil {
			return err
		}
	}
	if err := t.out.Flush(); err != nil {
		return err
	}
	return w.keepLines(tx, cmd.Next, lines.Bytes())
}

// one acts on a document. Only what must end the whole batch is an error. Documents that are gone, or
// that the user may not read any longer, are skipped and not counted as errors: others have worked in
// the repository since the query ran.
func (cmd *command) one(c *engine.Ctx, id string, t csvTable) error {
	// It counts attempts, skipped and failed ones included, so that it reaches the total when the
	// command is complete.
	cmd.Processed++
	d, err := c.Tx.Doc(storage.Ref(id))
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		cmd.Skipped++
		return nil
	}
	if err == nil {
		err = c.Nest(func() error {
			a := actions[cmd.Action]
			if a.line == nil {
				return a.do(c, d, cmd.Params)
			}
			cells, err := a.line(c, d, t)
			if err != nil {
				return err
			}
			return t.out.Write(cells)
		})
	}
	if err != nil {
		if engine.Ends(err) {
			return err
		}
		// Only the first message is kept: half a million would not fit into the row, and they are
		// mostly the same.
		if cmd.Errors++; cmd.Failure == "" {
			cmd.Failure = err.Error()
		}
	}
	return nil
}

// fail ends a command that can never be carried out.
func (w *worker) fail(ctx context.Context, cause error) error {
	_, err := w.update(ctx, func(tx *storage.Tx, cmd *command) error {
		cmd.State, cmd.Done, cmd.Failure = aborted, tx.Now(), cause.Error()
		cmd.Errors++
		return w.drop(tx)
	})
	return err
}

// drop removes the documents that are not acted on any longer.
func (w *worker) drop(tx *storage.Tx) error {
	var keys []string
	for key := range tx.Table(listTable).Scan(w.id+"/", w.id+"0", false, 0) {
		keys = append(keys, key)
	}
	for _, key := range keys {
		if err := tx.Table(listTable).Delete(key); err != nil {
			return err
		}
	}
	return w.dropLines(tx)
}

// forget removes a command of which nothing has been heard for long.
func (w *worker) forget(ctx context.Context) error {
	repo := w.e.Repo()
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		cmd := &command{}
		ok, err := tx.Table(table).Get(w.id, cmd)
		if err != nil {
			return err
		}
		if end := cmd.last().Add(kept); ok && end.After(tx.Now()) {
			return &outbox.Later{At: end, Why: "the command has changed since"}
		}
		if err := w.drop(tx); err != nil {
			return err
		}
		if ok && cmd.File != nil {
			if err := hold.Release(tx, w.id, cmd.File.Digest); err != nil {
				return err
			}
		}
		return tx.Table(table).Delete(w.id)
	})
}
