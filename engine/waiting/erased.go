package waiting

import (
	"context"
	"errors"
	"fmt"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// erased is why a chain ends that waits for something of a document that was erased.
const erased = "erased"

// erase ends what waits for something of a document. What becomes of runs is the engine's to keep, so that a job does it.
func erase(tx *storage.Tx, d *storage.Doc) error {
	all := tx.As(tx.Repo().System())
	for a, err := range storage.Records[awaited](all.Table(eventTable), d.ID()+"/", d.ID()+"0", 0) {
		if err != nil {
			return err
		}
		var w row
		found, err := all.Table(table).Get(a.Key, &w)
		if err == nil && found {
			err = w.lost(all, tx.Actor())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lost has a chain end because somebody has erased what it waits for.
func (w *row) lost(all *storage.Tx, by string) error {
	what := "the document whose event " + w.Event
	if w.For == engine.WaitedTask {
		what = "the task whose end"
	}
	w.Reason, w.Failure = erased, fmt.Sprintf("wait at line %d: %s the chain waited for was deleted by %s", w.Line, what, by)
	if err := errors.Join(w.forget(all), w.another(all)); err != nil {
		return err
	}
	return enqueue(all, w, all.Now(), erased)
}

// lose ends such a chain: it has failed.
func lose(ctx context.Context, e *engine.Engine, t turn) error {
	return e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
		w, err := t.row(tx)
		if err != nil || w == nil {
			return err
		}
		return e.Within(tx, e.System(), engine.Listener, w.Chain, func(c *engine.Ctx) error {
			run := w.ended(c)
			run.Code, run.Error = fault.NotFound.String(), w.Failure
			return errors.Join(w.remove(c.Tx), c.KeepEnded(run))
		})
	})
}
