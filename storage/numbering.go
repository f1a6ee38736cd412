package storage

import (
	"context"
	"encoding/binary"
	"encoding/json"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// numbering is above which numbers those of the feed and of the backlog begin in a store. Where the numbers come from differs
// between kinds of stores, and a database that was filled from a backup counts from the beginning: each store therefore begins
// above all numbers that may have been given for the rows that it was filled with. Stamps are added to these.
type numbering struct {
	Store   string `json:"store"` // identity of the store that these are for
	Feed    int64  `json:"feed"`
	Backlog uint64 `json:"backlog"`
}

// numberingGap is more numbers of the feed than are given between the time of a backup, whose rows tell which had been given,
// and the loss of the store that it is of: 268 million transactions of a database. Up to as much again is added at random, because
// several stores may be filled from the same backup.
const numberingGap = 1 << 42

// openNumbering reads from where on numbers are given. In a store that was filled with rows of another one, it decides that.
func (r *Repo) openNumbering(ctx context.Context) error {
	identity := r.db.Identity()
	if identity == "" {
		return nil
	}
	key := kv.OwnKey("numbering\x00" + r.name)
	read := func(k *kv.Tx) error {
		v, err := k.Get(key)
		if r.numbering = (numbering{}); err != nil || v == nil {
			return err
		}
		if err := json.Unmarshal(v, &r.numbering); err != nil {
			return fault.Internal.Errorf("numbering: %w", err)
		}
		return nil
	}
	if err := r.db.View(ctx, read); err != nil || r.numbering.Store == identity {
		return err
	}
	return r.db.Update(ctx, func(k *kv.Tx) error {
		if err := read(k); err != nil || r.numbering.Store == identity {
			return err
		}
		if err := r.beginNumbering(k, identity); err != nil {
			return err
		}
		v, err := json.Marshal(r.numbering)
		if err != nil {
			return err
		}
		return k.Set(key, v)
	})
}

// beginNumbering makes the numbers of a store begin above those of the rows that it has, and of one that had these rows before.
func (r *Repo) beginNumbering(k *kv.Tx, identity string) error {
	n := &r.numbering
	n.Store = identity
	on, err := k.Get(feedOnKey)
	if err != nil {
		return err
	}
	last, err := lastNumber(k, feedPrefix)
	if err != nil {
		return err
	}
	upcoming, err := k.Upcoming(auditSequence)
	if err != nil {
		return err
	}
	if on != nil || last > 0 {
		n.Feed = max(n.Feed, int64(last), upcoming) + numberingGap + int64(r.jitter()*numberingGap)
	}
	if !k.Remote() { // numbers of the backlog begin above its rows whenever it is opened
		return nil
	}
	last, err = lastNumber(k, backlogPrefix)
	n.Backlog = max(n.Backlog, last)
	return err
}

// lastNumber returns the number of the last row with a prefix, 0 if there are none.
func lastNumber(k *kv.Tx, of []byte) (last uint64, err error) {
	rg := prefix(of)
	rg.Reverse, rg.Limit, rg.KeysOnly = true, 1, true
	for row, err := range k.Scan(rg) {
		if err != nil {
			return 0, err
		}
		last = binary.BigEndian.Uint64(row.Key[2:])
	}
	return last, nil
}

// feedStamp returns a number for a row of the feed of a store that other processes write to.
func (t *Tx) feedStamp() (int64, error) {
	stamp, err := t.kv.Stamp()
	return t.repo.numbering.Feed + int64(stamp), err
}

// feedSettled returns the number up to which the snapshot has all rows of the feed that there will be.
func (t *Tx) feedSettled() (int64, error) {
	if !t.kv.Remote() {
		return t.settled, nil
	}
	settled, err := t.kv.Settled()
	return t.repo.numbering.Feed + int64(settled) - 1, err
}

var backlogPrefix = []byte{layout.WordsSpace, layout.WordsPending}
