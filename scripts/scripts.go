// Package scripts runs JavaScript over the table of operations: an operation is called
// as Document.Create(input, {type: "File"}), documents and files are handles, everything
// else is a copy. One bridge (machine) serves two places. Scripts deployed by an
// administrator run in the server's process; text that a caller sends is parsed,
// compiled and run in a pooled process of its own, which may be killed at any moment
// without harm to anyone else. What a script may call is for the engine to decide; this
// package knows operations by name only.
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
)

// Limits bound one run of a script; zero values take the defaults.
type Limits struct {
	Wall       time.Duration // from the first instruction to the result (10 s)
	CPU        time.Duration // of a worker process, over one run (5 s)
	Memory     int64         // bytes of a worker's data; growth of the heap in process (256 MiB)
	Stack      int           // nested calls (500)
	Calls      int           // of operations and other things outside the script (10,000)
	Source     int           // bytes of source (256 KiB)
	Output     int           // bytes of one value that leaves the script (8 MiB)
	Log        int           // bytes of console output (64 KiB)
	Programs   int           // bytes of source kept compiled (16 MiB)
	Workers    int           // worker processes at work at once (twice the processors)
	PerUser    int           // of them for one principal (2)
	Spares     int           // worker processes kept ready (2)
	QueueWait  time.Duration // for a worker (2 s)
	QueueLimit int           // callers waiting for a worker (64)
}

// DefaultLimits are the bounds that hold where none is given. No script runs longer than Wall says here.
var DefaultLimits = Limits{
	Wall: matchTimeout, CPU: 5 * time.Second, Memory: 256 << 20, Stack: 500, Calls: 10_000,
	Source: 256 << 10, Output: 8 << 20, Log: 64 << 10, Programs: 16 << 20,
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
	l.Programs = cmp.Or(l.Programs, d.Programs)
	l.Workers = cmp.Or(l.Workers, d.Workers)
	l.PerUser = cmp.Or(l.PerUser, d.PerUser)
	l.Spares = min(cmp.Or(l.Spares, d.Spares), 4)
	l.QueueWait = cmp.Or(l.QueueWait, d.QueueWait)
	l.QueueLimit = cmp.Or(l.QueueLimit, d.QueueLimit)
	return l
}

// Options make a Runner.
type Options struct {
	Worker           []string // command line that ends in WorkerMain
	Limits           Limits
	Log              *slog.Logger // nil: slog.Default
	InProcessTrusted bool         // deployed scripts run in the server's process
}

// Runner runs scripts and keeps what they share: compiled programs and worker processes.
type Runner struct {
	kinds    sync.Once
	library  *library.Kind
	o        Options
	limits   Limits
	log      *slog.Logger
	programs *programs
	pool     *pool
	table    atomic.Pointer[bound]
}

// New makes a runner. Worker processes start with the first script that needs one.
func New(o Options) *Runner {
	r := &Runner{o: o, limits: o.Limits.withDefaults(), log: o.Log}
	if r.log == nil {
		r.log = slog.Default()
	}
	r.programs = newPrograms(r.limits.Programs)
	r.pool = newPool(o.Worker, r.limits, r.log)
	return r
}

// Warm starts the spare worker processes, so that the first script finds one ready.
func (r *Runner) Warm() { r.pool.warm() }

// Ready returns why no worker process can be started, or nil.
func (r *Runner) Ready(context.Context) error { return r.pool.ready() }

// Workers says how many worker processes there are, and how many callers wait for one.
func (r *Runner) Workers() Workers { return r.pool.workers() }

// Close ends the worker processes. Runs under way fail.
func (r *Runner) Close() error { return r.pool.close() }

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
	all := s.Names()
	for _, name := range s.Names() {
		if d, ok := s.Op(name); ok {
			all = append(all, d.Aliases...)
		}
	}
	b := &bound{set: s, names: newNames(all)}
	r.table.Store(b)
	return b.names
}
