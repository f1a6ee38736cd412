package engine

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"catena/engine/pdf"
	"catena/engine/program"
	"catena/engine/quoted"
	"catena/engine/slots"
	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/limit"
	"catena/storage/maintenance"
	"catena/storage/outbox"
)

// Config makes an engine.
type Config struct {
	Repo     *storage.Repo
	Set      *Set
	Limits   Limits
	Log      *slog.Logger      // nil: slog.Default
	PDF      *pdf.Tool         // nil: PDF files are read in this process
	Programs *program.Programs // nil: no programs of others convert files
	Clock    func() time.Time  // nil: time.Now
	NewID    func() string     // nil: random UUIDs

	Uploads Uploads

	Keeper Keeper // nil: no chain can wait, and no step can be undone
}

// Engine runs operations on one repository. Those of a server's repositories share everything else.
type Engine struct {
	*core
	repo    *storage.Repo
	replica atomic.Pointer[Replica] // nil: there is none
}

// Replica is a copy of a repository that is behind it.
type Replica struct {
	Repo *storage.Repo
	// Behind returns how old what the copy shows may be; ok is false if it cannot be asked.
	Behind func() (age time.Duration, ok bool)
}

// Follow has a replica answer calls that only read and accept its age; nil for none.
func (e *Engine) Follow(r *Replica) { e.replica.Store(r) }

// view runs an attempt that only reads: on the replica if the call accepts its age, otherwise, and where that fails, on the
// repository, for what is missing on a replica may only not have arrived yet.
func (r *running) view(ctx context.Context, attempt func(*storage.Tx) error) error {
	e, call := r.e, r.call
	if rep := e.replica.Load(); rep != nil && call.MaxStale > 0 {
		if age, ok := rep.Behind(); ok && age <= min(call.MaxStale, e.limits.Staleness) {
			if r.res.Age = max(age, 1); rep.Repo.View(ctx, call.As, attempt) == nil {
				return nil
			}
			r.res.Age = 0
		}
	}
	return e.repo.View(ctx, call.As, attempt)
}

// idle are calls that have ended and left nothing behind.
var idle = sync.Pool{New: func() any { return new(running) }}

// result returns what the call returned. The running is used again only if nothing else can still refer to it. The result
// is copied out before that.
func (r *running) result() *Result {
	if r.lasts() {
		return &r.res
	}
	res := new(Result)
	*res = r.res
	*r = running{}
	idle.Put(r)
	return res
}

// lasts reports whether something may still refer to a call that has ended: a collector that is told of it, somebody who waited
// for the end of its context, what is done after it, and what a transaction has left: the writes, the content of files,
// and a value that was not encoded.
func (r *running) lasts() bool {
	switch {
	case r.told != nil, r.end.timed != nil, r.after != nil:
		return true
	case r.ctx.Tx == nil:
		return false
	case r.def.Effect == Writes, r.call.Encode == nil:
		return true
	}
	switch r.res.Value.(type) {
	case *Blob, Blobs:
		return true
	}
	return false
}

// core is what the engines of several repositories share.
type core struct {
	engines   sync.Map // *storage.Repo to *Engine
	set       atomic.Pointer[Set]
	swap      sync.Mutex
	limits    Limits
	log       *slog.Logger
	clock     func() time.Time
	newID     func() string
	traces    *TraceStore
	spans     atomic.Pointer[Spans] // nil: calls are told to nobody
	live      *live
	failures  failures
	recorder  recorder
	counters  counters
	pdf       *pdf.Tool
	programs  *program.Programs
	uploads   Uploads
	keeper    Keeper
	board     *cluster.Board                 // where servers that share the store show each other what runs; nil: it is not shared
	first     *storage.Repo                  // that has the board
	others    atomic.Pointer[cluster.Member] // this server among those that share the store; nil: it is not shared
	computing *slots.Slots                   // for long computations
	quoted    quoted.Texts
	busy      sync.Map // idempotency keys of calls under way
}

// New makes an engine.
func New(c Config) *Engine {
	e := &Engine{repo: c.Repo, core: &core{
		limits: c.Limits, log: c.Log, clock: c.Clock, newID: c.NewID, pdf: c.PDF, programs: c.Programs, uploads: c.Uploads, keeper: c.Keeper,
	}}
	limit.Fill(&e.limits)
	e.engines.Store(c.Repo, e)
	if e.log == nil {
		e.log = slog.Default()
	}
	if e.pdf == nil {
		e.pdf = pdf.New(nil, "", pdf.Limits{})
	}
	if e.newID == nil {
		e.newID = uuid.NewString
	}
	e.traces = newTraceStore(e.limits, e.now)
	e.live = newLive()
	if e.repo != nil && e.repo.Shared() {
		e.board, e.first = cluster.NewBoard(e.repo, "running", sharedKept), e.repo
	}
	e.recorder.some, e.failures.turn = make(chan struct{}, 1), make(chan struct{}, 1)
	e.computing = slots.New(slots.Limits(e.limits.Computations))
	e.set.Store(c.Set)
	return e
}

// On returns the engine of another repository, with the same operations, limits and traces.
func (e *Engine) On(repo *storage.Repo) *Engine {
	if repo == e.repo {
		return e
	}
	other, _ := e.engines.LoadOrStore(repo, &Engine{core: e.core, repo: repo})
	return other.(*Engine)
}

// Named returns the engine of the repository of a name; nil if there is none.
func (e *Engine) Named(repository string) *Engine {
	if repo := e.repo.Sibling(repository); repo != nil {
		return e.On(repo)
	}
	return nil
}

// Set returns the operations that exist now.
func (e *Engine) Set() *Set { return e.set.Load() }

// Swap replaces the set by what fn makes of it. Calls under way keep the one they began with.
func (e *Engine) Swap(fn func(*Set) (*Set, error)) error {
	e.swap.Lock()
	defer e.swap.Unlock()
	s, err := fn(e.set.Load())
	if err == nil && s != nil {
		e.set.Store(s)
	}
	return err
}

// now is the present time by the engine's clock.
func (e *Engine) now() time.Time {
	if e.clock == nil {
		return time.Now()
	}
	return e.clock()
}

// Repo returns the repository.
func (e *Engine) Repo() *storage.Repo { return e.repo }

// Limits returns the bounds that hold.
func (e *Engine) Limits() Limits { return e.limits }

// Traces returns the traces of recent calls of this server.
func (e *Engine) Traces() *TraceStore { return e.traces }

// Join has the engine ask the other servers of a shared store for what they keep for themselves.
func (e *Engine) Join(m *cluster.Member) { e.others.Store(m) }

// System returns the server itself, which may do everything.
func (e *Engine) System() *Principal { return e.repo.System() }

// Guest returns somebody who did not sign in.
func (e *Engine) Guest() *Principal { return storage.Guest() }

// Ping checks that the store can be read.
func (e *Engine) Ping(ctx context.Context) error {
	return e.repo.View(ctx, e.repo.System(), func(tx *storage.Tx) error {
		_, err := tx.Root()
		return err
	})
}

// Stands is nil as long as what somebody signed in by is good.
func (e *Engine) Stands(ctx context.Context, as *Principal) error {
	return e.repo.View(ctx, as, func(*storage.Tx) error { return nil })
}

// PrincipalOf returns a user as one who acts, which is shared and not changed.
func (e *Engine) PrincipalOf(ctx context.Context, user string) (*Principal, error) {
	return e.repo.Principal(ctx, user)
}

// Backup writes a consistent copy of everything that is stored, while it is in use, for administrators.
func (e *Engine) Backup(ctx context.Context, as *storage.Principal, w io.Writer) error {
	return maintenance.Backup(ctx, e.Repo(), as, w)
}

// Explain returns an error that damaged content caused as one that names the documents with this content that the
// principal may read.
func (e *Engine) Explain(ctx context.Context, as *storage.Principal, err error) error {
	return maintenance.Explain(ctx, e.Repo(), as, err)
}

// WatchJobs returns a channel that receives after a job was carried out or has failed: a hint to look again.
func (e *Engine) WatchJobs() (settled <-chan struct{}, stop func()) { return outbox.Watch(e.Repo()) }

// counters count what the engine does.
type counters struct {
	calls, failures, retries atomic.Int64

	mu      sync.Mutex
	samples []Sample
}

// Sample is what the counters showed at an instant.
type Sample struct {
	Time   time.Time
	Values map[string]int64
}

const maxSamples = 100

// count notes how a call ended.
func (e *Engine) count(attempts int, err error) {
	e.counters.calls.Add(1)
	if attempts > 1 {
		e.counters.retries.Add(int64(attempts - 1))
	}
	if err != nil {
		e.counters.failures.Add(1)
	}
}

// Counters takes a sample of what the engine has done since its start, and returns it after those taken before.
func (e *Engine) Counters(now time.Time) []Sample {
	n := &e.counters
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Sample{now, map[string]int64{
		"catena.calls": n.calls.Load(), "catena.failures": n.failures.Load(), "catena.retries": n.retries.Load(),
	}}
	if len(n.samples) == maxSamples {
		n.samples = slices.Delete(n.samples, 0, 1)
	}
	n.samples = append(n.samples, s)
	return slices.Clone(n.samples)
}
