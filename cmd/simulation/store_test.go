package simulation

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"catena/storage/fault"
	"catena/storage/kv"
)

// disk is what survives a crash: the rows that were committed.
type disk struct {
	kv.Store
	wrong   mutation
	machine *machine // that the store is on; nil: it is in memory

	mu      sync.Mutex
	version uint64    // commits so far
	undo    *kv.Batch // what takes the last commit back
}

// The errors that the simulated world answers with.
var (
	errDead = fault.Unavailable.Errorf("simulation: the process is gone")
	errIO   = fault.Unavailable.Errorf("simulation: input/output error")
	errFull = fault.Unavailable.Errorf("simulation: no space left on device")
)

// store is the store of one process on a disk.
type store struct {
	*disk
	sched  *scheduler
	at     int         // number of the server
	dead   atomic.Bool // the process has crashed
	broken atomic.Bool // a sync has failed: nothing is written any longer
}

// Begin hands over and opens a snapshot.
func (s *store) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	v := s.sched.pass(ctx, atBegin)
	switch {
	case s.dead.Load():
		return nil, errDead
	case v.fault == failed:
		return nil, errIO
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, err := s.Store.Begin(ctx, write)
	if err != nil && s.machine != nil { // the store's own upkeep met the fault
		s.broken.Store(true)
		return nil, errors.Join(errIO, err)
	}
	if err != nil {
		return nil, err
	}
	return s.opened(ctx, snap, v), nil
}

// opened is a snapshot that was opened under the lock of the disk.
func (s *store) opened(ctx context.Context, snap kv.Snapshot, v verdict) *snapshot {
	a := actorOf(ctx)
	if a != nil {
		if a.open == 0 {
			a.begun = s.version
		}
		a.open++
	}
	return &snapshot{Snapshot: snap, s: s, ctx: ctx, actor: a, verdict: v}
}

// now is the version that would be read.
func (s *store) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Close leaves the disk as it is.
func (s *store) Close() error { return nil }

// snapshot is one of a process's.
type snapshot struct {
	kv.Snapshot
	s       *store
	ctx     context.Context //nolint:containedctx // says who hands over
	actor   *actor
	verdict verdict
	reads   int
	over    bool
	link    func() error // nil: the store is of the process; else why the database cannot be reached
}

// read counts a read, which may fail or hand over first.
func (n *snapshot) read() error {
	if n.reads++; n.reads == n.verdict.pause {
		n.s.sched.pass(n.ctx, atRead)
	}
	switch {
	case n.s.dead.Load():
		return errDead
	case n.link != nil:
		return n.link()
	case n.verdict.after > 0 && n.reads >= n.verdict.after:
		return errIO
	}
	return nil
}

func (n *snapshot) Get(key []byte) ([]byte, error) {
	if err := n.read(); err != nil {
		return nil, err
	}
	return n.Snapshot.Get(key)
}

func (n *snapshot) GetMany(keys [][]byte) ([][]byte, error) {
	if err := n.read(); err != nil {
		return nil, err
	}
	return n.Snapshot.GetMany(keys)
}

func (n *snapshot) Scan(r kv.Range) kv.Cursor {
	c := n.Snapshot.Scan(r)
	if err := n.read(); err != nil {
		c.Close()
		return broken{err}
	}
	return c
}

// broken is a cursor that cannot be read.
type broken struct{ err error }

func (broken) Next() bool             { return false }
func (broken) Key() []byte            { return nil }
func (broken) Value() ([]byte, error) { return nil, nil }
func (b broken) Err() error           { return b.err }
func (broken) Close()                 {}

// Commit hands over and commits, unless the disk fails.
func (n *snapshot) Commit(ctx context.Context, b *kv.Batch) error {
	v := n.s.sched.pass(n.ctx, atCommit)
	switch {
	case n.s.dead.Load():
		return errDead
	case len(b.Writes) == 0:
		return n.Snapshot.Commit(ctx, b)
	case n.s.broken.Load() && n.s.machine == nil:
		return errIO
	case v.fault == lostRace:
		return kv.ErrConflict
	case v.fault == full:
		return errFull
	case v.fault == unsynced || v.fault == unsyncedKept:
		return n.unsynced(b, v.fault == unsyncedKept)
	}
	d := n.s.disk
	err := n.write(ctx, b)
	switch {
	case err == nil:
	case d.machine != nil && !errors.Is(err, kv.ErrConflict) && !fault.Is(err, fault.Exists):
		n.s.broken.Store(true)
		if n.actor != nil {
			d.machine.failed(n.actor.call, d.next(), b)
		}
		return errors.Join(errIO, err)
	}
	return err
}

// write commits what a fault in the server leaves of a batch.
func (n *snapshot) write(ctx context.Context, b *kv.Batch) error {
	d := n.s.disk
	d.wrong.spoil(b)
	undo, err := d.inverse(b)
	if err == nil {
		err = n.Snapshot.Commit(ctx, b)
	}
	if err == nil {
		if d.wrong.lost {
			d.undo = undo
		}
		n.made(b)
	}
	return err
}

// made notes that a commit was made.
func (n *snapshot) made(b *kv.Batch) {
	if v := n.s.next(); n.actor != nil && own(b) {
		n.actor.committed = v
	}
}

// inverse returns what takes a commit back, for a mutation that needs it.
func (d *disk) inverse(b *kv.Batch) (*kv.Batch, error) {
	if !d.wrong.lost {
		return nil, nil
	}
	if len(b.Writes) == 0 {
		return d.undo, nil
	}
	before, err := d.Begin(context.Background(), false)
	if err != nil {
		return nil, err
	}
	defer before.Discard()
	undo := &kv.Batch{}
	for _, w := range b.Writes {
		old, err := before.Get(w.Key)
		if err != nil {
			return nil, err
		}
		undo.Writes = append(undo.Writes, kv.Mutation{Key: w.Key, Value: old})
	}
	return undo, nil
}

// lose has the disk lose what a crash takes with it.
func (d *disk) lose() (err error) {
	if d.machine != nil {
		d.Store, err = d.machine.lose(d.Store)
		return err
	}
	if d.undo == nil {
		return nil
	}
	last, err := d.Begin(context.Background(), true)
	if err != nil {
		return err
	}
	defer last.Discard()
	return last.Commit(context.Background(), d.undo)
}

// unsynced is a commit whose sync fails: nobody knows whether it is on the disk until it is read again.
func (n *snapshot) unsynced(b *kv.Batch, kept bool) error {
	n.s.broken.Store(true)
	if !kept {
		return errIO
	}
	if err := n.Snapshot.Commit(context.Background(), b); err != nil {
		return err // it would have been refused before it was written
	}
	n.made(b)
	return errIO
}

// next numbers a commit.
func (d *disk) next() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	return d.version
}

// own reports whether a commit is one of its caller's own, not a lease of numbers.
func own(b *kv.Batch) bool {
	return slices.ContainsFunc(b.Writes, func(w kv.Mutation) bool { return w.Key[0] != 0 })
}

func (n *snapshot) Discard() {
	if n.actor != nil && !n.over {
		n.s.mu.Lock()
		n.actor.open--
		n.s.mu.Unlock()
	}
	n.over = true
	n.Snapshot.Discard()
}
