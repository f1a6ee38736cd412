package storage

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/text"
)

// The documents whose terms are not up to date are in rows "w 3 number", some in each, numbered in the
// order in which transactions begin to write them. (A row whose key ends with a document's id names only that
// document; earlier versions wrote such rows.) A document that is saved often is named in many rows. It is indexed once:
// the rows that are older than the state that was indexed are then only deleted.

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

	indexed map[layout.ID]uint64 // the terms of a document contain all changes noted in rows below this number
}

// maxRemembered is how many documents are remembered as indexed. Those that are forgotten are indexed once more if further
// rows name them.
const maxRemembered = 1 << 16

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

// setIndexed notes that the terms of documents were written in a transaction that began when no transaction was running
// that had written rows below bound.
func (b *backlog) setIndexed(ids []layout.ID, bound uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.indexed == nil || len(b.indexed)+len(ids) > maxRemembered {
		b.indexed = make(map[layout.ID]uint64, len(ids))
	}
	for _, id := range ids {
		b.indexed[id] = max(b.indexed[id], bound)
	}
}

// isIndexed reports whether the terms of a document contain the changes that a row notes.
func (b *backlog) isIndexed(number uint64, id layout.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return number < b.indexed[id]
}

// forget frees what was noted about indexed documents, once no rows are left.
func (b *backlog) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.indexed = nil
}

const backlogKeySize = 2 + 8

func backlogKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{layout.WordsSpace, layout.WordsPending}, number)
}

// rowsPerCommit is more than one commit writes of these rows.
const rowsPerCommit = 1 << 20

// openBacklog sees to it that new rows come behind those that are there and those that were taken away:
// anyone who opened the store before began with the number of a lower version.
func (r *Repo) openBacklog(ctx context.Context) error {
	return r.db.View(ctx, func(k *kv.Tx) error {
		if r.shared = k.Remote(); r.shared {
			return nil
		}
		last, err := lastNumber(k, backlogPrefix)
		r.backlog.open(max(last, k.Version()*rowsPerCommit))
		return err
	})
}

func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[2:]) }

// mark puts a document on the list of those whose terms are to be brought up to date.
func (t *Tx) mark(id layout.ID) error {
	if slices.Contains(t.marked, id) {
		return nil
	}
	if t.marked = append(t.marked, id); len(t.marked) < backlogRow {
		return nil
	}
	return t.putMarked()
}

// backlogNumber returns the number of a new row. In a store that other processes write to as well, it is a stamp.
func (t *Tx) backlogNumber() (uint64, error) {
	if t.kv.Remote() {
		stamp, err := t.kv.Stamp()
		return t.repo.numbering.Backlog + stamp, err
	}
	return t.repo.backlog.number(t.noted), nil
}

// backlogBound returns a number below which no transaction that had not ended when this one began has written rows.
func (t *Tx) backlogBound() (uint64, error) {
	if t.kv.Remote() {
		settled, err := t.kv.Settled()
		return t.repo.numbering.Backlog + settled, err
	}
	return t.bound, nil
}

// putMarked writes the row of the documents marked since the last one.
func (t *Tx) putMarked() error {
	if len(t.marked) == 0 {
		return nil
	}
	ids := t.marked
	t.marked = nil
	number, err := t.backlogNumber()
	if err != nil {
		return err
	}
	return t.kv.Fresh(backlogKey(number), pendingIDs(ids))
}

func pendingIDs(ids []layout.ID) []byte {
	value := make([]byte, 0, len(ids)*len(layout.ID{}))
	for _, id := range ids {
		value = append(value, id[:]...)
	}
	return value
}

// pendingRow is a row of documents whose terms are not up to date.
type pendingRow struct {
	key []byte
	ids []layout.ID
}

// waiting is the front of the backlog.
type waiting struct {
	rows []pendingRow
	ids  []layout.ID // the documents in these rows, each once
	more bool        // there may be further rows
}

// maxPendingRows is how many rows are read at a time. Many rows may name the same few documents.
const maxPendingRows = 10_000

// pendingRows returns rows until they name more than limit documents, not counting those that skip reports.
func (t *Tx) pendingRows(limit int, skip func(number uint64, id layout.ID) bool) (w waiting, err error) {
	if err := t.putMarked(); err != nil {
		return w, err
	}
	b, version := &t.repo.backlog, t.kv.Version()
	rg := prefix(backlogPrefix)
	if !t.kv.Remote() { // versions are those of this process
		rg.Start = backlogKey(b.start(version))
	}
	first, seen := uint64(math.MaxUint64), map[layout.ID]bool{}
	for row, err := range t.kv.Scan(rg) {
		if err != nil {
			return w, err
		}
		var ids []layout.ID
		if len(row.Key) == backlogKeySize {
			ids = idsIn(row.Value)
		} else {
			ids = append(ids, layout.IDAtEnd(row.Key))
		}
		number := numberOf(row.Key)
		first = min(first, number)
		w.rows = append(w.rows, pendingRow{row.Key, ids})
		for _, id := range ids {
			if !seen[id] && (skip == nil || !skip(number, id)) {
				seen[id] = true
				w.ids = append(w.ids, id)
			}
		}
		if w.more = len(w.ids) > limit || len(w.rows) == maxPendingRows; w.more {
			break
		}
	}
	if !t.kv.Writable() && !t.kv.Remote() {
		b.found(version, min(first, t.bound))
	}
	return w, nil
}

func idsIn(value []byte) []layout.ID {
	ids := make([]layout.ID, 0, len(value)/len(layout.ID{}))
	for at := range slices.Chunk(value, len(layout.ID{})) {
		ids = append(ids, layout.ID(at))
	}
	return ids
}

// staleTerms are the documents whose terms are not up to date, in order, as far as a transaction that reads was asked for them.
type staleTerms struct {
	ids   []layout.ID
	limit int
	more  bool // there are more than the limit
}

// pending returns the documents whose terms are not up to date, in order, or reports that there are more than limit.
func (t *Tx) pending(limit int) (ids []layout.ID, more bool, err error) {
	stale := t.stale
	if stale == nil || stale.more && stale.limit < limit {
		w, err := t.pendingRows(limit, nil)
		if err != nil {
			return nil, false, err
		}
		stale = &staleTerms{layout.SortIDs(w.ids), limit, w.more}
		if !t.kv.Writable() {
			t.stale = stale
		}
	}
	if stale.more || len(stale.ids) > limit {
		return nil, true, nil
	}
	return stale.ids, false, nil
}

// maxStale is how many documents may have changed since they were indexed, if the words of the others are to be relied on.
const maxStale = 10_000

// wordsKept returns the words that a document had when it was indexed, if it has them still; nil if they have to be found in its text.
// A transaction that writes does not make use of them: it would be in the way of those who index.
func (t *Tx) wordsKept(id layout.ID) (*text.Text, error) {
	if t.kv.Writable() {
		return nil, nil
	}
	ready, err := t.readyIndexes()
	if err != nil || !ready.names[layout.TextIndex] {
		return nil, err
	}
	stale, more, err := t.pending(maxStale)
	if err != nil || more || layout.HasID(stale, id) {
		return nil, err
	}
	row, err := t.kv.Get(layout.TermsKey(id))
	if err != nil {
		return nil, err
	}
	words, _ := text.FromRow(string(row))
	return words, nil
}
