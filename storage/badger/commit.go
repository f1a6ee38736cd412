package badger

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/fault"
	"catena/storage/kv"
)

// A group is bounded in bytes, so that a large transaction does not wait for others
// nor they for it, and in transactions.
const (
	groupBytes = 4 << 20
	groupSize  = 512
)

// request is a transaction that waits to be committed.
type request struct {
	batch *kv.Batch
	start uint64 // the version it has read
	bytes int
	done  chan outcome
}

// outcome is how a transaction ended, or that it is its turn to commit those that wait.
type outcome struct {
	err  error
	lead bool
}

// queue is the transactions that wait. The first of them commits for all.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	led     bool // somebody is committing
}

// group is the transactions of one frame, in order of their versions, and those that
// lost a race. The losers are answered with the others: by then their next try sees
// what they lost to.
type group struct {
	requests []*request
	losers   []*request
	first    uint64
}

// commit waits for a batch to be validated, logged and published.
func (s *store) commit(ctx context.Context, start uint64, b *kv.Batch) error {
	if len(b.Writes) == 0 {
		s.topics.Wake(b.Wake)
		return nil
	}
	if err := s.awaitPending(ctx); err != nil {
		return err
	}
	for _, w := range b.Writes {
		if isReserved(w.Key) {
			return fault.Invalid.Errorf("key %q: reserved", w.Key)
		}
	}
	return s.submit(start, b)
}

// awaitPending returns once a transaction may be committed: at once, unless the disk is full or Badger is far behind.
func (s *store) awaitPending(ctx context.Context) error {
	for {
		if f := s.full.Load(); f != nil {
			return f.err
		}
		behind := s.pending.behind()
		if behind == nil {
			return nil
		}
		select {
		case <-behind:
		case <-ctx.Done():
			return fault.Unavailable.Errorf("store: the disk does not keep up with what is written: %w", ctx.Err())
		case <-time.After(roomWait):
		}
	}
}

// submit queues a batch and waits until it is committed.
func (s *store) submit(start uint64, b *kv.Batch) error {
	r := &request{batch: b, start: start, done: make(chan outcome, 1)}
	for _, w := range b.Writes {
		r.bytes += len(w.Key) + len(w.Value)
	}
	if !s.queue.join(r) {
		if o := <-r.done; !o.lead {
			return o.err
		}
	}
	s.lead()
	return (<-r.done).err
}

// join adds a transaction; it leads if nobody else does.
func (q *queue) join(r *request) (lead bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
	lead = !q.led
	q.led = true
	return lead
}

// take removes the transactions of the next group: all that wait, within bounds.
func (q *queue) take() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && n < groupSize && size < groupBytes {
		size += q.waiting[n].bytes
		n++
	}
	out := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return out
}

// pass has the first of those that came meanwhile commit next.
func (q *queue) pass() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.led = len(q.waiting) > 0; q.led {
		q.waiting[0].done <- outcome{lead: true}
	}
}

// lead commits the transactions that wait: it validates them in order, gives them
// versions, writes them to the log, lets readers see them, and answers. One goroutine
// at a time leads, that of the first transaction.
func (s *store) lead() {
	g := s.gather(s.queue.take())
	err := errors.New("the commit was interrupted")
	defer func() {
		if err != nil && s.failed.Load() == nil {
			s.fail(fault.Unavailable.Errorf("log: %w", err), false)
		}
		if failed := s.failed.Load(); err != nil {
			err = failed.err
		}
		s.queue.pass()
		g.answer(err)
	}()
	if s.failed.Load() != nil {
		return
	}
	if len(g.requests) == 0 {
		err = nil
		return
	}
	s.buf = append(s.buf[:0], make([]byte, frameHeader)...)
	for _, r := range g.requests {
		s.buf = appendWrites(s.buf, r.batch.Writes)
	}
	if err = s.redo.append(s.buf, &frame{first: g.first, count: len(g.requests)}); err != nil {
		return
	}
	if cap(s.buf) > groupBytes {
		s.buf = nil
	}
	run := g.run(s.hot.seed)
	s.hot.write(run)
	s.rows.write(run)
	s.pending.publish(run, s.history)
	for _, r := range g.requests {
		s.topics.Wake(r.batch.Wake)
	}
}

// gather keeps of transactions what is valid.
func (s *store) gather(waiting []*request) *group {
	g := &group{first: s.last + 1, requests: make([]*request, 0, len(waiting))}
	for _, r := range waiting {
		if s.admit(r) {
			g.requests = append(g.requests, r)
		} else {
			g.losers = append(g.losers, r)
		}
	}
	return g
}

// admit validates a transaction and numbers it.
func (s *store) admit(r *request) bool {
	if s.history.Check(r.start, &r.batch.Reads) != nil {
		return false
	}
	keys := make([][]byte, len(r.batch.Writes))
	for i := range r.batch.Writes {
		keys[i] = r.batch.Writes[i].Key
	}
	s.last++
	s.history.Add(s.last, keys)
	return true
}

// run is what readers see of the group.
func (g *group) run(seed maphash.Seed) *run {
	runs := make([]*run, len(g.requests))
	for i, r := range g.requests {
		runs[i] = runOf(r.batch.Writes, seed)
	}
	one := join(runs)
	one.first, one.last = g.first, g.first+uint64(len(g.requests))-1
	return one
}

// applyLoop brings runs that readers see into Badger.
func (s *store) applyLoop() {
	defer close(s.done)
	for {
		runs := s.pending.next()
		if len(runs) == 0 {
			return
		}
		if err := s.apply(runs); err != nil {
			s.fail(fault.Unavailable.Errorf("store: a logged commit was not applied: %w", err), false)
			s.pending.keep()
			return
		}
		s.pending.done()
		s.discard(min(s.history.Oldest(), s.redo.durable()))
	}
}

// apply writes runs to Badger, all of each at its last version: anyone who reads at a
// version before that began before and has the run, or those it was joined from.
func (s *store) apply(runs []*run) (err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	if err := s.awaitRoom(); err != nil {
		return err
	}
	s.applying.Lock()
	defer s.applying.Unlock()
	l, err := s.newLoader()
	if err != nil {
		return err
	}
	var sent underway
	if len(runs) > 1 {
		sent = underway{}
	}
	for _, r := range runs {
		rows, err := s.spread(r.rows, sent)
		if err != nil {
			return err
		}
		s.stamps.add(r.last)
		s.applied.Add(int64(r.bytes))
		s.pointers.follow(r, rows)
		if err := l.add(rows, r.last); err != nil {
			return err
		}
	}
	return l.end()
}

// stamps are the versions that runs were applied at, and that everything was at when
// the store was opened, in order.
type stamps struct {
	mu   sync.Mutex
	list []uint64
}

func (s *stamps) add(version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, version)
}

// before returns the stamp before a version, zero if there is none, and forgets those
// below that.
func (s *stamps) before(version uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearch(s.list, version)
	if i == 0 {
		return 0
	}
	s.list = s.list[i-1:]
	return s.list[0]
}

// put has writes loaded.
func (s *store) put(l *loader, writes []kv.Mutation, version uint64, sent underway) error {
	rows, err := s.spread(writes, sent)
	if err != nil {
		return err
	}
	return l.add(rows, version)
}

// answer tells every transaction of the group how it ended.
func (g *group) answer(err error) {
	for _, r := range g.requests {
		r.done <- outcome{err: err}
	}
	for _, r := range g.losers {
		r.done <- outcome{err: kv.ErrConflict}
	}
}

// fail makes the store refuse writes from now on, or all work if reads is set.
func (s *store) fail(err error, reads bool) {
	s.log.Error("the store is stopping", "err", err, "reads", !reads)
	s.failed.CompareAndSwap(nil, &failure{err, reads})
}

// replay applies the log above the checkpoint, all of it at a version after its last one: tables may
// hold rows of it at the version of a later commit that was applied together with theirs,
// and refer to values that a loss of power took. The rows written now have to hide those.
func (s *store) replay(logs string, at uint64) (err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	l, err := s.newLoader()
	if err != nil {
		return err
	}
	var writes []kv.Mutation // of one version
	var of uint64
	sent := underway{}
	if _, err := scanLog(s.fs, logs, s.state, func(version uint64, w kv.Mutation) error {
		if version != of {
			if err := s.put(l, writes, at, sent); err != nil {
				return err
			}
			writes, of = writes[:0], version
		}
		writes = append(writes, w)
		return nil
	}); err != nil {
		return err
	}
	if err := s.put(l, writes, at, sent); err != nil {
		return err
	}
	return l.end()
}

// rollback makes version to equal to version from, which is lower, but for the rows that replay has written at to.
func (s *store) rollback(from, to uint64) (err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	old := s.db.NewTransactionAt(from, false)
	defer old.Discard()
	now := s.db.NewTransactionAt(to, false)
	defer now.Discard()
	it := now.NewIterator(badger.IteratorOptions{AllVersions: true, SinceTs: from})
	defer it.Close()
	l, err := s.newLoader()
	if err != nil {
		return err
	}
	before := snapshot{s: s, txn: old, mark: &kv.Mark{Version: from}}
	var last []byte
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		if bytes.Equal(key, last) {
			continue
		}
		last = bytes.Clone(key)
		if it.Item().Version() == to {
			continue
		}
		value, err := before.Get(last)
		if err != nil {
			return err
		}
		if err := s.put(l, []kv.Mutation{{Key: last, Value: value}}, to, nil); err != nil {
			return err
		}
	}
	return l.end()
}
