// Package badger is the key-value store on disk. Badger holds the rows; a redo log of our own stands in front of it,
// so that a commit costs one write and one sync, shared by all that wait, and so that a lost or damaged commit is
// seen rather than missing. Opening replays what is in the log but not yet in Badger's tables, and refuses files that
// are not what the last checkpoint left.
//
// The directory holds STATE, what the last checkpoint knew; log, the redo log; tables,
// Badger's files; and values, the values that are too large for tables to move about.
// Nothing is repaired: damage is reported with ErrCorrupt, and a store that is refused
// keeps every byte.
//
// What is guaranteed with Strict, as long as the disk keeps what it confirmed and writes
// its sectors as a whole: every acknowledged commit is there after a crash or a loss of
// power, whole. An end of the log that was not written as a whole was never acknowledged;
// it is left out and reported (see Dropped). A record that was written as a whole and does
// not match its sums is damage, the last one too, and so are files that come from another
// copy of the store: its folders carry the number of the epoch that STATE names. Not
// distinguishable from a torn write, and so only reported, are whole sectors of the last
// record that turned to zeros. Not detected is an older copy of the whole directory, or of
// the last log segment alone from since the store was opened.
//
// After a write or a sync that failed nothing is acknowledged until the store is opened
// again; reads go on. Badger maps its own files into memory, past Options.FS; package mounttest
// fails those. It may lose what it has not synced: the log or the values have it until it has.
package badger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/badger/values"
	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/kv"

	"github.com/dgraph-io/badger/v4"
)

// Durability says when a commit is acknowledged.
type Durability int

const (
	// Strict acknowledges a commit once it is on disk.
	Strict Durability = iota
	// Relaxed acknowledges a commit once it is written, and syncs every second: a
	// loss of power may take the last second, of whole transactions, with it.
	Relaxed
)

// Options adjust a store; the zero value is right for a server.
type Options struct {
	Durability Durability
	Log        *slog.Logger // default slog.Default
	// MinFree is the free disk space, in bytes, below which writes are refused. Zero
	// is a tenth of the disk, but 256 MiB at least and 1 GiB at most; negative is none.
	MinFree int64
	// FS is the file system, disk.OS by default. Badger's tables and memtables are mapped into memory and pass it by.
	FS disk.FS
}

const (
	tablesDir    = "tables"
	valuesDir    = "values"
	logDir       = "log"
	lockName     = "LOCK"
	memtableSize = 8 << 20
	// openTries bounds the opens of Badger, whose first may fail for a reason that passes.
	openTries = 3
	openPause = 50 * time.Millisecond
)

// store is one open store.
type store struct {
	fs      disk.FS
	dir     string
	mapped  string // the tables' directory as the system names it
	opts    Options
	log     *slog.Logger
	lock    *os.File
	db      *badger.DB
	redo    *redo
	history *kv.History
	topics  kv.Topics
	state   *state // for the opener and then the maintainer only
	limits  kv.Limits

	gate        sync.RWMutex // held by those who begin
	closed      bool
	open        sync.WaitGroup // snapshots
	queue       queue          // transactions that wait to be committed
	done        chan struct{}  // closed once the last run is applied
	stop        chan struct{}
	compactions chan compaction // asked of the maintainer
	idle        sync.WaitGroup  // background work

	pending  pending
	hot      hot
	rows     rowCache
	pointers pointerCache
	warming  warming

	values   *values.Files
	applying sync.Mutex // held by who writes to Badger and to values
	upkeep   upkeep     // the maintainer's

	releases atomic.Uint64 // of pages so far
	deep     int           // how often a level below the first had tables, for who applies only
	applied  atomic.Int64  // bytes that Badger took over since pages were last looked at

	dropped *Dropped // by this opening

	pause  sync.Mutex // held during a checkpoint
	failed atomic.Pointer[failure]
	full   atomic.Pointer[failure] // the disk is

	refused   atomic.Pointer[error] // why Badger did not take a batch; it is given none after that
	unflushed unflushed
	closing   chan struct{} // closed once Badger is, nil before that is asked for
	last      uint64        // version of the last commit, for the committer only
	buf       []byte        // a frame, for the committer only
	stamps    stamps
}

// failure is why a store refuses some of its work.
type failure struct {
	err   error
	reads bool // reads too
}

// Open opens the store in dir, which is created if need be. A directory in use, by
// another process or this one, is refused with fault.Unavailable, a damaged store with
// ErrCorrupt.
func Open(dir string, o Options) (kv.Store, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.FS == nil {
		o.FS = disk.OS
	}
	for _, d := range []string{dir, filepath.Join(dir, logDir), filepath.Join(dir, tablesDir), filepath.Join(dir, valuesDir)} {
		if err := o.FS.MkdirAll(d, 0o700); err != nil {
			return nil, fault.Unavailable.Errorf("store: %w", err)
		}
	}
	mapped, err := filepath.Abs(filepath.Join(dir, tablesDir))
	if err == nil {
		mapped, err = filepath.EvalSymlinks(mapped)
	}
	if err != nil {
		return nil, fault.Unavailable.Errorf("store: %w", err)
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	s := &store{
		fs: o.FS, dir: dir, mapped: mapped, opts: o, log: o.Log, lock: lock, limits: kv.Portable,
		hot: hot{seed: maphash.MakeSeed()}, unflushed: unflushed{given: make(chan struct{})},
		done: make(chan struct{}), stop: make(chan struct{}), compactions: make(chan compaction),
	}
	if err := s.start(); err != nil {
		if s.db != nil {
			_ = s.closeTables(s.db)
		}
		if s.values != nil {
			s.values.Close()
		}
		s.unlock()
		return nil, err
	}
	return s, nil
}

// start opens the files in the order that makes a crash at any point harmless: everything is checked before anything is changed,
// the epoch is raised before the first change, the log is applied to the tables, and only then STATE says that the store is live.
func (s *store) start() error {
	if err := s.roomToOpen(); err != nil {
		return err
	}
	unchecked, err := s.prepare()
	if err != nil {
		return err
	}
	t, err := scanLog(s.fs, s.logs(), s.state, nil)
	if err != nil {
		return err
	}
	if s.dropped = t.dropped; s.dropped != nil {
		s.log.Warn("the end of the redo log was discarded", "why", s.dropped)
		s.state.Dropped = s.dropped
	}
	s.state.Clean = false // from here on the files change
	if err := s.nextEpoch(); err != nil {
		return broken(err)
	}
	if err := s.recover(t); err != nil {
		return err
	}
	s.state.Live, s.state.Relaxed = true, s.opts.Durability == Relaxed
	if s.state.Manifest, err = describe(s.fs, s.tables()); err != nil {
		return broken(err)
	}
	if err := s.state.write(s.fs, s.dir); err != nil {
		return broken(err)
	}
	s.sampleSpace()
	s.pending.init()
	go s.applyLoop()
	s.idle.Add(1)
	go s.maintain(unchecked)
	return nil
}

// prepare reads STATE and checks the files against it before Badger touches them. It
// returns the parts whose content is still to be checked.
func (s *store) prepare() (unchecked []part, err error) {
	if s.state, err = readState(s.fs, s.dir); err != nil {
		return nil, err
	}
	if s.state == nil {
		if err := s.createState(); err != nil {
			return nil, err
		}
	}
	if err := s.checkEpochs(); err != nil {
		return nil, err
	}
	if err := s.openValues(); err != nil || !s.state.Live {
		return nil, err
	}
	if err := checkManifest(s.fs, s.tables(), s.state.Manifest); err != nil {
		return nil, err
	}
	if err := s.dropUnfinished(); err != nil {
		return nil, err
	}
	tables, err := listTables(s.tables())
	if err != nil {
		return nil, err
	}
	size := totalSize(tables)
	for _, path := range tables {
		if err := checkIndex(path); err != nil {
			return nil, err
		}
		unchecked = append(unchecked, part{table: path})
	}
	for _, f := range s.state.Values {
		size += f.Size
		unchecked = append(unchecked, part{values: f})
	}
	if size > smallStore {
		return unchecked, nil
	}
	return nil, s.checkWhole(unchecked)
}

// checkWhole checks the content of parts at once, which is fast for a small store.
func (s *store) checkWhole(parts []part) (err error) {
	for i := range parts {
		for whole := false; !whole; {
			if whole, err = s.checkPiece(&parts[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// createState writes the first STATE of a store. A directory that has other files has lost its STATE and is damaged.
func (s *store) createState() error {
	clear, err := untouched(s.fs, s.dir)
	if err != nil {
		return err
	}
	if !clear {
		return corrupt("store %s: %s is missing", s.dir, stateName)
	}
	var id id
	_, _ = rand.Read(id[:])
	s.state = &state{Format: stateFormat, ID: hex.EncodeToString(id[:])}
	if err := s.state.write(s.fs, s.dir); err != nil {
		return broken(err)
	}
	return nil
}

// recover opens Badger, brings it to the end of the log and begins a new segment.
func (s *store) recover(t tail) (err error) {
	logs := s.logs()
	if s.db, err = openTables(s.tables(), logger{s}); err != nil {
		return err
	}
	at, before := t.version, s.db.MaxVersion()
	switch {
	case before <= t.version:
	case !s.state.Live:
		return corrupt("store %s: tables hold version %d, nothing was committed", s.dir, before)
	case !s.state.Relaxed:
		return corrupt("store %s: the log ends at version %d, tables hold %d", s.dir, t.version, before)
	default:
		s.log.Warn("the last commits, acknowledged before they were on disk, are lost", "kept", t.version, "lost", before-t.version)
	}
	if t.version > s.state.Checkpoint || before > t.version {
		at = max(before, t.version) + 1
	}
	if t.version > s.state.Checkpoint {
		if err := s.replay(logs, at); err != nil {
			return err
		}
	}
	if before > t.version {
		if err := s.rollback(t.version, at); err != nil {
			return err
		}
	}
	if at > t.version {
		if t, err = s.flush(t, at); err != nil {
			return err
		}
	}
	s.last = at
	s.history = kv.NewHistory(at)
	s.stamps.add(at)
	s.redo = newRedo(s.fs, logs, s.state.id(), &t, at)
	s.redo.strict = s.opts.Durability == Strict
	return s.sweep(logs)
}

// flush closes Badger, which writes everything to tables, makes a checkpoint of that
// and opens it again.
func (s *store) flush(t tail, at uint64) (tail, error) {
	db := s.db
	s.db = nil
	if err := s.closeTables(db); err != nil {
		return t, err
	}
	if err := s.settle(at, t.number, t.chain); err != nil {
		return t, err
	}
	for _, seg := range t.segments {
		if err := s.fs.Remove(seg.path); err != nil {
			return t, broken(err)
		}
	}
	var err error
	s.db, err = openTables(s.tables(), logger{s})
	return tail{version: at, chain: t.chain, number: t.number}, err
}

// settle records that the tables hold everything up to a version, Badger being closed.
func (s *store) settle(at, segment uint64, c chain) error {
	m, err := s.describeTables()
	if err == nil {
		err = s.values.Sync()
	}
	if err != nil {
		return broken(err)
	}
	done := s.upkeep.done(at, math.MaxUint64)
	s.state.Live, s.state.Manifest, s.state.Values = true, m, s.values.List(done...)
	s.state.Checkpoint, s.state.Segment, s.state.Chain = at, segment, hex.EncodeToString(c[:])
	if err := s.state.write(s.fs, s.dir); err != nil {
		return broken(err)
	}
	if err := s.dropValues(done); err != nil {
		return broken(err)
	}
	return nil
}

// sweep removes leftovers: segments a checkpoint had done with and spare ones.
func (s *store) sweep(logs string) error {
	entries, err := s.fs.ReadDir(logs)
	if err != nil {
		return broken(err)
	}
	for _, e := range entries {
		var n uint64
		if _, err := fmt.Sscanf(e.Name(), "%d", &n); err != nil {
			continue
		}
		if n <= s.state.Segment || strings.HasSuffix(e.Name(), tempSuffix) {
			if err := s.fs.Remove(filepath.Join(logs, e.Name())); err != nil {
				return broken(err)
			}
		}
	}
	return nil
}

func (s *store) logs() string { return filepath.Join(s.dir, logDir) }

func (s *store) tables() string { return filepath.Join(s.dir, tablesDir) }

// Begin opens a snapshot.
func (s *store) Begin(_ context.Context, write bool) (kv.Snapshot, error) {
	snap, err := s.begin(write)
	if err != nil {
		return nil, err
	}
	return snap, nil
}

func (s *store) begin(write bool) (*snapshot, error) {
	if f := s.failed.Load(); f != nil && (write || f.reads) {
		return nil, f.err
	}
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return nil, errClosed
	}
	s.open.Add(1)
	mark, runs := s.pending.begin(s.history, write)
	return &snapshot{s: s, runs: runs, txn: s.db.NewTransactionAt(mark.Version, false), mark: mark, write: write}, nil
}

// Watch subscribes to a topic.
func (s *store) Watch(topic string) (<-chan struct{}, func()) { return s.topics.Watch(topic) }

// Identity is that of the directory, whatever it contains.
func (s *store) Identity() string { return s.state.ID }

// Limits are the portable ones.
func (s *store) Limits() kv.Limits { return s.limits }

// Close waits for running commits and for open snapshots, flushes, and leaves a log
// that holds nothing.
func (s *store) Close() error {
	s.gate.Lock()
	if s.closed {
		s.gate.Unlock()
		return nil
	}
	s.closed = true
	s.gate.Unlock()
	s.open.Wait()
	s.pending.end()
	<-s.done
	close(s.stop)
	s.idle.Wait()
	defer s.unlock()
	defer s.values.Close()
	err := s.redo.close()
	if full := s.hasRoom(); full != nil {
		return full // Badger would write its memtables to tables; the log has what is in them
	}
	if e := s.closeTables(s.db); err == nil {
		err = e
	}
	if err != nil || s.failed.Load() != nil {
		return err // what is missing in the tables stays in the log
	}
	if err := s.settle(s.last, s.redo.number, s.redo.chain); err != nil {
		return err
	}
	s.state.Clean = true
	if err := s.nextEpoch(); err != nil {
		return broken(err)
	}
	if err := s.state.write(s.fs, s.dir); err != nil {
		return broken(err)
	}
	return s.redo.drop(s.last)
}

// Dropped says what was left out of the redo log the last time that was necessary, and whether this opening did it.
func (s *store) Dropped() (what string, now bool) {
	s.pause.Lock()
	defer s.pause.Unlock()
	if s.state.Dropped == nil {
		return "", false
	}
	return s.state.Dropped.String(), s.dropped != nil
}

var errClosed error = fault.Unavailable.Errorf("store: closed")
