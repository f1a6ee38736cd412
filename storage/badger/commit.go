package badger

import (
	"bytes"

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
	done  chan error
}

// group is the transactions of one frame, in order of their versions, and those that
// lost a race. The losers are answered with the others: by then their next try sees
// what they lost to.
type group struct {
	requests []*request
	losers   []*request
	first    uint64
	bytes    int
	rows     []kv.Mutation // what readers see of it, see merge
}

// reserved begins keys that Badger keeps for itself.
var reserved = []byte("!badger!")

// commit waits for a batch to be validated, logged and applied.
func (s *store) commit(start uint64, b *kv.Batch) error {
	if len(b.Writes) == 0 {
		s.topics.Wake(b.Wake)
		return nil
	}
	if f := s.full.Load(); f != nil {
		return f.err
	}
	r := &request{batch: b, start: start, done: make(chan error, 1)}
	for _, w := range b.Writes {
		if bytes.HasPrefix(w.Key, reserved) {
			return fault.Invalid.Errorf("key %q: reserved", w.Key)
		}
		r.bytes += len(w.Key) + len(w.Value)
	}
	s.gate.RLock()
	if s.closed {
		s.gate.RUnlock()
		return errClosed()
	}
	s.queue <- r
	s.gate.RUnlock()
	return <-r.done
}

// commitLoop is the one committer: it validates transactions in order, gives them
// versions, writes them to the log, lets readers see them, and answers, while applyLoop
// brings the groups before into Badger.
func (s *store) commitLoop() {
	defer s.pending.end()
	var buf []byte
	for r := range s.queue {
		g, f := s.gather(r)
		if failed := s.failed.Load(); failed != nil {
			g.answer(failed.err)
			continue
		}
		if len(g.requests) == 0 {
			g.answer(nil)
			continue
		}
		buf = append(buf[:0], make([]byte, frameHeader)...)
		for _, r := range g.requests {
			buf = appendWrites(buf, r.batch.Writes)
		}
		err := s.redo.append(buf, &f)
		if err == nil && s.opts.Durability == Strict {
			err = s.redo.sync()
		}
		if cap(buf) > groupBytes {
			buf = nil
		}
		if err != nil {
			s.fail(fault.Unavailable.Errorf("log: %w", err), false)
			g.answer(s.failed.Load().err)
			continue
		}
		g.merge()
		s.hot.write(g)
		s.pending.publish(g, s.history)
		for _, r := range g.requests {
			s.topics.Wake(r.batch.Wake)
		}
		g.answer(nil)
	}
}

// gather takes what waits, after r, and keeps of it what is valid.
func (s *store) gather(r *request) (*group, frame) {
	g := &group{first: s.last + 1}
	for n := 1; ; n++ {
		if s.admit(r) {
			g.requests = append(g.requests, r)
			g.bytes += r.bytes
		} else {
			g.losers = append(g.losers, r)
		}
		if g.bytes >= groupBytes || n >= groupSize {
			break
		}
		var ok bool
		select {
		case r, ok = <-s.queue:
		default:
		}
		if !ok {
			break
		}
	}
	return g, frame{first: g.first, count: len(g.requests)}
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

// applyLoop brings groups that readers see into Badger.
func (s *store) applyLoop() {
	defer close(s.done)
	for {
		groups := s.pending.next()
		if len(groups) == 0 {
			return
		}
		if err := s.apply(groups); err != nil {
			s.fail(fault.Unavailable.Errorf("store: a logged commit is not applied: %w", err), false)
			s.pending.keep()
			return
		}
		s.pending.done(len(groups))
		s.db.SetDiscardTs(min(s.history.Oldest(), s.redo.durable()))
	}
}

// apply writes groups to Badger in the order of their versions, in as many batches as
// Badger needs.
func (s *store) apply(groups []*group) (err error) {
	defer caught(&err)
	b := s.db.NewManagedWriteBatch()
	defer b.Cancel()
	for _, g := range groups {
		for i, r := range g.requests {
			for _, w := range r.batch.Writes {
				if err := put(b, w, g.first+uint64(i)); err != nil {
					return err
				}
			}
		}
	}
	return b.Flush()
}

func put(b *badger.WriteBatch, w kv.Mutation, version uint64) error {
	if w.Value == nil {
		return b.DeleteAt(w.Key, version)
	}
	return b.SetEntryAt(&badger.Entry{Key: w.Key, Value: w.Value}, version)
}

// answer tells every transaction of the group how it ended.
func (g *group) answer(err error) {
	for _, r := range g.requests {
		r.done <- err
	}
	for _, r := range g.losers {
		r.done <- kv.ErrConflict
	}
}

// fail makes the store refuse writes from now on, or all work if reads is set.
func (s *store) fail(err error, reads bool) {
	s.log.Error("the store stops working", "err", err, "reads", !reads)
	s.failed.CompareAndSwap(nil, &failure{err, reads})
}

// replay applies the log above the checkpoint. What Badger has of it already is
// written again, which changes nothing.
func (s *store) replay(logs string) (err error) {
	defer caught(&err)
	b := s.db.NewManagedWriteBatch()
	defer b.Cancel()
	if _, err := scanLog(logs, s.state, func(version uint64, w kv.Mutation) error {
		return put(b, w, version)
	}); err != nil {
		return err
	}
	return b.Flush()
}

// rollback makes version to equal to version from, which is lower.
func (s *store) rollback(from, to uint64) (err error) {
	defer caught(&err)
	old := s.db.NewTransactionAt(from, false)
	defer old.Discard()
	now := s.db.NewTransactionAt(to, false)
	defer now.Discard()
	it := now.NewIterator(badger.IteratorOptions{AllVersions: true, SinceTs: from})
	defer it.Close()
	b := s.db.NewManagedWriteBatch()
	defer b.Cancel()
	before := snapshot{s: s, txn: old, mark: &kv.Mark{Version: from}}
	var last []byte
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		if bytes.Equal(key, last) {
			continue
		}
		last = bytes.Clone(key)
		value, err := before.Get(last)
		if err != nil {
			return err
		}
		if err := put(b, kv.Mutation{Key: last, Value: value}, to); err != nil {
			return err
		}
	}
	return b.Flush()
}
