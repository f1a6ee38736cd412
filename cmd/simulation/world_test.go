package simulation

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/google/uuid"

	"catena/chains"
	"catena/decks"
	"catena/engine"
	"catena/engine/delivery"
	"catena/engine/workflow"
	"catena/ops"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/directory"
	grants "catena/storage/grant"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/outbox"
	"catena/storage/owner"
	"catena/storage/schema"
	hooks "catena/storage/webhook"
)

const (
	clients       = 8
	administrator = "Administrator"
	grace         = 10 * time.Minute // for which content that nobody refers to is kept
)

// declared never changes once loaded.
var declared = sync.OnceValue(func() (d struct {
	types       *schema.Registry
	directories *directory.Registry
	set         *engine.Set
	err         error
},
) {
	if d.types, d.err = schema.Load(schema.Defaults()); d.err != nil {
		return d
	}
	if d.directories, d.err = directory.Load(d.types, directory.Defaults()); d.err != nil {
		return d
	}
	if d.set, d.err = engine.NewSet(append(ops.All(ops.Config{}), chains.New().Ops(), decks.Ops())...); d.err == nil {
		d.set, d.err = chains.Builtin(d.set)
	}
	return d
})

// world is one run.
type world struct {
	t       *testing.T
	seed    uint64
	plan    plan
	sched   *scheduler
	disk    *disk
	machine *machine // nil: the disk is in memory
	blobs   *blob.Store
	begun   int // loops
	servers []*server
	network *network // nil: there is one server
	wrong   mutation

	ids     []atomic.Uint64 // of each server
	calls   []*call
	made    []*create // documents that clients know of
	reviews []*start
	decks   []int64
	tokens  int
	model   *model
	got     *receiver
	active  atomic.Int32 // clients that have not ended
	over    bool         // the server cannot be started

	mu       sync.Mutex
	problems []string
}

// server is one process: it ends with a crash or with the run.
type server struct {
	store  *store
	node   *node // that has the store of several servers, nil if there is one server
	repo   *storage.Repo
	engine *engine.Engine
	ctx    context.Context //nolint:containedctx // of all it does
	stop   context.CancelFunc
	loops  sync.WaitGroup
	busy   atomic.Int32 // loops that have not ended
	calls  atomic.Int32 // calls that have not ended
}

func newWorld(t *testing.T, seed uint64, keep bool, wrong mutation, nodes int) *world {
	cryptotest.SetGlobalRandom(t, seed)
	r := rand.New(rand.NewPCG(seed, 0))
	wrong.random = rand.New(rand.NewPCG(seed, 1))
	blobs, err := blob.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, seed: seed, plan: planOf(r), sched: &scheduler{random: r, history: newHistory(keep), delivering: map[int]bool{}}, wrong: wrong,
		disk: &disk{Store: memory.New()}, blobs: blobs, model: newModel(), got: &receiver{seed: seed, rename: wrong.rename, taken: map[string]string{}, tries: map[string]int{}},
		servers: make([]*server, nodes), ids: make([]atomic.Uint64, nodes),
	}
	if nodes > 1 {
		w.plan.share(r)
		w.network, w.got.slow = newNetwork(w), true
	}
	return w
}

// problem notes that something is not as it should be.
func (w *world) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// newID returns identifiers of a server that only the seed determines.
func (w *world) newID(at int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d", w.seed, at, w.ids[at].Add(1)))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

func half() float64 { return 0.5 }

// start starts a process on the disk.
func (w *world) start(at int) error {
	d := declared()
	if d.err != nil {
		return d.err
	}
	log := slog.New(watchful{w})
	s := &server{store: &store{disk: w.disk, sched: w.sched, at: at}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	w.servers[at] = s
	var rows kv.Store = s.store
	var clock func() time.Time
	if w.network != nil {
		s.node = w.network.join(s.store)
		rows, clock = s.node, w.network.clock(at)
	}
	newID := func() string { return w.newID(at) }
	var err error
	s.repo, err = storage.Open(s.ctx, storage.Config{
		DB: kv.New(rows, kv.Options{Jitter: half, Waited: w.sched.turned, Log: log}), Clock: clock, Blobs: w.blobs, Types: d.types, Beside: d.directories, Owners: slices.Concat(owner.All, ops.Owners, decks.Owners), Log: log,
		NewID: newID, Jitter: half, Secret: []byte("simulation"), PasswordMemory: 64, BlobGrace: grace,
	}, "simulation")
	if err != nil {
		return err
	}
	decks.Listen(s.repo)
	workflow.Watch(s.repo)
	sender := delivery.New(s.repo, w.got.post, log, nil)
	s.engine = engine.New(engine.Config{Repo: s.repo, Set: d.set, Log: log, NewID: newID, Uploads: ops.Uploads})
	w.loop(s, "jobs", func(ctx context.Context) error {
		return outbox.Run(ctx, s.repo, outbox.Handlers{hooks.JobKind: {Do: w.sched.deliver(at, w.alone(s, sender.Job))}, grants.JobKind: grants.Jobs(s.repo)})
	})
	sweep := func(ctx context.Context) error {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(grace / 3):
				_ = s.repo.Sweep(ctx) // tries again
			}
		}
		return nil
	}
	if w.network != nil {
		return w.network.serve(s, map[string]func(context.Context) error{"text": s.repo.RunText, "sweep": sweep})
	}
	w.loop(s, "text", s.repo.RunText)
	w.loop(s, "sweep", sweep)
	return nil
}

// actorIn is an actor that is a server itself.
func (w *world) actorIn(s *server, name string) *actor {
	if w.network == nil {
		return &actor{name: name}
	}
	a := &actor{name: fmt.Sprint(name, s.store.at), at: s.store.at}
	s.node.actors = append(s.node.actors, a)
	return a
}

// loop runs what works beside the calls.
func (w *world) loop(s *server, name string, run func(context.Context) error) {
	s.busy.Add(1)
	a := w.actorIn(s, name)
	w.begun++
	apart := time.Duration(w.begun) * time.Microsecond // or they would wake at the same instants, in an order that is the machine's choice
	s.loops.Go(func() {
		defer s.busy.Add(-1)
		time.Sleep(apart)
		if err := run(a.as(s.ctx)); err != nil && s.ctx.Err() == nil {
			w.problem("%s has ended: %v", name, err)
		}
	})
}

// watchful is a log that reports panics as problems.
type watchful struct{ w *world }

func (watchful) Enabled(context.Context, slog.Level) bool { return true }
func (l watchful) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l watchful) WithGroup(string) slog.Handler          { return l }

func (l watchful) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	if strings.Contains(text, "panic") {
		l.w.problem("logged: %s", text)
	}
	if r.Level >= slog.LevelWarn {
		l.w.sched.history.add("log: %s", strings.SplitN(text, "\n", 2)[0])
	}
	return nil
}
