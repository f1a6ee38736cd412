package hook

import (
	"context"
	"encoding/json"
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
		return tx.Err()
	})
	if err != nil || len(old) == 0 {
		return next, err
	}
	// Without a row to look at, which is usual, nobody reads the queue.
	return next, repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		jobs, err := outbox.Jobs(tx, "", RunJob, 0)
		if err != nil {
			return err
		}
		if len(jobs) >= repo.Limits().ScanRows {
			return nil // there are more than could be read
		}
		there := make(map[string]bool, len(jobs))
		for _, j := range jobs {
			there[j.ID] = true
		}
		for _, id := range old {
			if there[id] {
				continue
			}
			if err := tx.Table(waiting).Delete(id); err != nil {
				return err
			}
		}
		return nil
	})
}
