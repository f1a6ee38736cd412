// Package postgres is the key-value store in a PostgreSQL database, which several processes can share. Rows are in
// one table, and each transaction is one of the database, at the level SERIALIZABLE if it may write: the database
// finds the transactions that have no place in a serial order, and this package reads what a transaction says it
// rests on but has not read. A transaction waits for the database once per read, not counting reads that were fetched
// before, and once for the commit, which carries all writes.
//
// The outcome of a commit whose connection is lost is found out: every connection has a row of its own that each of its
// commits changes (see slot). Wake-ups travel through NOTIFY after the commit. Anything else that is specific to catena
// is left to the packages above.
package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options adjust a store; the zero value is right for a server.
type Options struct {
	Log *slog.Logger // default slog.Default
	// Connections bounds those for transactions; 0 is 24. A few more are for what transactions start themselves.
	Connections int
	// Schema is the schema of the tables, created if need be; "" is catena.
	Schema string
	// Alone has nobody else use the store while it is open: Open fails if somebody does.
	Alone bool
}

const (
	defaultConnections = 24
	// reserve is how many connections there are for transactions that were begun inside others, so that these cannot
	// keep all connections while they wait for one more.
	reserve = 8
)

// Bounds of waiting for the database, except for what the context of a call allows.
const (
	connectTime = 5 * time.Second
	commitTime  = 30 * time.Second // also of finding out what became of a commit
	endTime     = 5 * time.Second  // of ending a transaction whose result nobody waits for
	crowdTime   = time.Second      // for a connection, before one of the reserve is taken
)

// Store is a store in a database.
type Store struct {
	opts     Options
	log      *slog.Logger
	main     *pgxpool.Pool
	spare    *pgxpool.Pool
	identity string
	node     string // tells the wake-ups of this process from those of others
	topics   kv.Topics
	wakes    wakes
	places   places
	version  atomic.Uint64 // the number of the last snapshot
	skew     atomic.Int64  // by how much the clock of the database is ahead, in nanoseconds

	replica *replica // nil: the store is opened on the primary

	own    *pgx.Conn // holds the lock that keeps others out, nil if they need not be
	ownUse sync.Mutex

	stop    context.CancelFunc
	running sync.WaitGroup // listener, notifier, and transactions that are being ended
	gate    sync.RWMutex
	closed  bool
}

// Open connects to the database of an address, such as postgres://user@host/name, and creates or migrates the tables.
// A server that cannot keep the contract is refused with fault.Invalid, and the message says what to change.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Connections <= 0 {
		o.Connections = defaultConnections
	}
	if o.Schema == "" {
		o.Schema = "catena"
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id)
	s := &Store{opts: o, log: o.Log, node: hex.EncodeToString(id)}
	config, err := s.configure(address)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, config); err != nil {
		return nil, err
	}
	if o.Alone {
		if err := s.isolate(ctx, config.ConnConfig); err != nil {
			return nil, err
		}
	}
	if err := s.pools(ctx, config); err != nil {
		s.disown()
		return nil, err
	}
	working, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.wakes.init()
	s.running.Go(func() { s.listen(working, config) })
	s.running.Go(func() { s.notify(working) })
	return s, nil
}

// Begin opens a snapshot. The database is asked when something is read.
func (s *Store) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	return s.begin(&snapshot{s: s, ctx: ctx, write: write})
}

// BeginOptimistic opens a snapshot for a transaction that only reads, and runs again if a read answers kv.ErrConflict. It goes
// on from what another one has read, if before is one that read optimistically.
func (s *Store) BeginOptimistic(ctx context.Context, before kv.Snapshot) (kv.Snapshot, error) {
	snap := &snapshot{s: s, ctx: ctx, optimistic: true, notes: true}
	if b, ok := before.(*snapshot); ok && b.s == s && b.optimistic {
		snap.version, snap.known, snap.fetched, snap.size, snap.forgot, snap.late = b.version, b.known, b.fetched, b.size, b.forgot, b.late
	}
	return s.begin(snap)
}

// BeginAlone opens a snapshot that holds up the commits of all others until it is discarded.
func (s *Store) BeginAlone(ctx context.Context) (kv.Snapshot, error) {
	return s.begin(&snapshot{s: s, ctx: ctx, write: true, alone: true})
}

func (s *Store) begin(snap *snapshot) (kv.Snapshot, error) {
	if s.replica != nil {
		switch {
		case snap.write:
			return nil, errReplica
		case !s.hears(): // not even tried: somebody else can answer
			return nil, fault.Unavailable.Errorf("store: the replica does not answer")
		}
	}
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return nil, errClosed
	}
	s.running.Add(1)
	return snap, nil
}

// Watch subscribes to a topic.
func (s *Store) Watch(topic string) (<-chan struct{}, func()) { return s.topics.Watch(topic) }

// Identity is that of the table in its database cluster: a table that was restored from a dump is another one.
func (s *Store) Identity() string { return s.identity }

// Limits are the portable ones.
func (s *Store) Limits() kv.Limits { return kv.Portable }

// Skew is by how much the clock of the database is ahead of the one of this machine.
func (s *Store) Skew() time.Duration { return time.Duration(s.skew.Load()) }

// Connections returns how many connections for transactions are in use and idle, and how many there may be.
func (s *Store) Connections() (used, idle, limit int) {
	for _, p := range []*pgxpool.Pool{s.main, s.spare} {
		now := p.Stat()
		used, idle, limit = used+int(now.AcquiredConns()), idle+int(now.IdleConns()), limit+int(now.MaxConns())
	}
	return used, idle, limit
}

// Close waits for open snapshots and disconnects.
func (s *Store) Close() error {
	s.gate.Lock()
	if s.closed {
		s.gate.Unlock()
		return nil
	}
	s.closed = true
	s.gate.Unlock()
	s.stop()
	s.running.Wait()
	s.main.Close()
	s.spare.Close()
	s.disown()
	return nil
}

// disown lets others use the store.
func (s *Store) disown() {
	if s.own == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	_ = s.own.Close(ctx)
}

var errClosed error = fault.Unavailable.Errorf("store: closed")
