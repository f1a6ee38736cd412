// Package disktest is a file system whose operations fail as a test plans, and which a test can stop at any moment to
// see what remains after a power failure. It works in a real folder and remembers which of the writes and names in it
// are on disk for certain: those that a sync confirmed. Crash then writes a copy of the folder in which the others
// are there, partly there or missing.
//
// Files that are not opened through it, such as the ones that Badger maps into memory, are copied as they are when
// Crash is called. A caller says which of them a loss of power would not have kept.
package disktest

import (
	"errors"
	"path/filepath"
	"syscall"
	"time"
)

// Op is a set of kinds of operations.
type Op uint

// The kinds of operations. Reading metadata, closing files and asking for room count as none of them and never fail.
const (
	Open Op = 1 << iota
	Read
	Write    // and truncate, reserve, and writing with disk.Direct
	Sync     // of a file's content
	SyncDir  // of a folder
	Rename   // and link
	Remove   // of a name
	Create   // of a file or folder; Open as well if it is a file
	List     // a folder
	Every    = Open | Read | Write | Sync | SyncDir | Rename | Remove | Create | List
	Changing = Write | Sync | SyncDir | Rename | Remove | Create
)

// Errors that operations fail with.
var (
	// ErrCrashed is the error of every operation after a crash.
	ErrCrashed = errors.New("the machine has crashed")
	// ErrIO is an error of the disk.
	ErrIO error = syscall.EIO
	// ErrFull is the error of a full disk.
	ErrFull error = syscall.ENOSPC
)

// Plan says what goes wrong. The zero Plan is a disk without faults.
type Plan struct {
	Faults []Fault
	// Rate is the share of the operations in Kinds (Every if zero) that fail at random with Err (ErrIO if nil).
	Rate  float64
	Kinds Op
	Err   error
	// Latency is the most that an operation takes, chosen at random; Sleep waits, time.Sleep if nil.
	Latency time.Duration
	Sleep   func(time.Duration)
	// Trace, if set, is called with the number of each operation, from 1, before it runs.
	Trace func(n int, op Op, name string)
}

// Fault makes operations fail.
type Fault struct {
	Op    Op     // the kinds that are counted, Every if zero
	Name  string // pattern of path.Match for the last element of the name, all names if empty
	N     int    // the first of them that fails, from 1; 0 means 1
	Times int    // how many fail from there, 0 means 1; negative: all that follow
	Err   error  // ErrIO if nil
	Short bool   // a write or read does half of its work before it fails
	Crash bool   // the machine stops: a write may be torn, and every later operation fails with ErrCrashed
}

// hits reports whether an operation is one that the fault counts.
func (f *Fault) hits(op Op, name string) bool {
	if f.Op != 0 && f.Op&op == 0 {
		return false
	}
	if f.Name == "" {
		return true
	}
	ok, _ := filepath.Match(f.Name, filepath.Base(name))
	return ok
}

// now reports whether the fault happens at the n-th operation it counts.
func (f *Fault) now(n int) bool {
	first := max(f.N, 1)
	return n >= first && (f.Times < 0 || n < first+max(f.Times, 1))
}
