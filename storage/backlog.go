package storage

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"catena/storage/kv"
)

// The documents whose terms are not up to date are in rows "w 3 number", some in each, numbered in the
// order in which transactions begin to write them. (A row whose key ends with a document's id is one of
// that document alone: so they were before.)

// backlogRow is how many documents a row has: what the store keeps beside its key.
const backlogRow = 30

// backlog knows from where on there are such rows, so that nobody walks over the traces that the store
// keeps for a while of those that were taken away.
type backlog struct {
	mu      sync.Mutex
	last    uint64          // the last number given
	running map[uint64]bool // the first numbers of the transactions that have not ended
	bound   atomic.Uint64   // no transaction that has not ended wrote rows below it

	from    uint64 // there are no rows below it...
	version uint64 // ...from this version on
}

// open is called before the repository is used.
func (b *backlog) open(last uint64) {
	b.last, b.running = last, map[uint64]bool{}
	b.bound.Store(last + 1)
}

// number returns the number of a new row for a transaction, whose first one is kept in first.
func (b *backlog) number(first *uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	if *first == 0 {
		*first = b.last
		b.running[b.last] = true
	}
	return b.last
}

// end says that the transaction with a first number has ended, whether or not it was committed.
func (b *backlog) end(first uint64) {
	if first == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, first)
	bound := b.last + 1
	for number := range b.running {
		bound = min(bound, number)
	}
	b.bound.Store(bound)
}

// start returns from where on a snapshot of a version may have rows.
func (b *backlog) start(version uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if version < b.version {
		return 0
	}
	return b.from
}

// found takes in what the first row is that a snapshot has.
func (b *backlog) found(version, first uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first > b.from {
		b.from, b.version = first, version
	}
}

func backlogKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{spaceWords, wordsPending}, number)
}

// rowsPerCommit is more than one commit writes of these rows.
const rowsPerCommit = 1 << 20

// openBacklog sees to it that new rows come behind those that are there and those that were taken away:
// whoever opened the store before began with the number of a lower version.
func (r *Repo) openBacklog(ctx context.Context) error {
	rg := prefix([]byte{spaceWords, wordsPending})
	rg.Reverse, rg.Limit, rg.KeysOnly = true, 1, true
	return r.db.View(ctx, func(k *kv.Tx) error {
		last := k.Version() * rowsPerCommit
		for row, err := range k.Scan(rg) {
			if err != nil {
				return err
			}
			last = max(last, numberOf(row.Key))
		}
		r.backlog.open(last)
		return nil
	})
}

func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[2:]) }

// mark puts a document on the list of those whose terms are to be brought up to date.
func (t *Tx) mark(id docID) error {
	if slices.Contains(t.marked, id) {
		return nil
	}
	if t.marked = append(t.marked, id); len(t.marked) < backlogRow {
		return nil
	}
	return t.putMarked()
}

// putMarked writes the row of the documents marked since the last one.
func (t *Tx) putMarked() error {
	if len(t.marked) == 0 {
		return nil
	}
	ids := t.marked
	t.marked = nil
	return t.putPending(backlogKey(t.repo.backlog.number(t.noted)), ids)
}

func (t *Tx) putPending(key []byte, ids []docID) error {
	value := make([]byte, 0, len(ids)*len(docID{}))
	for _, id := range ids {
		value = append(value, id[:]...)
	}
	return t.kv.Set(key, value)
}

// pendingRow is a row of documents whose terms are not up to date.
type pendingRow struct {
	key    []byte
	ids    []docID
	unread []docID // those that cannot be brought up to date now
}

// pendingRows returns rows until they have more than limit documents, if there are as many.
func (t *Tx) pendingRows(limit int) (rows []pendingRow, err error) {
	if err := t.putMarked(); err != nil {
		return nil, err
	}
	b, version := &t.repo.backlog, t.kv.Version()
	rg := prefix([]byte{spaceWords, wordsPending})
	rg.Start = backlogKey(b.start(version))
	n, first := 0, uint64(math.MaxUint64)
	for row, err := range t.kv.Scan(rg) {
		if err != nil {
			return nil, err
		}
		var ids []docID
		if len(row.Key) == len(rg.Start) {
			ids = idsIn(row.Value)
		} else {
			ids = append(ids, indexID(row.Key))
		}
		first = min(first, numberOf(row.Key))
		rows = append(rows, pendingRow{key: row.Key, ids: ids})
		if n += len(ids); n > limit {
			break
		}
	}
	if !t.kv.Writable() {
		b.found(version, min(first, t.bound))
	}
	return rows, nil
}

func idsIn(value []byte) []docID {
	ids := make([]docID, 0, len(value)/len(docID{}))
	for at := range slices.Chunk(value, len(docID{})) {
		ids = append(ids, docID(at))
	}
	return ids
}

// pending returns the documents whose terms are not up to date, in order, or that they are more than limit.
func (t *Tx) pending(limit int) (ids []docID, more bool, err error) {
	rows, err := t.pendingRows(limit)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		ids = append(ids, row.ids...)
	}
	if ids = sortIDs(ids); len(ids) > limit {
		return nil, true, nil
	}
	return ids, false, nil
}
