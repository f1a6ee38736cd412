package simulation

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"catena/storage/fault"
	"catena/storage/kv"
)

// The errors of a database that is out of reach.
var (
	errDown    = fault.Unavailable.Errorf("simulation: %w", kv.ErrDown)
	errUnknown = fault.Unavailable.Errorf("simulation: %w", kv.ErrUncertain)
)

// node is the store of one of several servers: the same disk, across a network.
type node struct {
	*store
	net    *network
	topics kv.Topics
	number atomic.Uint64 // of the last snapshot
	cut    atomic.Bool   // no message reaches the database, nor any from it the server
	actors []*actor      // goroutines of the server
}

// Begin hands over and opens a snapshot. That the database is out of reach is found out by the first read.
func (d *node) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	v := d.sched.pass(ctx, atBegin)
	if d.dead.Load() {
		return nil, errDead
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	snap, err := d.net.snapshot(ctx, d.disk, write)
	if err != nil {
		return nil, err
	}
	r := &remote{snapshot: d.opened(ctx, snap, v), node: d, number: d.number.Add(1), write: write}
	r.link = r.reach
	r.settled, r.xid = d.net.begin(write)
	if v.fault == failed {
		r.broken = errDown
	}
	return r, nil
}

// Watch subscribes to a topic: a server hears of its own commits at once, and of others by messages.
func (d *node) Watch(topic string) (<-chan struct{}, func()) { return d.topics.Watch(topic) }

// Value and Swap are transactions of their own, with which no other one conflicts.

func (d *node) Value(ctx context.Context, key []byte) ([]byte, error) {
	if d.sched.pass(ctx, atRead); d.dead.Load() {
		return nil, errDead
	}
	if d.cut.Load() {
		return nil, errDown
	}
	return d.value(ctx, key)
}

func (d *node) value(ctx context.Context, key []byte) ([]byte, error) {
	snap, err := d.Store.Begin(ctx, false)
	if err != nil {
		return nil, err
	}
	defer snap.Discard()
	return snap.Get(key)
}

// Swap counts as no version: no call has made it.
func (d *node) Swap(ctx context.Context, key, before, now []byte) (bool, error) {
	v := d.sched.pass(ctx, atCommit)
	switch {
	case d.dead.Load():
		return false, errDead
	case d.cut.Load() || v.fault != none:
		return false, errDown
	}
	have, err := d.value(ctx, key)
	if err != nil || !bytes.Equal(have, before) {
		return false, err
	}
	snap, err := d.Store.Begin(ctx, true)
	if err != nil {
		return false, err
	}
	defer snap.Discard()
	return true, snap.Commit(ctx, &kv.Batch{Writes: []kv.Mutation{{Key: key, Value: now}}})
}

var _ kv.Remote = (*remote)(nil) // one of less would be taken for that of a store on the machine

// remote is a snapshot of a database.
type remote struct {
	*snapshot
	node   *node
	write  bool
	number uint64 // of the server's snapshots
	broken error  // why nothing can be read any longer

	xid     uint64 // number of the transaction, if it may write
	settled uint64 // all transactions with lower numbers have ended, and are seen
	stamps  uint64
}

// Version tells the snapshots of a server apart: it knows nothing of the commits of others.
func (r *remote) Version() uint64 { return r.number }

// reach returns why a message gets no answer.
func (r *remote) reach() error {
	if r.node.cut.Load() || r.verdict.after > 0 && r.reads >= r.verdict.after {
		r.broken = errDown
	}
	return r.broken
}

// Prefetch is a round trip; what is known already is not asked for again in a database, and here everything is.
func (r *remote) Prefetch([][]byte, []kv.Range) error { return r.read() }

// Count counts the rows of a range.
func (r *remote) Count(rg kv.Range) (n int, err error) {
	c := r.Scan(rg)
	defer c.Close()
	for c.Next() {
		n++
	}
	return n, c.Err()
}

// stampBits number the rows of a transaction.
const stampBits = 14

// Stamp numbers a row.
func (r *remote) Stamp() (uint64, error) {
	r.stamps++
	return r.xid<<stampBits | r.stamps, r.broken
}

// Settled is the lowest stamp of a transaction that may not have ended.
func (r *remote) Settled() (uint64, error) { return r.settled << stampBits, r.broken }

// Latest asks for a committed value outside of the transaction.
func (r *remote) Latest(key []byte) ([]byte, error) { return r.node.Value(r.ctx, key) }

// Late is not noted: no snapshot is optimistic.
func (r *remote) Late() (late kv.Asked, ok bool) { return late, false }

// RoundTrips counts the reads.
func (r *remote) RoundTrips() int { return r.reads }

// Untouched reports whether nothing was read.
func (r *remote) Untouched() bool { return r.reads == 0 }

// Broken returns why nothing that was read can be relied on.
func (r *remote) Broken() error { return r.broken }

// Commit hands over and sends a batch to the database. The request may be lost, late, or lose its answer.
func (r *remote) Commit(ctx context.Context, b *kv.Batch) error {
	v := r.s.sched.pass(r.ctx, atCommit)
	if v.fault == late {
		_ = r.node.net.later(v.delay)
		r.s.sched.pass(r.ctx, atCommit)
	}
	switch {
	case r.s.dead.Load():
		return errDead
	case r.broken != nil:
		return r.broken
	case len(b.Writes) == 0:
		r.node.wake(b.Wake)
		return nil
	case v.fault == lostRace:
		return kv.ErrConflict
	case v.fault == unknown:
		return errUnknown
	case v.fault == lostRequest || r.node.cut.Load():
		r.broken = errDown
		return errDown
	}
	if err := r.snapshot.write(ctx, b); err != nil {
		return err
	}
	r.node.wake(b.Wake)
	switch v.fault {
	case unknownMade:
		return errUnknown
	case lostAnswer: // the server asks until it knows
		if err := r.node.net.later(v.delay); err != nil || r.s.dead.Load() {
			return errDead
		}
	}
	return nil
}

// wake wakes those of this server that watch, and sends the other ones messages.
func (d *node) wake(topics []string) {
	d.topics.Wake(topics)
	for _, other := range d.net.others(d) {
		for _, topic := range topics {
			d.net.send(d, other, topic)
		}
	}
}

// Discard ends the transaction.
func (r *remote) Discard() {
	if r.write && !r.over {
		r.node.net.end(r.xid)
	}
	r.snapshot.Discard()
}

// numbers are those of the transactions of a database.
type numbers struct {
	mu      sync.Mutex
	last    uint64
	running map[uint64]bool
}

// begin numbers a transaction that may write, and returns the number below which all have ended.
func (n *numbers) begin(write bool) (settled, xid uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	settled = n.last + 1
	for x := range n.running {
		settled = min(settled, x)
	}
	if !write {
		return settled, 0
	}
	n.last++
	n.running[n.last] = true
	return settled, n.last
}

func (n *numbers) end(xid uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.running, xid)
}
