package storage

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// stale knows of which documents the terms may not be up to date, so that a search need not walk over the
// rows that say so: of those that were taken away, the store keeps traces for a while.
//
// It is a set seen at one version, and a note of every document marked since, in the order of the
// marks. A mark is made before its transaction is committed, so what a later snapshot shows
// is never more than the set and the notes.
type stale struct {
	mu      sync.Mutex
	last    uint64          // number of the last note
	notes   []note          // those behind upTo
	lost    uint64          // notes up to here are forgotten
	running map[uint64]bool // first notes of the transactions that have not ended
	ended   atomic.Uint64   // notes up to here are of transactions that have ended

	known   bool
	version uint64
	upTo    uint64 // notes that version shows or that came to nothing
	set     []docID

	next docID // where the rows yet to be worked on may begin
}

type note struct {
	number uint64
	id     docID
}

// maxNotes is how many notes are kept.
const maxNotes = 4096

// mark notes a document for a transaction, whose first note is kept in first.
func (s *stale) mark(id docID, first *uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	if first != nil && *first == 0 {
		*first = s.last
		if s.running == nil {
			s.running = map[uint64]bool{}
		}
		s.running[s.last] = true
	}
	if len(s.notes) >= maxNotes {
		s.notes, s.known, s.lost = nil, false, s.last
		return
	}
	s.notes = append(s.notes, note{s.last, id})
}

// end says that a transaction has ended, whether or not it was committed.
func (s *stale) end(first uint64) {
	if first == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, first)
	ended := s.last
	for number := range maps.Keys(s.running) {
		ended = min(ended, number-1)
	}
	s.ended.Store(ended)
}

// candidates returns the documents that may be marked in a snapshot, in order; it is not ok if they
// are not known.
func (s *stale) candidates(version uint64) (ids []docID, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known || version < s.version {
		return nil, false
	}
	if len(s.set)+len(s.notes) == 0 {
		return nil, true
	}
	ids = slices.Clone(s.set)
	for _, n := range s.notes {
		ids = append(ids, n.id)
	}
	return sortIDs(ids), true
}

// settle takes a set in that a snapshot showed, begun when the notes up to upTo were of transactions
// that had ended.
func (s *stale) settle(version, upTo uint64, set []docID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if upTo < s.lost || s.known && (version < s.version || upTo < s.upTo) {
		return
	}
	s.known, s.version, s.upTo, s.set = true, version, upTo, slices.Clone(set)
	i := 0
	for i < len(s.notes) && s.notes[i].number <= upTo {
		i++
	}
	s.notes = slices.Clone(s.notes[i:])
}

func (s *stale) from() docID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

func (s *stale) goOn(at docID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = at
}

// pending returns documents whose terms are not up to date.
func (t *Tx) pending(limit int) (ids []docID, more bool, err error) {
	if t.kv.Writable() { // it depends on documents marked meanwhile
		return t.marked(none, limit)
	}
	if list, ok := t.repo.stale.candidates(t.kv.Version()); ok {
		return t.stillMarked(list, limit)
	}
	ids, more, err = t.marked(none, limit)
	if err == nil && !more {
		t.repo.stale.settle(t.kv.Version(), t.ended, ids)
	}
	return ids, more, err
}

// due is pending for who brings the terms up to date: where the documents are not known, it goes on
// behind those of the last call.
func (t *Tx) due(limit int) (ids []docID, more bool, err error) {
	s := &t.repo.stale
	at := s.from()
	if _, known := s.candidates(t.kv.Version()); !known && at != none {
		ids, _, err = t.marked(at, limit)
		more = true // perhaps before that one
	}
	if len(ids) == 0 && err == nil {
		at = none
		ids, more, err = t.pending(limit)
	}
	if len(ids) > 0 {
		at = ids[len(ids)-1]
	}
	s.goOn(at)
	return ids, more, err
}

// marked walks over the marks from one document on.
func (t *Tx) marked(from docID, limit int) (ids []docID, more bool, err error) {
	rg := prefix([]byte{spaceWords, wordsPending})
	rg.Start = wordsKey(wordsPending, from)
	rg.Limit, rg.KeysOnly = limit+1, true
	for row, err := range t.kv.Scan(rg) {
		if err != nil {
			return nil, false, err
		}
		ids = append(ids, indexID(row.Key))
	}
	if len(ids) > limit {
		return ids[:limit], true, nil
	}
	return ids, false, nil
}

// stillMarked returns those of the documents that are marked, and forgets the others.
func (t *Tx) stillMarked(list []docID, limit int) (ids []docID, more bool, err error) {
	for i, id := range list {
		if len(ids) == limit {
			more = true
			t.repo.stale.settle(t.kv.Version(), t.ended, append(ids[:limit:limit], list[i:]...))
			return ids, more, nil
		}
		mark, err := t.kv.Get(wordsKey(wordsPending, id))
		if err != nil {
			return nil, false, err
		}
		if mark != nil {
			ids = append(ids, id)
		}
	}
	if len(list) > 0 {
		t.repo.stale.settle(t.kv.Version(), t.ended, ids)
	}
	return ids, false, nil
}
