package hook

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

const (
	sweepAge   = time.Hour // of a row before it is looked at: most messages are carried out within seconds
	sweepBatch = 1000      // rows that one transaction looks at
)

// Sweep forgets the messages whose jobs were deleted, by an administrator or because they had been given up for long: nothing
// will carry them out.
func (h *Hooks) Sweep(ctx context.Context) error {
	for from := ""; ; {
		var err error
		if from, err = h.sweepSome(ctx, from); err != nil || from == "" {
			return err
		}
	}
}

// sweepSome is Sweep for some rows. It returns where to go on, "" at the end.
func (h *Hooks) sweepSome(ctx context.Context, from string) (next string, err error) {
	repo := h.engine.Repo()
	var old []string
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		old, next = nil, ""
		n := 0
		for id, raw := range tx.Table(waiting).Scan(from, "", false, sweepBatch) {
			var since time.Time
			if err := json.Unmarshal(raw, &since); err != nil {
				return fault.Internal.Errorf("hook message %s: %w", id, err)
			}
			if tx.Now().Sub(since) >= sweepAge {
				old = append(old, id)
			}
			if n++; n == sweepBatch {
				next = id + "\x00"
			}
		}
		if err := tx.Err(); err != nil {
			return err
		}
		old, err = withoutJobs(tx, old)
		return err
	})
	if err != nil || len(old) == 0 {
		return next, err
	}
	// A job that is gone does not come back, so the queue need not be read again, which would conflict with all its changes.
	return next, repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		for _, id := range old {
			if err := tx.Table(waiting).Delete(id); err != nil {
				return err
			}
		}
		return nil
	})
}

// withoutJobs are those of some messages that no job is there for.
func withoutJobs(tx *storage.Tx, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil // which is usual: nobody reads the queue
	}
	jobs, err := outbox.Jobs(tx, "", RunJob, 0)
	if err != nil {
		return nil, err
	}
	if len(jobs) >= tx.Repo().Limits().ScanRows {
		return nil, nil // there are more than could be read
	}
	there := make(map[string]bool, len(jobs))
	for _, j := range jobs {
		there[j.ID] = true
	}
	return slices.DeleteFunc(ids, func(id string) bool { return there[id] }), nil
}
