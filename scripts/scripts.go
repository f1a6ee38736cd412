// Package scripts runs JavaScript on top of the operations: an operation is called as Document.Create(input, {type:
// "File"}), documents and files are handles, and everything else is a copy. Every script, deployed or sent by a
// caller, is parsed, compiled and run in a pooled worker process (WorkerMain), whose memory and time are bounded and
// which may be killed at any moment without harm to anyone else: nothing bounds what a script does to the process it
// runs in. The server's side of a run (supervisor) carries out what the script asks for. What a script may call is
// for the engine to decide; this package knows operations by name only.
//
// A run has two sides that talk over a pipe (wire.go). In the worker, a machine executes the JavaScript with
// goja; whatever the script calls becomes a frame to the server. On the server, the supervisor of the run
// reads the frames and calls the engine, within the transaction and with the rights of the caller of the
// script. The worker is not trusted: it has neither data nor secrets, and every frame is checked as if the
// script had written it itself.
//
// Round trips are what a script mostly waits for, so three things avoid them. A document is sent with its
// small properties, and asked for again only if it may have changed (remote.go). A call whose result nobody
// uses is not waited for (unused.go). And calls that follow a pattern are answered before the script makes
// them (ahead.go). Parameters that are written out are passed without an object that holds them (literal.go). None of
// these may change what a script computes.
//
// Processes are kept in a pool (pool.go): a worker runs one script at a time, for one owner only, and is
// killed rather than cleaned if anything about its last run was irregular.
package scripts

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"catena/engine"
	"catena/engine/library"
	"catena/engine/slots"
	"catena/storage/limit"
)

// Limits bound one run of a script; zero values take the defaults.
type Limits struct {
	Wall       time.Duration `setting:"script-time" default:"10s" max:"10s" doc:"longest time that a script may run"`
	CPU        time.Duration `setting:"limit-script-cpu" default:"5s" doc:"processor time of one script"`
	Memory     int64         `setting:"limit-script-memory" unit:"bytes" default:"256 MiB" doc:"memory of the process of a script"`
	Stack      int           `setting:"limit-script-stack" default:"500" doc:"nested calls of a script"`
	Calls      int           `setting:"limit-script-calls" default:"10000" doc:"operations and other functions outside the script that one script calls"`
	Source     int           `setting:"limit-script-source" unit:"bytes" default:"256 KiB" doc:"size of the source of a script"`
	Output     int           `setting:"limit-script-result" unit:"bytes" default:"8 MiB" doc:"size of one value that leaves a script"`
	Log        int           `setting:"limit-script-log" unit:"bytes" default:"64 KiB" doc:"size of the console output of a script"`
	Workers    int           `setting:"limit-script-workers" default:"2 per processor" doc:"scripts that run at the same time, not counting those that other scripts called"`
	PerUser    int           `setting:"limit-script-workers-user" default:"2" doc:"scripts of one user that run at the same time"`
	Spares     int           `setting:"limit-script-spares" default:"2" max:"4" doc:"script processes kept ready"`
	QueueWait  time.Duration `setting:"limit-script-queue-time" default:"2s" doc:"time that a caller waits for a script process"`
	QueueLimit int           `setting:"limit-script-queue" default:"64" doc:"callers that wait for a script process"`
}

// DefaultLimits are the bounds that hold where none is given. No script runs longer than Wall says here.
var DefaultLimits = limit.Defaults[Limits]()

// Options make a Runner.
type Options struct {
	Worker []string // command line that ends in WorkerMain
	Limits Limits
	Log    *slog.Logger // nil: slog.Default
}

// Runner runs scripts and keeps what they share: the worker processes. It is safe for concurrent use. Runs
// wait for one of limits.Workers places in slots before they take a process from the pool, except those that
// another run called: they have their caller's place, or callers could block each other for ever.
type Runner struct {
	kinds   sync.Once
	library *library.Kind

	moduleKinds   sync.Once
	moduleLibrary *library.Kind
	modules       atomic.Pointer[map[string]*module] // by name

	limits Limits
	log    *slog.Logger
	slots  *slots.Slots
	pool   *pool
	table  atomic.Pointer[bound]
}

// New makes a runner. Worker processes start with the first script that needs one.
func New(o Options) *Runner {
	r := &Runner{limits: o.Limits, log: o.Log}
	if r.log == nil {
		r.log = slog.Default()
	}
	limit.Fill(&r.limits)
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
	// The tree of hundreds of names is built once for each set of operations, not for each run.
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
