package waiting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// UndoJob is the kind of the jobs that undo what a call has done outside of the server and that failed. Servers of a version that did not
// note what stays would undo it too: their jobs are of the kind formerUndoJob, and they leave those of kinds that they do not know alone.
const (
	UndoJob       = "chain.revert"
	formerUndoJob = "chain.undo"
)

// undoTable has a row for each step, by ATTEMPT/NUMBER in the order of the steps, and stayTable one with the same key if what the step
// has done stays.
const (
	undoTable = "undo"
	stayTable = "undo.stay"
)

// grace is how long after the end of its time an attempt of a call is sure to have ended.
const grace = 10 * time.Minute

// undone is the row of what undoes a step.
type undone struct {
	Op   string
	Line int
	storage.Owned
	Actor  string `json:",omitempty"`
	Input  json.RawMessage
	Params json.RawMessage
}

// Record keeps what undoes a step, in a transaction of its own; that of the call notes that what the step has done stays, so that it
// is undone if the call, or the part of it that the step belongs to, fails. On PostgreSQL, the call's transaction has begun before the row
// was there and would not find it to delete it, and would conflict with one that reads. A job that is due when the call must have ended
// finds the row even if the server is killed meanwhile.
func (r *Runs) Record(c *engine.Ctx, attempt string, n int, u *engine.Undo) error {
	w := undone{Op: u.Op, Line: u.Line, Owned: storage.OwnedBy(c.As), Actor: c.As.Actor}
	var err error
	if w.Params, err = new(engine.ValueWriter).Keep(u.Params); err != nil {
		return err
	}
	// The input helps to undo but is not required, unlike the parameters, which say what to undo.
	if w.Input, err = new(engine.ValueWriter).Keep(u.Input); err != nil {
		w.Input = nil // a file, for example: what undoes the step gets none
	}
	due := c.Now.Add(c.Engine().Limits().Time + grace)
	key := fmt.Sprintf("%s/%06d", attempt, n)
	err = c.Tx.Repo().Update(storage.Inside(context.WithoutCancel(c.Context), c.Tx), c.Tx.Repo().System(), func(tx *storage.Tx) error {
		// One job for each attempt is enough: it undoes all the rows it finds.
		if n == 0 {
			if err := enqueueUndo(tx, attempt, due); err != nil {
				return err
			}
		}
		return tx.Table(undoTable).Put(key, w)
	})
	if err != nil {
		return err
	}
	return c.Tx.Table(stayTable).Put(key, true)
}

func enqueueUndo(tx *storage.Tx, attempt string, due time.Time) error {
	data, err := json.Marshal(attempt)
	if err != nil {
		return err
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: UndoJob, Due: due, Data: data})
}

// Settle has what is left of an attempt that has ended be undone now. It is kept under another name from then on: the job that is due
// when the call must have ended finds nothing, and two jobs never undo the same step at once.
func (r *Runs) Settle(ctx context.Context, e *engine.Engine, attempt string) error {
	return e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
		if err := forgetStaying(tx, attempt); err != nil {
			return err
		}
		left := map[string]json.RawMessage{}
		for key, raw := range tx.Table(undoTable).Scan(attempt+"/", attempt+"0", false, 0) {
			left[key] = raw
		}
		if len(left) == 0 {
			return tx.Err()
		}
		ended := tx.NewID()
		for key, raw := range left {
			to := ended + strings.TrimPrefix(key, attempt)
			if err := errors.Join(tx.Table(undoTable).Delete(key), tx.Table(undoTable).Put(to, raw)); err != nil {
				return err
			}
		}
		return enqueueUndo(tx, ended, tx.Now())
	})
}

// forgetStaying deletes the rows of steps whose effects stay.
func forgetStaying(tx *storage.Tx, attempt string) error {
	var stays []string
	for key := range tx.Table(stayTable).Scan(attempt+"/", attempt+"0", false, 0) {
		stays = append(stays, key)
	}
	for _, key := range stays {
		if err := errors.Join(tx.Table(undoTable).Delete(key), tx.Table(stayTable).Delete(key)); err != nil {
			return err
		}
	}
	return tx.Err()
}

// undo undoes what is left of an attempt, the last step first.
func (r *Runs) undo(ctx context.Context, e *engine.Engine, j outbox.Job) error {
	var attempt string
	if err := json.Unmarshal(j.Data, &attempt); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	for {
		more := false
		// One step a transaction: what was undone outside stays noted as such, even if the step before it fails.
		call := engine.Call{Op: "undo", As: e.System(), EntryPoint: engine.Listener, Asked: &engine.Asked{}}
		err := e.Work(ctx, call, engine.Writes, func(tx *storage.Tx) error {
			more = false
			if err := forgetStaying(tx, attempt); err != nil {
				return err
			}
			for key, raw := range tx.Table(undoTable).Scan(attempt+"/", attempt+"0", true, 1) {
				more = true
				if err := undoOne(tx, e, raw); err != nil {
					return err
				}
				return tx.Table(undoTable).Delete(key)
			}
			return tx.Err()
		})
		if err != nil || !more {
			return err
		}
	}
}

func undoOne(tx *storage.Tx, e *engine.Engine, raw json.RawMessage) error {
	var w undone
	if err := json.Unmarshal(raw, &w); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	as, err := w.Acting(tx, w.Actor)
	if err != nil {
		return fault.Denied.Errorf("undo %s: user %s: %w", w.Op, w.Owner, err)
	}
	return e.Within(tx, as, engine.Chain, "undo", func(c *engine.Ctx) error {
		in, err := c.Kept(w.Input)
		if err != nil {
			return err
		}
		params, err := keptMap(c, w.Params)
		if err != nil {
			return err
		}
		_, err = c.Call(w.Op, in, params)
		return err
	})
}
