// Package kv defines the ordered key-value store with serializable transactions that holds everything except large
// content. DB and Tx are what the rest of storage uses: buffered writes, savepoints, scans that include own writes,
// tracked reads, reruns on conflict, sequences, copies. Store is the little an engine has to bring: snapshots, and a
// commit that refuses when something read has changed since. History and Topics are parts engines in one process
// share. Keys beginning with a zero byte belong to this package.
package kv

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"catena/storage/fault"
)

// ErrConflict is what a Store answers to a commit whose reads are out of date; DB
// reruns the transaction.
var ErrConflict error = fault.Conflict.Errorf("the transaction conflicted with another one")

// ErrDown is in the chain of the error of a Store that could not be reached and has written nothing of the transaction;
// DB reruns an Update, for as long as its call may take.
var ErrDown = errors.New("the database cannot be reached")

// ErrUncertain is in the chain of the error of a commit whose outcome could not be found out. It is never rerun.
var ErrUncertain = errors.New("it is not known whether the transaction was committed")

// ErrDamaged is in the chain of every error about a stored value that does not match
// its checksum.
var ErrDamaged = errors.New("checksum mismatch")

// Store is one engine. Keys and values it is given or returns are never changed
// afterwards by either side.
type Store interface {
	// Begin opens a snapshot of everything committed so far. Only one opened with
	// write may commit.
	Begin(ctx context.Context, write bool) (Snapshot, error)
	// Watch returns a channel that receives after a commit woke the topic. Wake-ups
	// may be joined or lost, so watchers also poll.
	Watch(topic string) (ch <-chan struct{}, stop func())
	// Limits are the bounds the engine can hold.
	Limits() Limits
	// Close waits for running commits. No snapshot may be open.
	Close() error
}

// Gauge is what a store implements that can tell, without trying, whether it takes writes:
// one that lives on a disk.
type Gauge interface {
	// Writable returns why writes would be refused now, or nil.
	Writable() error
}

// Swapper is what a store implements that can change one row outside of transactions, so that a counter is no reason for
// one of them to run again.
type Swapper interface {
	// Value returns the committed value of a key, nil if it is absent.
	Value(ctx context.Context, key []byte) ([]byte, error)
	// Swap gives a key the value now if it has the value before, nil if it is absent, and reports whether it had.
	Swap(ctx context.Context, key, before, now []byte) (bool, error)
}

// Dropper is what a store implements that may leave out, when it is opened, the end of a log that was not written
// completely.
type Dropper interface {
	// Dropped describes what was left out last, empty if nothing was, and whether this opening did it.
	Dropped() (what string, now bool)
}

// Snapshot is a fixed state of a store, for one goroutine.
type Snapshot interface {
	// Version numbers the state: equal numbers stand for equal states, and a snapshot
	// that was opened in the same process once a commit had returned has a higher number.
	Version() uint64
	// Get returns nil if the key is absent, else a slice that is not nil.
	Get(key []byte) ([]byte, error)
	// GetMany is Get for several keys in one round trip.
	GetMany(keys [][]byte) ([][]byte, error)
	// Scan walks a range. The cursor must be closed before the snapshot ends.
	Scan(r Range) Cursor
	// Commit makes the batch durable and visible as a whole, or answers ErrConflict if
	// the transaction, with its reads, has no place in a serial order of all that are
	// committed, or fault.Exists if a key to create is there. An engine may also refuse
	// what would have had a place. The snapshot stays open.
	Commit(ctx context.Context, b *Batch) error
	// Discard closes the snapshot.
	Discard()
}

// Remote is a Snapshot of a store across a network, where a round trip is dearer than what it fetches.
type Remote interface {
	Snapshot
	// Prefetch fetches keys and the rows of ranges in one round trip, for reads that are about to ask for them.
	Prefetch(keys [][]byte, ranges []Range) error
	// Count returns the number of rows of a range, up to its limit.
	Count(r Range) (int, error)
	// Stamp returns a number for a row of a transaction that may write, each time a higher one: all that it returns are
	// higher than those of transactions that had ended when this one began, and no other transaction is given one.
	Stamp() (uint64, error)
	// Settled is the lowest stamp that a transaction may have been given that the snapshot does not see and that may
	// still commit.
	Settled() (uint64, error)
	// Latest returns the committed value of a key as it is now, nil if it is absent. It is no read of the transaction:
	// nothing is validated, and the store does not watch where the key is.
	Latest(key []byte) ([]byte, error)
	// RoundTrips is how often the transaction has waited for the store.
	RoundTrips() int
	// Late is what was asked for once other reads had fixed the state, in the form of Prefetch, which could have fetched it with
	// them. It is noted in optimistic snapshots only; ok is false in others.
	Late() (late Asked, ok bool)
	// Untouched reports whether nothing has been read yet, so that a new snapshot is as good.
	Untouched() bool
	// Broken returns why the snapshot cannot be read any longer, whatever became of the error of the read that found
	// out, or nil: ErrConflict, or an error with ErrDown in its chain.
	Broken() error
}

// Cursor walks rows. Key and Value stay valid after the next step.
type Cursor interface {
	Next() bool
	Key() []byte
	Value() ([]byte, error)
	Err() error
	Close()
}

// Verifier is a Store that can check its own files.
type Verifier interface {
	// Verify reads the engine's files and returns what is wrong with them.
	Verify(ctx context.Context) error
}

// Compacter is a Store that keeps what is unused for a while, and can be made to give it up.
type Compacter interface {
	// Reclaimable is how many bytes are known to be unused, which may be fewer than are.
	Reclaimable() int64
	// Compact gives them up, those that readers need excepted. Some goes when the store closes.
	Compact(ctx context.Context) error
}

// Warmer is a Store that reads rows faster once it has seen them.
type Warmer interface {
	// Warm says that the rows of a range will be read one by one. It returns at once.
	Warm(r Range)
}

// Loner is a Store that other processes have open as well.
type Loner interface {
	// BeginAlone is Begin for a transaction that may write and has lost often, also to those of other processes: it
	// waits for commits that are being made, and holds up others until the snapshot is discarded, those Inside excepted.
	BeginAlone(ctx context.Context) (Snapshot, error)
}

// Optimist is a Store across a network that need not begin a transaction for what is read at once.
type Optimist interface {
	// BeginOptimistic is Begin for a transaction that only reads and may run again: a read may answer ErrConflict if what was
	// read before has changed. Before is a snapshot of another such transaction that has ended, whose reads this one
	// goes on from, or nil.
	BeginOptimistic(ctx context.Context, before Snapshot) (Snapshot, error)
}

// Batch is what a transaction asks a store to commit.
type Batch struct {
	Writes []Mutation // sorted by key, no key twice
	Reads  Reads
	Wake   []string

	// Strict refuses others that have read what this one writes, if they write and would be committed after it: a store that is
	// serializable may otherwise put them before it.
	Strict bool
}

// Mutation is one write. A nil value deletes.
type Mutation struct {
	Key, Value []byte
	Create     bool // refuse with fault.Exists if the key is present
	Fresh      bool // the key was never written before, so there is nothing that the write replaces
}

// Reads are the keys and ranges a transaction's outcome rests on.
type Reads struct {
	Keys  [][]byte // sorted
	Spans []Span   // sorted, not overlapping
}

// Span is the range [Start, End); a nil End is open.
type Span struct{ Start, End []byte }

// holds reports whether a key is in the span. An empty Span holds none.
func (s *Span) holds(key []byte) bool {
	return s.Start != nil && bytes.Compare(key, s.Start) >= 0 && (s.End == nil || bytes.Compare(key, s.End) < 0)
}

// Range asks for the rows of [Start, End). A nil End is open, a Limit of 0 none.
type Range struct {
	Start, End []byte
	Reverse    bool
	Limit      int
	KeysOnly   bool
	// Follow has Prefetch also fetch, for each row that it fetches, the keys that are made of each of these and the last 16
	// bytes of the row's key: the rows of the document that an index row is about.
	Follow [][]byte
	// CountOnly has Prefetch fetch how many rows there are up to Limit, for Count.
	CountOnly bool
}

// Asked are keys and ranges, as Prefetch takes them.
type Asked struct {
	Keys   [][]byte
	Ranges []Range
}

// And is what a and b have together.
func (a Asked) And(b Asked) Asked {
	return Asked{slices.Concat(a.Keys, b.Keys), slices.Concat(a.Ranges, b.Ranges)}
}

// Row is one key with its value, which is nil in a scan of keys only.
type Row struct{ Key, Value []byte }

// Guard refuses the batch if a key to create is in the snapshot, and has those keys
// validated like reads. Engines that cannot check at commit call it first.
func (b *Batch) Guard(s Snapshot) error {
	n := len(b.Reads.Keys)
	for _, w := range b.Writes {
		if !w.Create {
			continue
		}
		old, err := s.Get(w.Key)
		if err != nil {
			return err
		}
		if old != nil {
			return fault.Exists.Errorf("key %q already exists", w.Key)
		}
		b.Reads.Keys = append(b.Reads.Keys, w.Key)
	}
	if n > 0 && len(b.Reads.Keys) > n {
		b.Reads.Keys = sortKeys(b.Reads.Keys)
	}
	return nil
}

// Limits bound keys, values and transactions.
type Limits struct {
	Key, Value      int // bytes
	TxKeys, TxBytes int // writes buffered by one transaction
}

// Portable are the limits every engine holds, in bytes and keys.
var Portable = Limits{Key: 1 << 10, Value: 1<<20 - 64, TxKeys: 200_000, TxBytes: 32 << 20}

// Prefix is the range of all keys that begin with p.
func Prefix(p []byte) Range { return Range{Start: p, End: prefixEnd(p)} }

// prefixEnd is the lowest key above all that begin with p, nil if there is none.
func prefixEnd(p []byte) []byte {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xFF {
			end := bytes.Clone(p[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}
