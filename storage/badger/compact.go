package badger

import (
	"context"
	"runtime/debug"
	"time"

	"catena/storage/fault"
)

// mostUsed is the share of a file of values that may be of use if Compact empties it all the same.
const mostUsed = 0.95

// compaction is a request to the maintainer.
type compaction struct {
	ctx  context.Context
	done chan error
}

// Reclaimable is how many bytes of the files are known to be unused.
func (s *store) Reclaimable() int64 {
	n := s.values.Unused()
	for _, t := range s.db.Tables() {
		n += int64(t.StaleDataSize)
	}
	return n
}

// Compact merges the tables and empties files of values in which some is unused. Nothing else is maintained
// meanwhile; files that were emptied are removed at the next checkpoint, when the store closes at the latest.
func (s *store) Compact(ctx context.Context) error {
	c := compaction{ctx, make(chan error, 1)}
	select {
	case s.compactions <- c:
		return <-c.done
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stop:
		return errClosed
	}
}

// compact is the maintainer's part of Compact.
func (s *store) compact(ctx context.Context) (err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	if err := s.flushTables(); err != nil {
		return err
	}
	s.applying.Lock()
	err = s.values.Begin() // so that the one that was written is looked at too
	s.applying.Unlock()
	if err != nil {
		return err
	}
	if err := s.countAll(ctx); err != nil {
		return unreadable(err)
	}
	if err := s.room(); err != nil {
		return err
	}
	for u := &s.upkeep; ; {
		if u.moving.file == 0 {
			u.moving.file, _ = s.values.Waste(mostUsed)
			u.moving.at = 0
		}
		if u.moving.file == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.move(); err != nil {
			return unreadable(err)
		}
	}
	if err := s.drain(ctx); err != nil {
		return err
	}
	if err := s.flushTables(); err != nil {
		return err
	}
	if err := s.db.Flatten(1); err != nil {
		return broken(err)
	}
	return s.checkpoint()
}

// drain waits until Badger has taken over all that is committed.
func (s *store) drain(ctx context.Context) error {
	for !s.pending.empty() {
		if f := s.failed.Load(); f != nil {
			return f.err
		}
		s.pending.hurry()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// countAll finds out how much of each file of values is of use.
func (s *store) countAll(ctx context.Context) error {
	u := &s.upkeep
	defer func() { u.counting, u.owed = entryAt{}, 0 }()
	u.counting = entryAt{}
	for last := uint32(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.recount(); err != nil {
			return err
		}
		switch n := u.counting; {
		case n.file == 0:
			return nil // there are none
		case n.at > 0: // in the middle of one
		case s.values.After(n.file).Number <= n.file:
			return nil // that was the last
		case n.file <= last:
			return nil
		default:
			last = n.file
		}
	}
}

// room reports whether the disk has room for what is written before anything is removed.
func (s *store) room() error {
	space, err := s.fs.Space(s.dir)
	if err != nil || s.opts.MinFree < 0 {
		return nil //nolint:nilerr // where it is not known, the file system refuses
	}
	need := KeptFree(space.Whole) + uint64(s.values.Used(mostUsed))
	for _, t := range s.db.Tables() {
		need += uint64(t.OnDiskSize)
	}
	if space.Free < need {
		return fault.Unavailable.Errorf("disk: %d MiB free, compaction temporarily requires %d MiB", space.Free>>20, need>>20).WithCode(fault.CodeDiskFull)
	}
	return nil
}
