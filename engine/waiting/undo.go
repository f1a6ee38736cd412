package waiting

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// UndoJob is the kind of the jobs that undo what a call has done outside of the server and that failed.
const UndoJob = "chain.undo"

// undoTable has a row for each step, by ATTEMPT/NUMBER in the order of the steps.
const undoTable = "undo"

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

// Record keeps what undoes a step, in a transaction of its own; that of the call takes it away again, so that it stays if
// the call, or the part of it that the step belongs to, fails. A job that is due when the call must have ended finds it
// even if the server is killed meanwhile.
func (r *Runs) Record(c *engine.Ctx, attempt string, u *engine.Undo) error {
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
	var key string
	err = c.Tx.Repo().Update(context.WithoutCancel(c.Context), c.Tx.Repo().System(), func(tx *storage.Tx) error {
		n := 0
		for range tx.Table(undoTable).Scan(attempt+"/", attempt+"0", false, 0) {
			n++
		}
		// One job for each attempt is enough: it undoes all the rows it finds.
		if n == 0 {
			if err := enqueueUndo(tx, attempt, due); err != nil {
				return err
			}
		}
		key = fmt.Sprintf("%s/%06d", attempt, n)
		return tx.Table(undoTable).Put(key, w)
	})
	if err != nil {
		return err
	}
	return c.Tx.Table(undoTable).Delete(key)
}

func enqueueUndo(tx *storage.Tx, attempt string, due time.Time) error {
	data, err := json.Marshal(attempt)
	if err != nil {
		return err
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: UndoJob, Due: due, Data: data})
}

// Settle has what is left of an attempt that has ended be undone now.
func (r *Runs) Settle(ctx context.Context, e *engine.Engine, attempt string) error {
	return e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
		for range tx.Table(undoTable).Scan(attempt+"/", attempt+"0", false, 1) {
			return enqueueUndo(tx, attempt, tx.Now())
		}
		return nil
	})
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
			for key, raw := range tx.Table(undoTable).Scan(attempt+"/", attempt+"0", true, 1) {
				more = true
				if err := undoOne(tx, e, raw); err != nil {
					return err
				}
				return tx.Table(undoTable).Delete(key)
			}
			return nil
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
