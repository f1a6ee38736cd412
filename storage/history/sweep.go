package history

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"catena/storage"
	"catena/storage/internal/row"
)

// sweepBatch is how many runs one transaction removes.
const sweepBatch = 200

// Sweep forgets what was kept long enough, and of the runs that went well the oldest beyond the limits.
func Sweep(ctx context.Context, repo *storage.Repo, l Limits) error {
	return errors.Join(
		repo.SweepExpired(ctx, failed, 0), repo.SweepExpired(ctx, failedDetails, 0), repo.SweepExpired(ctx, failedOwners, 0),
		repo.SweepExpired(ctx, parts, 0),
		sweepDone(ctx, repo, l),
	)
}

func sweepDone(ctx context.Context, repo *storage.Repo, l Limits) error {
	var gone []string
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		gone = nil
		return surplus(tx, l, func(key string) { gone = append(gone, key) })
	})
	return errors.Join(err, remove(ctx, repo, gone))
}

// surplus finds the keys of runs that went well and that are to go. Keys are in the order of time: only runs that are
// about to expire are read.
func surplus(tx *storage.Tx, l Limits, drop func(key string)) error {
	own, all := map[string]int{}, 0
	for key := range tx.Secret(done).Scan("", "", true, 0) {
		_, owner, _ := strings.Cut(key, "/")
		if own[owner]++; own[owner] > l.User || all == l.All {
			drop(key)
			continue
		}
		all++
	}
	// A run may outlast a few that began later: the runs are not quite in the order in which they end. What is left
	// over goes with the next sweep.
	for key, raw := range tx.Secret(done).Scan("", "", false, 0) {
		var r mark
		if json.Unmarshal(raw, &r) == nil && !tx.Now().After(r.Expires) {
			break
		}
		drop(key)
	}
	return tx.Err()
}

// remove removes runs that went well.
func remove(ctx context.Context, repo *storage.Repo, keys []string) error {
	for len(keys) > 0 {
		n := min(len(keys), sweepBatch)
		batch := keys[:n]
		keys = keys[n:]
		err := repo.Update(ctx, repo.System(), func(tx *storage.Tx) error { return removeRows(tx, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

func removeRows(tx *storage.Tx, keys []string) error {
	for _, key := range keys {
		id, _, _ := strings.Cut(key, "/")
		if err := errors.Join(tx.Secret(done).Delete(key), tx.Secret(doneDetails).Delete(id)); err != nil {
			return err
		}
	}
	return nil
}

// Owner forgets the runs of a user who is gone.
var Owner = storage.Owner{Name: "runs", Leave: leave}

func leave(tx *storage.Tx, user string) error {
	all := tx.As(tx.Repo().System())
	var keys []string
	for _, t := range []row.Secret{done, failed} {
		keys = keys[:0]
		for key, raw := range all.Secret(t).Scan("", "", false, 0) {
			var r Run
			if json.Unmarshal(raw, &r) != nil || r.Owner != user {
				continue
			}
			if t == failed {
				key = ownerKey(&r)
			}
			keys = append(keys, key)
		}
		if err := all.Err(); err != nil {
			return err
		}
		if t == done {
			if err := removeRows(all, keys); err != nil {
				return err
			}
			continue
		}
		for _, key := range keys {
			id := key[strings.LastIndexByte(key, '/')+1:]
			if err := errors.Join(all.Secret(failed).Delete(id), all.Secret(failedDetails).Delete(id), all.Secret(failedOwners).Delete(key)); err != nil {
				return err
			}
		}
	}
	return nil
}
