package badger

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/badger/values"
	"catena/storage/kv"
)

// movePiece is how much of a file of values is looked at before commits have their turn again.
const movePiece = 1 << 20

// recountShare is how much is applied for each byte that is counted again: what small values take the place of,
// and what a crash leaves, is not known to be unused before.
const recountShare = 8

// leastWaste is the share of a file of values that may be of use if it is emptied as commits go on.
const leastWaste = 0.5

// upkeep is what the maintainer knows of the files of values.
type upkeep struct {
	moving   entryAt // in the file that is emptied
	counting entryAt // in the file that is counted again
	live     int64   // bytes of use found by that so far
	before   int64   // unused bytes when it began
	owed     int64   // bytes to be counted, times recountShare
	retired  []retired
}

// entryAt is an entry of a file of values.
type entryAt struct {
	file uint32 // zero if there is none
	at   int64
}

// retired is a file of values whose entries are unused to anyone who reads at a later version.
type retired struct {
	file    uint32
	version uint64
}

// reclaim empties files of values that are mostly unused, and looks how much of the others is, for a while.
// applied is how many bytes commits brought since the last time.
func (s *store) reclaim(d time.Duration, applied int64) error {
	if s.failed.Load() != nil {
		return nil
	}
	u := &s.upkeep
	u.owed += applied
	for end := time.Now().Add(d); time.Now().Before(end); {
		var err error
		if u.moving.file == 0 {
			u.moving.file, _ = s.values.Waste(leastWaste)
			u.moving.at = 0
		}
		switch {
		case u.moving.file > 0:
			err = s.move()
		case u.owed >= recountShare*movePiece:
			err = s.recount()
		default:
			return nil
		}
		if errors.Is(err, values.ErrDamaged) {
			s.log.Error("a value file is damaged and is left unchanged", "err", err)
			s.values.Keep(cmp.Or(u.moving.file, u.counting.file))
			u.moving, u.counting, err = entryAt{}, entryAt{}, nil
		}
		switch {
		case errors.Is(err, errClosed):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// move commits what is of use in the next piece of a file again, as it is, so that it is written to the end of the
// values. The rows get new versions like those of any commit: Badger may order rows of one key and one version either
// way, so that a row with another place and the same version could be hidden by the one it replaces.
func (s *store) move() error {
	u := &s.upkeep
	snap, rows, next, err := s.used(u.moving)
	if err != nil {
		return err
	}
	defer snap.Discard()
	if err := s.commitAgain(snap.mark.Version, rows); err != nil {
		return err
	}
	if u.moving.at = next; s.values.Ends(u.moving.file, next) {
		s.values.Retire(u.moving.file)
		u.retired = append(u.retired, retired{u.moving.file, s.history.Published()})
		u.moving = entryAt{}
	}
	return nil
}

// used returns a snapshot, which the caller discards, and the rows whose values Badger has in the piece of a file at a
// place, in order and as the snapshot sees them; next is where the next piece begins.
func (s *store) used(from entryAt) (snap *snapshot, rows []kv.Mutation, next int64, err error) {
	s.applying.Lock() // so that each value that is in a file has a row
	defer s.applying.Unlock()
	if snap, err = s.begin(true); err != nil {
		return nil, nil, 0, err
	}
	next, err = s.eachUsed(from, func(e values.Entry) {
		switch m := snap.pending(e.Key, s.hot.hash(e.Key)); {
		case m == nil:
			rows = append(rows, kv.Mutation{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value)})
		case m.Value != nil:
			rows = append(rows, kv.Mutation{Key: m.Key, Value: m.Value}) // it may be the one that has just been applied
		}
	})
	if err != nil {
		snap.Discard()
		return nil, nil, 0, err
	}
	slices.SortFunc(rows, func(a, b kv.Mutation) int { return bytes.Compare(a.Key, b.Key) })
	return snap, rows, next, nil
}

// commitAgain commits rows that were read at a version. Those that others have written since are left out.
func (s *store) commitAgain(start uint64, rows []kv.Mutation) error {
	if len(rows) == 0 {
		return nil
	}
	b := kv.Batch{Writes: rows}
	for _, r := range rows {
		b.Reads.Keys = append(b.Reads.Keys, r.Key)
	}
	err := s.submit(start, &b)
	if !errors.Is(err, kv.ErrConflict) || len(rows) == 1 {
		if errors.Is(err, kv.ErrConflict) {
			return nil
		}
		return err
	}
	half := len(rows) / 2
	return cmp.Or(s.commitAgain(start, rows[:half]), s.commitAgain(start, rows[half:]))
}

// recount looks at the next piece of a file and, once that was the last, says how much of the file is of use.
func (s *store) recount() error {
	u := &s.upkeep
	if u.counting.file == 0 || u.counting.at == 0 {
		f := s.values.After(u.counting.file)
		u.counting, u.live, u.before = entryAt{file: f.Number}, 0, f.Dead
		if f.Number == 0 {
			u.owed = 0
			return nil
		}
	}
	next, err := s.eachUsed(u.counting, func(e values.Entry) { u.live += e.Length() })
	if err != nil {
		return err
	}
	u.owed -= recountShare * (next - u.counting.at)
	if u.counting.at = next; s.values.Ends(u.counting.file, next) {
		s.values.Counted(u.counting.file, u.live, u.before)
		u.counting.at = 0
	}
	return nil
}

// eachUsed calls fn with the entries of the piece at a place that Badger refers to. It returns where the next piece
// begins.
func (s *store) eachUsed(from entryAt, fn func(e values.Entry)) (next int64, err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	now := s.db.NewTransactionAt(math.MaxUint64, false)
	defer now.Discard()
	return s.values.Walk(from.file, from.at, from.at+movePiece, func(e values.Entry) error {
		item, err := now.Get(e.Key)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if p, ok, err := pointerOf(item); !ok || err != nil || p != e.Pointer {
			return err
		}
		fn(e)
		return nil
	})
}

// done returns the files of values that may be removed once the tables hold everything up to a version,
// those who read having begun at oldest or later.
func (u *upkeep) done(checkpoint, oldest uint64) (numbers []uint32) {
	for _, r := range u.retired {
		if r.version <= checkpoint && r.version < oldest {
			numbers = append(numbers, r.file)
		}
	}
	return numbers
}

// dropValues removes files of values that no checkpoint names any longer.
func (s *store) dropValues(numbers []uint32) error {
	for _, n := range numbers {
		if err := s.values.Drop(n); err != nil {
			return err
		}
		if n == s.upkeep.counting.file {
			s.upkeep.counting.at = 0 // the next one is counted
		}
		s.upkeep.retired = slices.DeleteFunc(s.upkeep.retired, func(r retired) bool { return r.file == n })
	}
	return nil
}
