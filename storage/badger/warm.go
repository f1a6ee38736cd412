package badger

import (
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/kv"
)

// warmPiece is how many rows are looked at before commits have their turn again.
const warmPiece = 1 << 10

// warming is the ranges in which places are still to be found.
type warming struct {
	mu     sync.Mutex
	ranges []kv.Range
}

// Warm has the places be found of the values in a range, in the background, while others read.
func (s *store) Warm(r kv.Range) {
	s.warming.mu.Lock()
	defer s.warming.mu.Unlock()
	s.warming.ranges = append(s.warming.ranges, r)
}

// first returns the range that comes first.
func (w *warming) first() (r kv.Range, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ranges) == 0 {
		return r, false
	}
	return w.ranges[0], true
}

// goOn says where what is left of the first range begins, nil if that is nothing.
func (w *warming) goOn(start []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if start == nil {
		w.ranges = slices.Delete(w.ranges, 0, 1)
	} else {
		w.ranges[0].Start = start
	}
}

// warm finds places for a while.
func (s *store) warm(d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		r, ok := s.warming.first()
		if !ok {
			return nil
		}
		next, err := s.findPointers(r)
		s.warming.goOn(next)
		if err != nil {
			return err
		}
	}
	return nil
}

// findPointers finds the places of the first values of a range, and returns where the rest of it begins.
func (s *store) findPointers(r kv.Range) (next []byte, err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	s.applying.Lock() // nothing it reads is out of date before it is noted
	defer s.applying.Unlock()
	now := s.db.NewTransactionAt(math.MaxUint64, false)
	defer now.Discard()
	c := cursor{s: s, r: r, left: warmPiece, it: now.NewIterator(badger.IteratorOptions{Prefix: common(r.Start, r.End)})}
	defer c.Close()
	n := 0
	for ; c.step(); n++ {
		item := c.it.Item()
		p, ok, err := pointerOf(item)
		if err != nil {
			return nil, err
		}
		if ok {
			s.pointers.learn(c.key, s.hot.hash(c.key), p, item.Version(), math.MaxUint64)
		}
	}
	if n < warmPiece || c.err != nil {
		return nil, c.err
	}
	return append(c.key, 0), nil
}
