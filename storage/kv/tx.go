package kv

import (
	"bytes"
	"context"
	"slices"

	"catena/storage/fault"
	"catena/storage/kv/tree"
	"catena/storage/work"
)

// Tx is one transaction, for one goroutine, valid until the function it was given to
// returns. Slices it returns may be kept, and are not to be changed; slices it is
// given may be reused. Keys and values are copied before anything keeps them, so that
// callers make them on the stack.
type Tx struct {
	ctx    context.Context
	snap   Snapshot
	remote Remote // snap, if it is one
	limits *Limits
	write  bool
	alone  bool // the commits of others are held up
	done   bool

	watch work.Watch
	void  Span // no row of the snapshot is in it
	own   tree.Tree[entry]
	bytes int
	parts int      // how many parts that can fail alone are running, one in the other
	undo  []change // what undoes the writes of the outermost of them
	room  []byte   // for keys and rows that are kept
	reads [][]byte
	spans []reach
	wake  []string
	after []func()

	strict bool // see Strict
}

// entry is a buffered write; a nil value deletes.
type entry struct {
	stored []byte
	create bool // the key must be absent from the store
	claim  bool // with create: if it is not, the transaction runs again
	fresh  bool // the key was never in the store
}

// Version numbers the snapshot the transaction reads.
func (t *Tx) Version() uint64 { return t.snap.Version() }

// Writable reports whether the transaction may write.
func (t *Tx) Writable() bool { return t.write }

// Size is the number of buffered writes and the bytes of their keys and values.
func (t *Tx) Size() (keys, bytes int) { return t.own.Len(), t.bytes }

// RoundTrips is how often the transaction has waited for a store across a network; 0 for any other.
func (t *Tx) RoundTrips() int {
	if t.remote == nil {
		return 0
	}
	return t.remote.RoundTrips()
}

// Remote reports whether the store is across a network, so that it pays to tell it early what will be read.
func (t *Tx) Remote() bool { return t.remote != nil }

// Stamp returns a number for a row, by which rows are in the order in which their transactions began, whichever process
// they are of. The store must be remote.
func (t *Tx) Stamp() (uint64, error) { return t.remote.Stamp() }

// Settled returns a number up to which, itself excluded, all transactions that were given stamps have ended, and are
// seen if they were committed. The store must be remote.
func (t *Tx) Settled() (uint64, error) { return t.remote.Settled() }

// Prefetch tells the store what is about to be read. It changes no result, and does nothing if the store is not
// across a network. Keys and ranges must not be changed until the transaction ends.
func (t *Tx) Prefetch(keys [][]byte, ranges ...Range) error {
	if t.remote == nil {
		return nil
	}
	if err := t.usable(); err != nil {
		return err
	}
	if t.own.Len() > 0 { // own writes need no store
		keys = slices.DeleteFunc(slices.Clone(keys), func(key []byte) bool {
			_, own := t.own.Get(key)
			return own
		})
	}
	return t.remote.Prefetch(keys, ranges)
}

// Late is what the views of a Join have asked for in other round trips than the first; ok is false if it is not known.
func (t *Tx) Late() (late Asked, ok bool) {
	if t.remote == nil {
		return late, false
	}
	return t.remote.Late()
}

// broken returns why nothing that was read can be relied on, or nil.
func (t *Tx) broken() error {
	if t.remote == nil {
		return nil
	}
	return t.remote.Broken()
}

// Context is the context the transaction runs under.
func (t *Tx) Context() context.Context { return t.ctx }

// Get returns the value of a key, own writes included, or nil if it is absent.
func (t *Tx) Get(key []byte) ([]byte, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if err := t.Work(readWork); err != nil {
		return nil, err
	}
	if t.own.Len() > 0 {
		if e, ok := t.own.Get(key); ok {
			return e.value(), nil
		}
	}
	own := t.keep(key)
	if t.write {
		t.reads = append(t.reads, own)
	}
	if t.void.holds(key) {
		return nil, nil
	}
	stored, err := t.snap.Get(own)
	if err != nil || stored == nil {
		return nil, err
	}
	return unseal(own, stored)
}

// Void looks for the first row of the store from a key on and before end, for who is about to look for
// many keys there that are mostly absent: Get then knows of those between without asking the store. It
// is no read by itself: only what Get answers is validated.
func (t *Tx) Void(from, end []byte) error {
	if err := t.usable(); err != nil {
		return err
	}
	t.void = Span{Start: bytes.Clone(from), End: bytes.Clone(end)}
	c := t.snap.Scan(Range{Start: t.void.Start, End: t.void.End, Limit: 1, KeysOnly: true})
	defer c.Close()
	if c.Next() {
		t.void.End = c.Key()
	}
	if c.Err() != nil {
		t.void = Span{}
	}
	return c.Err()
}

// Peek is Get for what the transaction's outcome does not rest on: it is not validated.
func (t *Tx) Peek(key []byte) (v []byte, err error) {
	err = t.Unvalidated(func() error {
		v, err = t.Get(key)
		return err
	})
	return v, err
}

// Unvalidated runs fn, whose reads see the snapshot but are not validated: the commit succeeds although others have
// changed what fn read.
func (t *Tx) Unvalidated(fn func() error) error {
	reads, spans := len(t.reads), len(t.spans)
	err := fn()
	t.reads, t.spans = t.reads[:reads], t.spans[:spans]
	return err
}

// Guard has a key validated like one that was read.
func (t *Tx) Guard(key []byte) {
	if t.write {
		t.reads = append(t.reads, t.keep(key))
	}
}

// Guarded reports whether a key is validated that was read or guarded by itself, not in a range.
func (t *Tx) Guarded(key []byte) bool {
	return slices.ContainsFunc(t.reads, func(read []byte) bool { return bytes.Equal(read, key) })
}

// keep returns a copy of a key that lives as long as the transaction, so that the caller's need not.
func (t *Tx) keep(key []byte) []byte {
	own := t.take(len(key))
	copy(own, key)
	return own
}

// roomSize is what is taken from the heap at a time, enough for the keys of a transaction that reads a document.
const roomSize = 256

// take returns n bytes that are zero.
func (t *Tx) take(n int) []byte {
	if n > len(t.room) {
		if n > roomSize/2 {
			return make([]byte, n)
		}
		t.room = make([]byte, roomSize)
	}
	own := t.room[:n:n]
	t.room = t.room[n:]
	return own
}

// GetMany is Get for several keys in one round trip; absent ones are nil.
func (t *Tx) GetMany(keys [][]byte) ([][]byte, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	ask, at := make([][]byte, 0, len(keys)), make([]int, 0, len(keys))
	for i, key := range keys {
		if e, ok := t.own.Get(key); ok {
			out[i] = e.value()
			continue
		}
		if t.write {
			key = t.keep(key)
			t.reads = append(t.reads, key)
		}
		ask, at = append(ask, key), append(at, i)
	}
	found, err := t.snap.GetMany(ask)
	if err != nil {
		return nil, err
	}
	for i, stored := range found {
		if stored == nil {
			continue
		}
		if out[at[i]], err = unseal(ask[i], stored); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Set buffers a write.
func (t *Tx) Set(key, value []byte) error { return t.put(key, value, false) }

// Create buffers a write of a key that must be absent: the call or the commit fails
// with fault.Exists if it is not.
func (t *Tx) Create(key, value []byte) error { return t.put(key, value, true) }

// Fresh is Set for a key that was never written before, as FreshRow.
func (t *Tx) Fresh(key, value []byte) error {
	if err := t.fits(key, value); err != nil {
		return err
	}
	row := kvRow(t.take(len(key)+RowGap+len(value)), key, value)
	return t.putRow(row, len(key), entry{fresh: true})
}

// SetRow is Set for a key of n bytes with its value behind it, made with AppendRow. The transaction keeps
// row, which is not to be changed.
func (t *Tx) SetRow(row []byte, n int) error { return t.fitRow(row, n, entry{}) }

// FreshRow is SetRow for a key that was never written before, such as one made of a new random id.
func (t *Tx) FreshRow(row []byte, n int) error { return t.fitRow(row, n, entry{fresh: true}) }

func (t *Tx) fitRow(row []byte, n int, e entry) error {
	if err := t.fits(row[:n], RowValue(row, n)); err != nil {
		return err
	}
	return t.putRow(row, n, e)
}

func (t *Tx) put(key, value []byte, create bool) error {
	if err := t.fits(key, value); err != nil {
		return err
	}
	row := kvRow(t.take(len(key)+RowGap+len(value)), key, value)
	return t.putRow(row, len(key), entry{create: create})
}

// kvRow puts a key and its value into a row of their size.
func kvRow(row, key, value []byte) []byte {
	n := copy(row, key)
	copy(RowValue(row, n), value)
	return row
}

// putRow buffers a row that fits and whose key has n bytes.
func (t *Tx) putRow(row []byte, n int, e entry) error {
	key, stored := sealRow(row, n)
	e.stored = stored
	return t.buffer(key, e)
}

// fits returns why a row cannot be written. Errors are given copies of the key, so that those of callers
// need not be on the heap.
func (t *Tx) fits(key, value []byte) error {
	if err := t.writable(key); err != nil {
		return err
	}
	if len(value) > t.limits.Value {
		return fault.Limit.Errorf("value of key %q: %d bytes, limit %d", string(key), len(value), t.limits.Value)
	}
	return nil
}

// Delete buffers the removal of a key, which may be absent.
func (t *Tx) Delete(key []byte) error {
	if err := t.writable(key); err != nil {
		return err
	}
	return t.buffer(t.keep(key), entry{})
}

// buffer keeps a write under a key that is its own. What is found there after all not to be possible is
// undone: one way down the tree is enough for nearly all writes.
func (t *Tx) buffer(key []byte, e entry) error {
	old, had := t.own.Set(key, e)
	size := t.bytes + len(e.stored) - len(old.stored)
	if !had {
		size += len(key)
	}
	var err error
	switch {
	case had && e.create && old.stored != nil:
		err = fault.Exists.Errorf("key %q already exists", key)
	case !had && t.own.Len() > t.limits.TxKeys:
		err = fault.Limit.Errorf("transaction: more than %d keys written", t.limits.TxKeys)
	case size > t.limits.TxBytes:
		err = fault.Limit.Errorf("transaction: more than %d bytes written", t.limits.TxBytes)
	}
	if err != nil {
		t.restore(change{key, old, had})
		return err
	}
	if had && (e.create != old.create || e.claim != old.claim || e.fresh != old.fresh) {
		e.create, e.claim, e.fresh = old.create, old.claim, old.fresh
		t.own.Set(key, e)
	}
	if t.bytes = size; t.parts > 0 {
		t.undo = append(t.undo, change{key, old, had})
	}
	return nil
}

func (e entry) value() []byte {
	if e.stored == nil {
		return nil
	}
	return e.stored[envelope:len(e.stored):len(e.stored)]
}

// Wake wakes the watchers of a topic once the transaction is committed.
func (t *Tx) Wake(topic string) {
	if !slices.Contains(t.wake, topic) {
		t.wake = append(t.wake, topic)
	}
}

// Strict has no other transaction that writes be committed after this one if it has read what this one writes: it runs again. Without
// it, a store that processes share may put such a one before this one, as if it had been committed earlier.
func (t *Tx) Strict() { t.strict = true }

// AfterCommit runs fn once after the commit, in the order of the calls. In a View it
// runs when the view has ended well.
func (t *Tx) AfterCommit(fn func()) { t.after = append(t.after, fn) }

// readWork is what reading a row counts as work.
const readWork = 2000

// Work counts work that is done with what the transaction reads, in units of about a nanosecond, and returns why the
// transaction must end once its context has ended.
func (t *Tx) Work(n int) error { return t.watch.Do(t.ctx, n) }

func (t *Tx) usable() error {
	if t.done {
		return fault.Invalid.Errorf("transaction: already ended")
	}
	return nil
}

func (t *Tx) writable(key []byte) error {
	switch {
	case t.done:
		return t.usable()
	case !t.write:
		return fault.Invalid.Errorf("transaction: key %q written in a read-only transaction", string(key))
	case len(key) == 0:
		return fault.Invalid.Errorf("key: must not be empty")
	case len(local(key)) > t.limits.Key:
		return fault.Limit.Errorf("key %q...: %d bytes, limit %d", string(key[:32]), len(key), t.limits.Key)
	}
	return nil
}

// commit hands the buffered writes to the store. Without any, the snapshot itself is
// the transaction's place in the order, and nothing is checked.
func (t *Tx) commit() error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if t.own.Len() == 0 && len(t.wake) == 0 {
		return nil
	}
	b := Batch{Writes: make([]Mutation, 0, t.own.Len()), Wake: t.wake, Strict: t.strict}
	for c := t.own.Range(nil, nil, false); c.Next(); {
		e := c.Value()
		if e.claim && e.stored == nil {
			continue
		}
		if e.create && e.stored == nil {
			if err := t.absent(c.Key()); err != nil {
				return err
			}
			continue
		}
		b.Writes = append(b.Writes, Mutation{Key: c.Key(), Value: e.stored, Create: e.create, Fresh: e.fresh})
	}
	if len(b.Writes) > 0 {
		b.Reads = Reads{Keys: sortKeys(t.reads), Spans: joinSpans(t.spans)}
	}
	return t.claimed(t.snap.Commit(t.ctx, &b))
}

// absent stands in for a write that was created and deleted again: nothing is left
// to write, but the creation has to have been possible.
func (t *Tx) absent(key []byte) error {
	t.reads = append(t.reads, key)
	stored, err := t.snap.Get(key)
	if err == nil && stored != nil {
		err = fault.Exists.Errorf("key %q already exists", key)
	}
	return err
}

func (t *Tx) end() {
	if !t.done {
		t.done = true
		t.snap.Discard()
	}
}

func sortKeys(keys [][]byte) [][]byte {
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		slices.SortFunc(keys, bytes.Compare)
	}
	return slices.CompactFunc(keys, bytes.Equal)
}

// joinSpans sorts spans and joins those that touch.
func joinSpans(walked []reach) []Span {
	if len(walked) == 0 {
		return nil
	}
	spans := make([]Span, len(walked))
	for i, w := range walked {
		if spans[i] = w.Span; w.through {
			spans[i].End = append(w.End[:len(w.End):len(w.End)], 0)
		}
	}
	slices.SortFunc(spans, func(a, b Span) int { return bytes.Compare(a.Start, b.Start) })
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		switch {
		case last.End == nil:
			return out
		case bytes.Compare(s.Start, last.End) > 0:
			out = append(out, s)
		case s.End == nil || bytes.Compare(s.End, last.End) > 0:
			last.End = s.End
		}
	}
	return out
}
