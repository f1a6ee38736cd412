package badger

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// passing are parts of the errors of Badger's open that pass: one after a crash, and a lock on the directory that a process
// has which is just being started and inherits it for a moment; nobody else may have one, for the store has its own.
var passing = []string{"Create a new file", "Cannot acquire directory lock"}

// openTables opens Badger with small buffers: what is not in its tables is in the log.
func openTables(dir string, log badger.Logger) (*badger.DB, error) {
	o := badger.DefaultOptions(dir)
	o.Logger = log
	o.SyncWrites = false
	o.DetectConflicts = false
	o.NumVersionsToKeep = 1
	o.MetricsEnabled = false
	// Each table of level 0 spans nearly all keys, so merging them rewrites most of the next level: the more
	// there is of them at once, the fewer times. What bounds it is the reads, which look into each until the store rests, and the
	// buffers of tables being built, twice the size of a table each, eight kept for later and as many at
	// work; a memtable has to fit into one, which would grow otherwise and stay so.
	o.MemTableSize = memtableSize
	o.NumMemtables = 2
	o.NumLevelZeroTables = mergedTables
	o.NumLevelZeroTablesStall = 28
	o.NumCompactors = 2
	o.BaseLevelSize = 64 << 20
	o.BaseTableSize = 4500 << 10
	o.TableSizeMultiplier = 1
	o.ValueThreshold = inlineSize + 1 // nothing goes to Badger's own value log, which hides damage and keeps what is overwritten
	o.ValueLogFileSize = 1 << 20      // the least: each start makes such a file, twice as large, and the system may read it ahead
	o.Compression = 0                 // a damaged block then keeps its other values readable
	o.BlockCacheSize = 0
	o.IndexCacheSize = 0
	var err error
	for range openTries {
		var db *badger.DB
		if db, err = openOnce(o); err == nil {
			return db, nil
		}
		if !slices.ContainsFunc(passing, func(s string) bool { return strings.Contains(err.Error(), s) }) {
			break
		}
		time.Sleep(openPause)
	}
	return nil, corrupt("store %s: %v", dir, err)
}

func openOnce(o badger.Options) (db *badger.DB, err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	return badger.OpenManaged(o)
}

// logger passes on what Badger has to say that matters to an operator.
type logger struct{ s *store }

// Errorf logs an error. That a memtable cannot be written to a table is only said here.
func (l logger) Errorf(f string, a ...any) {
	l.s.log.Error("badger: " + line(f, a))
	if strings.HasPrefix(f, flushMessage) && len(a) > 0 {
		if err, ok := a[0].(error); ok {
			l.s.flushFailed(err)
		}
	}
}

// Warningf logs a warning.
func (l logger) Warningf(f string, a ...any) { l.s.log.Warn("badger: " + line(f, a)) }

// Infof drops what is of no interest.
func (l logger) Infof(string, ...any) {}

// Debugf drops what is of no interest.
func (l logger) Debugf(string, ...any) {}

func line(f string, a []any) string { return strings.TrimSpace(fmt.Sprintf(f, a...)) }
