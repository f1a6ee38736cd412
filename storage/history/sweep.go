package history

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/internal/row"
)

// sweepBatch is how many runs one transaction removes.
const sweepBatch = 200

// rewriteBatch is how many blocks one transaction writes again: a megabyte.
const rewriteBatch = 20

// Sweep forgets what was kept long enough, and of the runs that went well the oldest beyond the limits.
func Sweep(ctx context.Context, repo *storage.Repo, l Limits) error {
	return errors.Join(
		repo.SweepExpired(ctx, failed, 0), repo.SweepExpired(ctx, failedDetails, 0), repo.SweepExpired(ctx, failedOwners, 0),
		repo.SweepExpired(ctx, parts, 0),
		sweepDone(ctx, repo, l),
	)
}

func sweepDone(ctx context.Context, repo *storage.Repo, l Limits) error {
	c := counter{Limits: l}
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		c = counter{Limits: l, own: map[string]int{}}
		return errors.Join(c.inBlocks(tx), c.inRows(tx))
	})
	if err != nil {
		return err
	}
	rewritten := inBatches(ctx, repo, slices.Sorted(maps.Keys(c.some)), rewriteBatch, func(tx *storage.Tx, keys []string) error {
		for _, key := range keys {
			if err := rewrite(tx, key, func(r *Run) bool { return !c.some[key][r.ID] }); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(rewritten, inBatches(ctx, repo, c.blocks, sweepBatch, dropBlocks), inBatches(ctx, repo, c.rows, sweepBatch, removeRows))
}

// counter counts runs that went well, newest first: those of blocks, and then older ones. It collects those that are to go.
type counter struct {
	Limits
	own map[string]int
	all int

	blocks, rows []string                   // whole blocks, runs in rows of their own, by their keys
	some         map[string]map[string]bool // ids of runs of other blocks
}

// surplus reports whether a run of an owner is one too many.
func (c *counter) surplus(owner string) bool {
	if c.own[owner]++; c.own[owner] > c.User || c.all == c.All {
		return true
	}
	c.all++
	return false
}

// inBlocks looks at blocks.
func (c *counter) inBlocks(tx *storage.Tx) error {
	c.some = map[string]map[string]bool{}
	for key, raw := range tx.Secret(blocks).Scan("", "", true, 0) {
		if c.all == c.All { // none stays, and they may be many
			c.blocks = append(c.blocks, key)
			continue
		}
		runs, err := runsOf(raw)
		if err != nil {
			return err
		}
		ids := map[string]bool{}
		for i := len(runs) - 1; i >= 0; i-- {
			if r := &runs[i]; tx.Now().After(r.Expires) || c.surplus(r.Identity()) {
				ids[r.ID] = true
			}
		}
		switch len(ids) {
		case len(runs):
			c.blocks = append(c.blocks, key)
		case 0:
		default:
			c.some[key] = ids
		}
	}
	return tx.Err()
}

// inRows looks at runs in rows of their own. Keys are in the order of time: only runs that are about to expire are read.
func (c *counter) inRows(tx *storage.Tx) error {
	for key := range tx.Secret(done).Scan("", "", true, 0) {
		if _, owner, _ := strings.Cut(key, "/"); c.surplus(owner) {
			c.rows = append(c.rows, key)
		}
	}
	// A run may outlast a few that began later: the runs are not quite in the order in which they end. What is left
	// over goes with the next sweep.
	for key, raw := range tx.Secret(done).Scan("", "", false, 0) {
		var r mark
		if json.Unmarshal(raw, &r) == nil && !tx.Now().After(r.Expires) {
			break
		}
		c.rows = append(c.rows, key)
	}
	return tx.Err()
}

// inBatches removes what keys stand for, so many in a transaction.
func inBatches(ctx context.Context, repo *storage.Repo, keys []string, most int, remove func(tx *storage.Tx, keys []string) error) error {
	for batch := range slices.Chunk(keys, most) {
		err := repo.Update(ctx, repo.System(), func(tx *storage.Tx) error { return remove(tx, batch) })
		if err != nil {
			return err
		}
	}
	return nil
}

func dropBlocks(tx *storage.Tx, keys []string) error {
	for _, key := range keys {
		if err := dropBlock(tx, key); err != nil {
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
	if err := leaveBlocks(all, user); err != nil {
		return err
	}
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

// leaveBlocks takes the runs of a user out of blocks.
func leaveBlocks(tx *storage.Tx, user string) error {
	var keys []string
	for key, raw := range tx.Secret(blocks).Scan("", "", false, 0) {
		runs, err := runsOf(raw)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(runs, func(r Run) bool { return r.Owner == user }) {
			keys = append(keys, key)
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, key := range keys {
		if err := rewrite(tx, key, func(r *Run) bool { return r.Owner != user }); err != nil {
			return err
		}
	}
	return nil
}
