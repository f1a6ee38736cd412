package storagetest

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/postgres"
	"catena/storage/postgres/pgtest"
)

// unused are tables of PostgreSQL that no test uses now. To make some, and to connect to them, takes longer than most tests.
var unused struct {
	sync.Mutex
	all []*set
}

// set is a schema with tables, and connections to it as of several processes.
type set struct {
	schema string
	stores []*postgres.Store
}

// tables returns an empty store as n processes have it, which is given back when the test ends.
func tables(t testing.TB, n int) []kv.Store {
	t.Helper()
	s := take()
	for len(s.stores) < n {
		one, err := postgres.Open(context.Background(), pgtest.Address(t), postgres.Options{Log: slog.New(slog.DiscardHandler), Schema: s.schema, Connections: 4})
		check(t, err)
		s.stores = append(s.stores, one)
	}
	lent := make([]kv.Store, n)
	for i := range lent {
		lent[i] = &loan{Store: s.stores[i]}
	}
	t.Cleanup(func() { s.giveBack(t, lent) })
	return lent
}

func take() *set {
	unused.Lock()
	defer unused.Unlock()
	if n := len(unused.all); n > 0 {
		s := unused.all[n-1]
		unused.all = unused.all[:n-1]
		return s
	}
	return &set{schema: pgtest.Schema()}
}

// giveBack empties the tables for the next test, once nothing of this one uses them.
func (s *set) giveBack(t testing.TB, lent []kv.Store) {
	t.Helper()
	for i, l := range lent {
		check(t, l.Close())
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if used, _, _ := s.stores[i].Connections(); used == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("a transaction is open a minute after the end of the test")
			}
		}
	}
	pgtest.Empty(t, s.schema)
	unused.Lock()
	defer unused.Unlock()
	unused.all = append(unused.all, s)
}

// loan is a store that a test has until it closes it. It stays connected for the next one.
type loan struct {
	*postgres.Store
	closed atomic.Bool
}

var errClosed error = fault.Unavailable.Errorf("store: closed")

// Begin opens a snapshot.
func (l *loan) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	if l.closed.Load() {
		return nil, errClosed
	}
	return l.Store.Begin(ctx, write)
}

// BeginAlone opens a snapshot that holds up the commits of others.
func (l *loan) BeginAlone(ctx context.Context) (kv.Snapshot, error) {
	if l.closed.Load() {
		return nil, errClosed
	}
	return l.Store.BeginAlone(ctx)
}

// Value returns the committed value of a key.
func (l *loan) Value(ctx context.Context, key []byte) ([]byte, error) {
	if l.closed.Load() {
		return nil, errClosed
	}
	return l.Store.Value(ctx, key)
}

// Swap changes the value of a key.
func (l *loan) Swap(ctx context.Context, key, before, now []byte) (bool, error) {
	if l.closed.Load() {
		return false, errClosed
	}
	return l.Store.Swap(ctx, key, before, now)
}

// Close ends the use by the test.
func (l *loan) Close() error {
	l.closed.Store(true)
	return nil
}
