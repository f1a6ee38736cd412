package badger

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"

	"catena/storage/badger/values"
	"catena/storage/fault"
)

// pulse is the pause between two rounds of maintenance, and so the most that Relaxed
// can lose.
const pulse = time.Second

// residentGoal is how many bytes of mapped files the process keeps; the rest is left to
// the system's cache, where it does not count as ours and is found again.
const residentGoal = 224 << 20

// While much is written, tables that are merged come and go: nobody reads most of their pages again, and
// those of new ones can be given back only once they are in use. The goal is lower then.
const (
	busyGoal  = 48 << 20
	busyBytes = 1 << 20 // in a tenth of a pulse
)

// longLog is the number of closed segments of which the first waits no longer than a pulse for the memtable to fill.
// One of large values fills slowly: it holds only where they are.
const longLog = 2

// maintain syncs a relaxed log, watches the disk and makes checkpoints, until the
// store closes. First it checks the blocks of the tables an open left unchecked.
func (s *store) maintain(unchecked []part) {
	defer s.idle.Done()
	tick, often := time.NewTicker(pulse), time.NewTicker(pulse/10)
	defer tick.Stop()
	defer often.Stop()
	w := &work{unchecked: unchecked}
	for {
		select {
		case <-s.stop:
			return
		case <-often.C:
			s.workALittle(w)
		case c := <-s.compactions:
			c.done <- s.compact(c.ctx)
		case <-tick.C:
			s.checkpointOften(w)
		}
	}
}

// work is what maintain remembers from one round to the next.
type work struct {
	unchecked []part // whose content was not checked by the open
	rest      rest
	resident  bool   // pages cannot be given back, which is not tried again
	waits     uint64 // first version in the log at the last tick
}

// workALittle does, ten times a pulse, a slice of the work that would take long at once. Together the slices take at most a
// twentieth of the time.
func (s *store) workALittle(w *work) {
	w.unchecked = s.check(w.unchecked, pulse/100)
	if err := s.warm(pulse / 50); err != nil {
		s.log.Warn("value locations will be found as values are read", "err", err)
	}
	applied := s.applied.Swap(0)
	if err := s.reclaim(pulse/50, applied); err != nil {
		s.fail(fault.Unavailable.Errorf("store: values: %w", err), false)
	}
	if err := s.mergeAtRest(&w.rest, applied); err != nil {
		s.fail(fault.Unavailable.Errorf("store: %w", err), false)
	}
	if w.resident {
		return
	}
	goal := residentGoal
	if applied >= busyBytes {
		goal = busyGoal
	}
	if err := s.release(goal); err != nil {
		s.log.Warn("table pages stay resident", "err", err)
		w.resident = true
	}
}

// checkpointOften syncs a relaxed log, makes a checkpoint if the log is long, and writes the tables if a long log has had
// the same beginning since the last tick.
func (s *store) checkpointOften(w *work) {
	if s.opts.Durability == Relaxed {
		if err := s.redo.sync(); err != nil {
			s.fail(fault.Unavailable.Errorf("log: %w", err), false)
		}
	}
	s.pending.hurry()
	s.sampleSpace()
	if err := s.checkpoint(); err != nil {
		s.checkpointFailed(err)
	}
	first, n := s.redo.waiting()
	if n >= longLog && first == w.waits {
		if err := s.flushTables(); err != nil {
			s.fail(fault.Unavailable.Errorf("store: %w", err), false)
		}
	}
	w.waits = first
}

// checkpointFailed stops the store unless the disk is full, which passes: after a write or sync that failed for
// another reason nobody knows what is on disk.
func (s *store) checkpointFailed(err error) {
	if failed := fault.Unavailable.Errorf("store: checkpoint: %w", err); fault.CodeOf(failed) != fault.CodeDiskFull {
		s.fail(failed, false)
		return
	}
	s.log.Warn("no checkpoint", "err", err)
}

// part is a part of the store's files whose content is still to be checked: a table, or a file of values from
// a place on.
type part struct {
	table  string
	values values.File
	at     int64
}

// check reads parts for a while and returns those left. Tables that have been
// compacted away meanwhile need no check.
func (s *store) check(parts []part, d time.Duration) []part {
	for end := time.Now().Add(d); len(parts) > 0 && time.Now().Before(end); {
		p := &parts[0]
		whole, err := s.checkPiece(p)
		if err != nil && errors.Is(err, ErrCorrupt) && (p.table == "" || s.listed(p.table)) {
			s.fail(err, true)
			return nil
		}
		if whole || err != nil {
			parts = parts[1:]
		}
	}
	return parts
}

// checkPiece checks the next piece of a part and reports whether that was the last.
func (s *store) checkPiece(p *part) (whole bool, err error) {
	if p.table != "" {
		return true, checkBlocks(s.fs, p.table)
	}
	p.at, err = s.values.Check(p.values, p.at, p.at+movePiece)
	return p.at >= p.values.Size, unreadable(err)
}

// checkpoint finds how far the tables, which are synced, hold everything, and drops the
// segments of the log below that. Tables are written in the order in which runs were
// applied, so all but perhaps the last run seen in one are whole.
func (s *store) checkpoint() error {
	s.pause.Lock()
	defer s.pause.Unlock()
	next := *s.state
	if _, n := s.redo.waiting(); n > 0 || len(s.upkeep.retired) > 0 {
		var seen uint64
		for _, t := range s.db.Tables() {
			seen = max(seen, t.MaxVersion)
		}
		next.Checkpoint = max(next.Checkpoint, s.stamps.before(seen))
		next.Segment = max(next.Segment, s.redo.doneWith(next.Checkpoint))
	}
	done := s.upkeep.done(next.Checkpoint, s.history.Oldest())
	if next.Segment == s.state.Segment && len(done) == 0 && !rewritten(s.fs, s.tables(), s.state.Manifest) {
		return nil
	}
	if err := s.values.Sync(); err != nil {
		s.fail(fault.Unavailable.Errorf("store: values: %w", err), false)
		return err
	}
	next.Values = s.values.List(done...)
	if err := s.fs.SyncDir(s.tables()); err != nil {
		return err
	}
	var err error
	if next.Manifest, err = s.describeTables(); err != nil {
		return err
	}
	if err := next.write(s.fs, s.dir); err != nil {
		return err
	}
	*s.state = next
	if err := s.dropValues(done); err != nil {
		return err
	}
	return s.redo.drop(next.Checkpoint)
}

// flushTables has Badger write its memtable to a table by filling it: it has no call for that. One row is removed
// again and again, which takes room in a memtable and none in a table.
func (s *store) flushTables() (err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	s.applying.Lock()
	defer s.applying.Unlock()
	l, err := s.newLoader()
	if err != nil {
		return err
	}
	row := pb.KV{Key: filler, Value: make([]byte, inlineSize), Meta: deleted, Version: 1}
	for n := 0; n < memtableSize+memtableSize/4; n += inlineSize {
		if err := l.set(&row); err != nil {
			return err
		}
	}
	return l.end()
}

const (
	// mergedTables is how many tables of level 0 Badger merges.
	mergedTables = 20
	// fewTables of level 0 cost reads so little that they are left.
	fewTables = 4
	// restTime is how many tenths of a pulse a store rests before that counts.
	restTime = 50
	// restBytes are as many as are written in a tenth of a pulse when a store does not rest.
	restBytes = 64 << 10
)

// rest is what the maintainer knows of a time in which little was written.
type rest struct {
	quiet   int // tenths of a pulse
	merging bool
}

// mergeAtRest has Badger merge level 0 when little was written for a while: every read looks into all of its
// tables. Badger has no call for that either, but does it once there are enough; empty ones make them so.
func (s *store) mergeAtRest(r *rest, applied int64) error {
	if room := s.hasRoom() == nil; !room || applied >= restBytes || s.full.Load() != nil {
		*r = rest{}
		return nil
	}
	if r.quiet++; r.quiet%restTime == 0 {
		r.merging = true
	}
	if !r.merging {
		return nil
	}
	n := s.db.Levels()[0].NumTables
	if r.merging = n >= fewTables; r.merging && n < mergedTables {
		return s.flushTables()
	}
	return nil
}

// KeptFree is how much of a disk is kept free unless Options say otherwise, both in bytes. Badger goes on merging tables
// when writes are refused: it needs room for level 0 and what that is merged with, and writing to a mapped file
// without ends the process.
func KeptFree(disk uint64) uint64 { return min(max(disk/10, 256<<20), 1<<30) }

// sampleSpace has writes refused while the disk is nearly full.
func (s *store) sampleSpace() {
	space, err := s.fs.Space(s.dir)
	if err != nil || s.opts.MinFree < 0 {
		return // where it is not known, writes are refused by the file system
	}
	keep := uint64(s.opts.MinFree)
	if keep == 0 {
		keep = KeptFree(space.Whole)
	}
	if space.Free >= keep {
		if s.full.Swap(nil) != nil {
			s.log.Info("the disk has free space again: writes are accepted")
		}
		return
	}
	f := &failure{err: fault.Unavailable.Errorf("disk: %d MiB free, %d MiB are reserved", space.Free>>20, keep>>20).WithCode(fault.CodeDiskFull)}
	if s.full.Swap(f) == nil {
		s.log.Error("the disk is full: writes are refused", "err", f.err)
	}
}

// Writable returns why writes are refused, if they are.
func (s *store) Writable() error {
	for _, why := range []*failure{s.failed.Load(), s.full.Load()} {
		if why != nil {
			return why.err
		}
	}
	return nil
}

// Verify checks every block of every table and every entry of the files of values that is on disk.
func (s *store) Verify(ctx context.Context) error {
	for _, t := range s.db.Tables() {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := table.NewFilename(t.ID, s.tables())
		if err := checkBlocks(s.fs, path); err != nil && s.listed(path) {
			return err
		}
	}
	for _, f := range s.values.List() {
		for at := int64(0); at < f.Size; {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if at, err = s.values.Check(f, at, at+movePiece); err != nil {
				return unreadable(err)
			}
		}
	}
	return nil
}

// listed reports whether a table is one the store still reads.
func (s *store) listed(path string) bool {
	n, ok := table.ParseFileID(path)
	for _, t := range s.db.Tables() {
		if ok && t.ID == n {
			return true
		}
	}
	return false
}
