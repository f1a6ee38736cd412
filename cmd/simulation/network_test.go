package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"catena/storage/cluster"
	"catena/storage/kv"
	"catena/storage/outbox"
)

// network is what several servers share besides the disk. Messages between them get lost, late or doubled; one may be cut
// off, while it believes to be alone; and their clocks differ.
type network struct {
	numbers
	w      *world
	random *rand.Rand // what becomes of messages
	skew   []time.Duration
	before kv.Snapshot // an older state, for a mutation

	mu    sync.Mutex
	jobs  map[string]*holder
	tasks map[string]*holder
}

// holder is a server that carries out something that one at a time may.
type holder struct {
	s   *server
	ctx context.Context //nolint:containedctx // until it ends, the server may carry it out
}

// maxSkew is by how much clocks of servers are wrong once they have been compared with that of the database.
const maxSkew = time.Second

func newNetwork(w *world) *network {
	n := &network{w: w, random: rand.New(rand.NewPCG(w.seed, 4)), jobs: map[string]*holder{}, tasks: map[string]*holder{}}
	n.running = map[uint64]bool{}
	for range w.servers {
		n.skew = append(n.skew, time.Duration(n.random.Int64N(2*int64(maxSkew)))-maxSkew)
	}
	return n
}

func (n *network) clock(at int) func() time.Time {
	return func() time.Time { return time.Now().Add(n.skew[at]) }
}

func (n *network) join(s *store) *node { return &node{store: s, net: n} }

// snapshot is that of the disk, or an older one if a mutation has reads lag behind.
func (n *network) snapshot(ctx context.Context, d *disk, write bool) (kv.Snapshot, error) {
	now, err := d.Begin(ctx, write)
	if err != nil || write || !d.wrong.stale {
		return now, err
	}
	was := n.before
	if was == nil || d.wrong.random.IntN(20) == 0 {
		n.before = now
	}
	if was == nil || d.wrong.random.IntN(4) > 0 {
		return now, nil
	}
	return was, nil
}

func (n *network) others(than *node) (all []*node) {
	for _, s := range n.w.servers {
		if s != nil && s.node != than {
			all = append(all, s.node)
		}
	}
	return all
}

// send has a wake-up arrive never, soon, later, or twice.
func (n *network) send(from, to *node, topic string) {
	n.mu.Lock()
	luck, soon, later := n.random.IntN(8), time.Duration(n.random.Int64N(int64(50*time.Millisecond))), time.Duration(n.random.Int64N(int64(10*time.Second)))
	n.mu.Unlock()
	if luck < 2 || from.cut.Load() {
		return
	}
	arrive := func() {
		if !to.cut.Load() && !to.dead.Load() {
			to.topics.Wake([]string{topic})
		}
	}
	if luck != 2 {
		time.AfterFunc(soon, arrive)
	}
	if luck < 4 {
		time.AfterFunc(later, arrive)
	}
}

// later has a message be under way.
func (n *network) later(d time.Duration) error {
	time.Sleep(d)
	return nil
}

// cut cuts a server off for a while.
func (w *world) cut() {
	at := w.one()
	d := w.servers[at].node
	span := time.Duration(1+w.sched.random.IntN(60)) * time.Second
	w.sched.history.add("server %d is cut off for %s", at, span)
	d.cut.Store(true)
	time.AfterFunc(span, func() { d.cut.Store(false) })
}

// heal connects all servers.
func (w *world) heal() {
	for _, s := range w.servers {
		if s.node != nil {
			s.node.cut.Store(false)
		}
	}
}

// free has servers work on without the scheduler, while nothing is left to be done but to wait.
func (w *world) free() {
	for _, s := range w.servers {
		if s.node == nil {
			continue
		}
		for _, a := range s.node.actors {
			a.free.Store(true)
		}
	}
}

// serve has a server be one of several: it renews its row, and carries out tasks while it is its duty.
func (n *network) serve(s *server, tasks map[string]func(context.Context) error) error {
	m, err := cluster.Join(s.ctx, s.repo, cluster.Node{Address: fmt.Sprint("server", s.store.at)})
	if err != nil {
		return err
	}
	n.w.loop(s, "node", m.Run)
	for _, name := range []string{"sweep", "text"} {
		a := n.w.actorIn(s, name)
		run := tasks[name]
		n.w.loop(s, "duty of "+name, func(ctx context.Context) error {
			return m.OnDuty(ctx, name, func(ctx context.Context) error {
				defer n.enter(n.tasks, name, &holder{s, ctx})()
				return run(a.as(ctx))
			})
		})
	}
	return nil
}

// enter notes that a server carries something out, and that it has stopped when the function returned is called.
func (n *network) enter(in map[string]*holder, what string, h *holder) (leave func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.ctx.Err() != nil {
		return func() {} // it has been told to stop before it has begun
	}
	if was := in[what]; was != nil && was.s != h.s && was.ctx.Err() == nil && !was.s.store.dead.Load() {
		n.w.problem("%s: carried out by servers %d and %d at the same time", what, was.s.store.at, h.s.store.at)
	}
	in[what] = h
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if in[what] == h {
			delete(in, what)
		}
	}
}

// alone has jobs of several servers be noted while they are carried out.
func (w *world) alone(s *server, do func(context.Context, outbox.Job) error) func(context.Context, outbox.Job) error {
	if w.network == nil {
		return do
	}
	return func(ctx context.Context, j outbox.Job) error {
		defer w.network.enter(w.network.jobs, "job "+j.ID, &holder{s, ctx})()
		return do(ctx, j)
	}
}

// TestNodes plays seeds with two servers on one store.
func TestNodes(t *testing.T) { playAll(t, seeds(60)/4, 2) }

// TestReplayNodes holds that a seed of two servers always gives the same history.
func TestReplayNodes(t *testing.T) { replay(t, 6, 2) }
