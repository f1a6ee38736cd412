package badger

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/badger/values"
)

// movePiece is how much of a file of values is looked at before commits have their turn again.
const movePiece = 1 << 20

// recountShare is how much is applied for each byte that is counted anew: what small values take the place of,
// and what a crash leaves, is not known to be of no use before.
const recountShare = 8

// leastWaste is the share of a file of values that may be of use if it is emptied as commits go on.
const leastWaste = 0.5

// upkeep is what the maintainer knows of the files of values.
type upkeep struct {
	moving   place // in the file that is emptied
	counting place // in the file that is counted anew
	live     int64 // bytes of use found by that so far
	before   int64 // bytes of no use when it began
	owed     int64 // bytes to be counted, times recountShare
	retired  []retired
}

// place is an entry of a file of values.
type place struct {
	file uint32 // zero if there is none
	at   int64
}

// retired is a file of values whose entries are of no use to whoever reads at a later version.
type retired struct {
	file    uint32
	version uint64
}

// reclaim empties files of values that are mostly of no use, and looks how much of the others is, for a while.
// applied is how many bytes commits brought since the last time.
func (s *store) reclaim(d time.Duration, applied int64) error {
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
			s.log.Error("a file of values is damaged and stays as it is", "err", err)
			s.values.Keep(cmp.Or(u.moving.file, u.counting.file))
			u.moving, u.counting, err = place{}, place{}, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// move brings what is of use in the next piece of a file to the end of the values. The rows keep their
// versions, so that nobody sees a change. They are not in the log: what they say is on disk before they
// are, and the file stays until the tables that hold them are too.
func (s *store) move() (err error) {
	defer caught(&err)
	s.applying.Lock()
	defer s.applying.Unlock()
	u := &s.upkeep
	type moved struct {
		key     []byte
		to      values.Place
		version uint64
	}
	var rows []moved
	next, err := s.eachUsed(u.moving, func(e values.Entry, version uint64) error {
		p, err := s.values.Add(e.Key, e.Value)
		rows = append(rows, moved{bytes.Clone(e.Key), p, version})
		return err
	})
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		if err := cmp.Or(s.values.Flush(), s.values.Sync()); err != nil {
			return err
		}
		b := s.db.NewManagedWriteBatch()
		defer b.Cancel()
		for _, r := range rows {
			if err := b.SetEntryAt(&badger.Entry{Key: r.key, Value: r.to.Append(nil), UserMeta: elsewhere}, r.version); err != nil {
				return err
			}
		}
		if err := b.Flush(); err != nil {
			return err
		}
		for _, r := range rows {
			s.places.put(r.key, s.hot.hash(r.key), r.to, r.version)
		}
	}
	if u.moving.at = next; s.values.Ends(u.moving.file, next) {
		s.values.Retire(u.moving.file)
		u.retired = append(u.retired, retired{u.moving.file, s.stamps.last()})
		u.moving = place{}
	}
	return nil
}

// recount looks at the next piece of a file and, once that was the last, says how much of the file is of use.
func (s *store) recount() (err error) {
	defer caught(&err)
	u := &s.upkeep
	if u.counting.file == 0 || u.counting.at == 0 {
		f := s.values.After(u.counting.file)
		u.counting, u.live, u.before = place{file: f.Number}, 0, f.Dead
		if f.Number == 0 {
			u.owed = 0
			return nil
		}
	}
	next, err := s.eachUsed(u.counting, func(e values.Entry, _ uint64) error {
		u.live += e.Length()
		return nil
	})
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

// eachUsed calls fn with the entries of the piece at a place that are of use and the versions of their rows. It
// returns where the next piece begins.
func (s *store) eachUsed(from place, fn func(e values.Entry, version uint64) error) (next int64, err error) {
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
		p, ok, err := placeOf(item)
		if err != nil || !ok || p != e.Place {
			return err
		}
		return fn(e, item.Version())
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

// dropValues removes files of values that no checkpoint names any more.
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
