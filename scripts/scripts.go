// Package scripts runs JavaScript over the table of operations: an operation is called
// as Document.Create(input, {type: "File"}), documents and files are handles, everything
// else is a copy. Every script, deployed or sent by a caller, is parsed, compiled and run
// in a pooled worker process (WorkerMain), whose memory and time are bounded and which may
// be killed at any moment without harm to anyone else: nothing bounds what a script does to
// the process it runs in. The server's side of a run (supervisor) carries out what the
// script asks for. What a script may call is for the engine to decide; this package knows
// operations by name only.
package scripts

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"catena/engine"
	"catena/engine/library"
	"catena/engine/slots"
)

// Limits bound one run of a script; zero values take the defaults.
type Limits struct {
	Wall       time.Duration // from the first instruction to the result (10 s)
	CPU        time.Duration // of a worker process, over one run (5 s)
	Memory     int64         // bytes of a worker's data (256 MiB)
	Stack      int           // nested calls (500)
	Calls      int           // of operations and other things outside the script (10,000)
	Source     int           // bytes of source (256 KiB)
	Output     int           // bytes of one value that leaves the script (8 MiB)
	Log        int           // bytes of console output (64 KiB)
	Workers    int           // scripts at work at once, not counting those that another one called (twice the processors)
	PerUser    int           // of them for one principal (2)
	Spares     int           // fresh worker processes kept ready while scripts run (2)
	QueueWait  time.Duration // for the turn to run (2 s)
	QueueLimit int           // callers waiting for their turn (64)
}

// DefaultLimits are the bounds that hold where none is given. No script runs longer than Wall says here.
var DefaultLimits = Limits{
	Wall: 10 * time.Second, CPU: 5 * time.Second, Memory: 256 << 20, Stack: 500, Calls: 10_000,
	Source: 256 << 10, Output: 8 << 20, Log: 64 << 10,
	Workers: 2 * runtime.GOMAXPROCS(0), PerUser: 2, Spares: 2, QueueWait: 2 * time.Second, QueueLimit: 64,
}

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	l.Wall = min(cmp.Or(l.Wall, d.Wall), d.Wall)
	l.CPU = cmp.Or(l.CPU, d.CPU)
	l.Memory = cmp.Or(l.Memory, d.Memory)
	l.Stack = cmp.Or(l.Stack, d.Stack)
	l.Calls = cmp.Or(l.Calls, d.Calls)
	l.Source = cmp.Or(l.Source, d.Source)
	l.Output = cmp.Or(l.Output, d.Output)
	l.Log = cmp.Or(l.Log, d.Log)
	l.Workers = cmp.Or(l.Workers, d.Workers)
	l.PerUser = cmp.Or(l.PerUser, d.PerUser)
	l.Spares = min(cmp.Or(l.Spares, d.Spares), 4)
	l.QueueWait = cmp.Or(l.QueueWait, d.QueueWait)
	l.QueueLimit = cmp.Or(l.QueueLimit, d.QueueLimit)
	return l
}

// Options make a Runner.
type Options struct {
	Worker []string // command line that ends in WorkerMain
	Limits Limits
	Log    *slog.Logger // nil: slog.Default
}

// Runner runs scripts and keeps what they share: the worker processes.
type Runner struct {
	kinds   sync.Once
	library *library.Kind
	limits  Limits
	log     *slog.Logger
	slots   *slots.Slots
	pool    *pool
	table   atomic.Pointer[bound]
}

// New makes a runner. Worker processes start with the first script that needs one.
func New(o Options) *Runner {
	r := &Runner{limits: o.Limits.withDefaults(), log: o.Log}
	if r.log == nil {
		r.log = slog.Default()
	}
	l := &r.limits
	r.slots = slots.New(slots.Limits{Total: l.Workers, PerUser: l.PerUser, Queue: l.QueueLimit, Wait: l.QueueWait})
	r.pool = newPool(o.Worker, r.limits, r.log)
	return r
}

// Ready returns why the last worker process did not start, or nil.
func (r *Runner) Ready(context.Context) error { return r.pool.state() }

// Workers are the worker processes by what they do.
type Workers struct {
	Busy    int // run a script
	Idle    int // have run scripts and wait for more
	Spare   int // have not run any script yet
	Waiting int // callers that wait for their turn
}

// Workers counts the worker processes, and the callers that wait for one.
func (r *Runner) Workers() Workers {
	w := r.pool.workers()
	_, w.Waiting = r.slots.Counts()
	return w
}

// Close ends the worker processes. Runs under way fail.
func (r *Runner) Close() error {
	r.slots.Close()
	return r.pool.close()
}

// bound is the tree of operations of one set.
type bound struct {
	set   *engine.Set
	names *names
}

// namesOf returns the tree of a set's operations, made once.
func (r *Runner) namesOf(s *engine.Set) *names {
	if b := r.table.Load(); b != nil && b.set.Same(s) {
		return b.names
	}
	var all, reads []string
	for _, name := range s.Names() {
		called := []string{name}
		d, ok := s.Op(name)
		if ok {
			called = append(called, d.Aliases...)
		}
		all = append(all, called...)
		if ok && d.Effect != engine.Writes {
			reads = append(reads, called...)
		}
	}
	b := &bound{set: s, names: newNames(all, reads...)}
	r.table.Store(b)
	return b.names
}
