package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// sweepBatch is the number of rows removed in one transaction.
const sweepBatch = 200

// Sweep removes what nobody needs any longer: what was below deleted folders, content without a document
// after a grace period, expired idempotency records, and what owners of data no longer need. It also makes what searches read
// instead of what it was made of: indexes, and zone maps of the audit log.
func (r *Repo) Sweep(ctx context.Context) error {
	var owners error
	for _, o := range r.owners {
		if o.Sweep != nil {
			owners = errors.Join(owners, o.Sweep(ctx, r))
		}
	}
	return errors.Join(
		r.sweepTrees(ctx),
		r.sweepIndexes(ctx),
		r.sweepAutomatic(ctx),
		r.sweepBlobs(ctx),
		r.sweepContents(ctx),
		owners,
		r.sweepRows(ctx, layout.TableKey(layout.TableSpace, "idempotency", ""), r.expired(IdempotencyTime)),
		r.sweepZones(ctx),
	)
}

// IdempotencyTime is how long the answer to a request with an idempotency key is kept.
const IdempotencyTime = 24 * time.Hour

// SweepExpired removes the rows of a secret table whose member "expires" is a past time. Rows of this table never end
// later than a span from now, unless that is 0: those that do were written before the clock was set back, and are
// shortened.
func (r *Repo) SweepExpired(ctx context.Context, s row.Secret, span time.Duration) error {
	return r.sweepRows(ctx, layout.TableKey(layout.SecretSpace, s.Name, ""), r.expired(span))
}

// sweepTrees removes the documents below deleted folders, some in each transaction.
func (r *Repo) sweepTrees(ctx context.Context) error {
	for {
		var id layout.ID
		err := r.db.View(ctx, func(k *kv.Tx) error {
			id = layout.None
			rg := prefix([]byte{layout.GoneSpace})
			rg.Limit = 1
			for gone, err := range k.Scan(rg) {
				if err != nil {
					return err
				}
				copy(id[:], gone.Key[1:])
			}
			return nil
		})
		if err != nil || id == layout.None {
			return err
		}
		if err := r.sweepBelow(ctx, id); err != nil {
			return err
		}
	}
}

// sweepBelow removes children of a deleted folder. A child that has children itself leaves a row of
// its own to be swept.
func (r *Repo) sweepBelow(ctx context.Context, id layout.ID) error {
	return r.Update(ctx, r.System(), func(t *Tx) error {
		rg := prefix(layout.ChildrenPrefix(id))
		rg.Limit, rg.KeysOnly = sweepBatch, true
		var children []layout.ID
		for node, err := range t.kv.Scan(rg) {
			if err != nil {
				return err
			}
			_, child := layout.PositionAndID(node.Key)
			children = append(children, child)
		}
		if len(children) == 0 {
			return t.sweepVersions(id)
		}
		for _, child := range children {
			if err := t.sweepOne(child); err != nil {
				return err
			}
		}
		return nil
	})
}

// sweepOne removes one document that is cut off.
func (t *Tx) sweepOne(id layout.ID) error {
	some, err := t.anyChild(id)
	if err != nil {
		return err
	}
	if some {
		if err := t.kv.Set(layout.GoneKey(id), nil); err != nil {
			return err
		}
	}
	rows, err := t.kv.GetMany([][]byte{layout.NodeKey(id), layout.RecordKey(id)})
	if err != nil {
		return err
	}
	if rows[0] == nil || rows[1] == nil {
		return nil // a proxy that went with what it showed
	}
	d, err := t.rowDoc(id, rows[0], rows[1])
	if err != nil {
		return err
	}
	if d.proxied || d.IsVersion() {
		if err := t.eraseProxies(id); err != nil {
			return err
		}
	}
	if err := t.erase(d); err != nil {
		return err
	}
	return t.settleVersions(d)
}

// sweepVersions removes versions of a deleted document, if they are to go with it, and what
// marks it once nothing is left.
func (t *Tx) sweepVersions(id layout.ID) error {
	tomb, err := t.node(id)
	if err != nil {
		return err
	}
	if tomb == nil {
		if more, err := t.eraseVersions(id, sweepBatch); err != nil || more {
			return err
		}
	}
	return t.kv.Delete(layout.GoneKey(id))
}

// sweepBlobs removes content that no document refers to and that is older than the grace period.
func (r *Repo) sweepBlobs(ctx context.Context) error {
	before := time.Now().Add(-r.grace) // the clock that files are stamped by
	old, err := r.blobs.Old(ctx, before)
	for _, digest := range old {
		if err != nil {
			return err
		}
		err = r.pins.remove(digest, func() error {
			needed := false
			err := r.db.View(ctx, func(k *kv.Tx) error {
				n, more, err := k.Count(prefix(layout.BlobRefPrefix(digest)), 1)
				needed = n > 0 || more
				return err
			})
			if err != nil || needed {
				return err
			}
			gone, err := r.blobs.RemoveBefore(ctx, digest, before)
			if err != nil || !gone {
				return err
			}
			return r.db.Update(ctx, func(k *kv.Tx) error { return k.Delete(layout.TextKey(digest)) })
		})
	}
	return err
}

// sweepRows replaces the values of the rows below a prefix by what sift returns for them, and removes the rows for which
// that is nil.
func (r *Repo) sweepRows(ctx context.Context, at []byte, sift func(value []byte) []byte) error {
	var keys [][]byte
	err := r.db.View(ctx, func(k *kv.Tx) error {
		keys = nil
		for found, err := range k.Scan(prefix(at)) {
			if err != nil {
				return err
			}
			if next := sift(found.Value); next == nil || !bytes.Equal(next, found.Value) {
				keys = append(keys, found.Key)
			}
		}
		return nil
	})
	for len(keys) > 0 && err == nil {
		n := min(len(keys), sweepBatch)
		batch := keys[:n]
		keys = keys[n:]
		err = r.db.Update(ctx, func(k *kv.Tx) error {
			for _, key := range batch {
				v, err := k.Get(key)
				if err != nil {
					return err
				}
				if v == nil {
					continue
				}
				if next := sift(v); next == nil {
					err = k.Delete(key)
				} else {
					err = k.Set(key, next)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}

// expired sifts rows by their member "expires", which is at most a span from now unless that is 0.
func (r *Repo) expired(span time.Duration) func(value []byte) []byte {
	return func(value []byte) []byte {
		var kept struct {
			Expires time.Time `json:"expires"`
		}
		if json.Unmarshal(value, &kept) != nil || kept.Expires.IsZero() {
			return value
		}
		now := r.clock()
		switch {
		case now.After(kept.Expires):
			return nil
		case span == 0 || kept.Expires.Sub(now) <= span:
			return value
		}
		var members map[string]json.RawMessage
		end, err := json.Marshal(now.Add(span).UTC().Truncate(time.Millisecond))
		if err != nil || json.Unmarshal(value, &members) != nil {
			return value
		}
		members["expires"] = end
		if next, err := json.Marshal(members); err == nil {
			return next
		}
		return value
	}
}

// trashTopic wakes RunTrash.
const trashTopic = "trash"

// trashPause is how long RunTrash waits at most until it looks again.
const trashPause = 15 * time.Second

// trashRow is the value of a row at a folder whose content goes into the trash or comes out of it: which of the two, and the key
// of the last child that is done.
func trashRow(trashed bool, last []byte) []byte {
	flag := byte(0)
	if trashed {
		flag = 1
	}
	return append([]byte{flag}, last...)
}

// RunTrash puts what is below large folders into the trash, or takes it out, until ctx ends.
func (r *Repo) RunTrash(ctx context.Context) error {
	r.working.Add(1)
	defer r.working.Done()
	woken, stop := r.db.Watch(trashTopic)
	defer stop()
	for ctx.Err() == nil {
		more, err := r.TrashSome(ctx)
		if err != nil && ctx.Err() == nil {
			r.log.Error("documents below a folder cannot be put into the trash", "err", err)
		}
		if more && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-woken:
		case <-time.After(trashPause):
		}
	}
	return nil
}

// TrashSome does the work of RunTrash for some children of one folder, and reports whether there was any.
func (r *Repo) TrashSome(ctx context.Context) (more bool, err error) {
	err = r.Update(ctx, r.System(), func(t *Tx) error {
		more = false
		rg := prefix([]byte{layout.TrashSpace})
		rg.Limit = 1
		for row, err := range t.kv.Scan(rg) {
			if err != nil {
				return err
			}
			more = true
			return t.trashChildren(layout.IDAtEnd(row.Key), row.Value[0] == 1, row.Value[1:])
		}
		return nil
	})
	return more, err
}

// trashChildren marks the next children of a folder. Those that have children themselves get a row of their own. A folder that
// was taken out of the trash meanwhile, or put into it, is left alone.
func (t *Tx) trashChildren(folder layout.ID, trashed bool, last []byte) error {
	n, err := t.node(folder)
	if err != nil {
		return err
	}
	if n == nil || (n.flags&layout.Trashed != 0) != trashed {
		return t.kv.Delete(layout.TrashKey(folder))
	}
	rg := prefix(layout.ChildrenPrefix(folder))
	rg.Limit, rg.KeysOnly = sweepBatch, true
	if len(last) > 0 {
		rg.Start = append(bytes.Clone(last), 0)
	}
	var ids []layout.ID
	for row, err := range t.kv.Scan(rg) {
		if err != nil {
			return err
		}
		_, child := layout.PositionAndID(row.Key)
		ids, last = append(ids, child), bytes.Clone(row.Key)
	}
	if len(ids) == 0 {
		return t.kv.Delete(layout.TrashKey(folder))
	}
	docs, err := t.loadMany(ids)
	if err != nil {
		return err
	}
	if err := t.flagTrashed(docs, trashed); err != nil {
		return err
	}
	if !trashed {
		if err := t.feedRestored(docs); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := t.trashBelow(id, trashed); err != nil {
			return err
		}
	}
	return t.kv.Set(layout.TrashKey(folder), trashRow(trashed, last))
}

// trashBelow leaves a row for RunTrash at a document that has children.
func (t *Tx) trashBelow(id layout.ID, trashed bool) error {
	some, err := t.anyChild(id)
	if err != nil || !some {
		return err
	}
	return t.kv.Set(layout.TrashKey(id), trashRow(trashed, nil))
}

// timerSlack is by how much pauses end late on an idle machine, too.
const timerSlack = 250 * time.Microsecond

// pause waits so long, or until the end of the context. It returns how much later than on an idle machine it ended.
func pause(ctx context.Context, d time.Duration) (late time.Duration, err error) {
	begun := time.Now()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(d):
		return max(0, time.Since(begun)-d-timerSlack), nil
	}
}
