package upload

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"catena/storage"
)

// Sweep ends the batches that nobody asked for in a day, and removes files that are not growing any longer.
func Sweep(ctx context.Context, r *storage.Repo) error {
	return errors.Join(sweepBatches(ctx, r), sweepDrafts(ctx, r))
}

// sweepBatches ends batches that have expired. Each is read again in the transaction that ends it, as it may have been used
// meanwhile. An expiry time further away than a batch may live means that the clock was set back.
func sweepBatches(ctx context.Context, r *storage.Repo) error {
	var old []string
	err := r.View(ctx, r.System(), func(tx *storage.Tx) error {
		old = nil
		for _, raw := range rows(tx).Scan(batchKey(""), below(batchKey("")), false, 0) {
			b := &Batch{}
			if json.Unmarshal(raw, b) == nil && (!tx.Now().Before(b.Expires) || b.Expires.Sub(tx.Now()) > kept) {
				old = append(old, b.ID)
			}
		}
		return nil
	})
	for _, id := range old {
		if err != nil {
			return err
		}
		err = r.Update(ctx, r.System(), func(tx *storage.Tx) error {
			now := &Batch{}
			found, err := rows(tx).Get(batchKey(id), now)
			if err != nil || !found {
				return err
			}
			if tx.Now().Before(now.Expires) {
				if latest := tx.Now().Add(kept); now.Expires.After(latest) { // the clock was set back
					now.Expires = latest
					return rows(tx).Put(batchKey(id), now)
				}
				return nil
			}
			return dropBatch(tx, now)
		})
	}
	return err
}

// sweepDrafts removes files that are not growing any longer.
func sweepDrafts(ctx context.Context, r *storage.Repo) error {
	before := time.Now().Add(-r.BlobGrace()) // the clock that files are stamped by
	return r.Blobs().Drafts(func(name string, _ int64, mod time.Time) error {
		if !mod.Before(before) {
			return ctx.Err()
		}
		needed := false
		err := r.View(ctx, r.System(), func(tx *storage.Tx) error {
			id, index, ok := fileOf(name)
			if !ok {
				return nil
			}
			f, err := find(tx, id, index)
			needed = f != nil && f.row.Draft == name
			return err
		})
		if err != nil || needed {
			return err
		}
		return r.Blobs().RemoveDraft(name)
	})
}
