package cluster_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/kv/kvtest"
	"catena/storage/memory"
	"catena/storage/storagetest"
)

// TestDutyStalls has a node renew its duty without getting an answer, for longer than the duty is held: it has stopped before
// the other one begins, although its renewal is still under way, and takes over again only once the other one has ended.
func TestDutyStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := memory.New()
		first := &kvtest.Stalling{Store: rows}
		a, b := member(t, first, "a"), member(t, rows, "b")
		ctx, stop := context.WithCancel(t.Context())
		type turn struct {
			who string
			ctx context.Context //nolint:containedctx // of the work
		}
		begun, ended := make(chan turn, 4), make(chan error, 2)
		for who, m := range map[string]*cluster.Member{"a": a, "b": b} {
			work := func(ctx context.Context) error {
				begun <- turn{who, ctx}
				<-ctx.Done()
				return nil
			}
			go func() {
				if who == "b" {
					time.Sleep(time.Second)
				}
				ended <- m.OnDuty(ctx, "sweep", work)
			}()
		}
		was := <-begun
		if was.who != "a" {
			t.Fatalf("%s has begun", was.who)
		}
		time.Sleep(5 * cluster.Lost)
		synctest.Wait()
		if was.ctx.Err() != nil {
			t.Error("a node that renews its duty has lost it")
		}
		heal := first.Stall()
		stalled := time.Now()
		next := <-begun
		if next.who != "b" || was.ctx.Err() == nil {
			t.Errorf("%s has begun, and the first node has been told to end: %v", next.who, was.ctx.Err())
		}
		if took := time.Since(stalled); took > cluster.Lost+2*cluster.Beat {
			t.Errorf("taken over after %s", took)
		}
		heal()
		time.Sleep(3 * cluster.Lost)
		synctest.Wait()
		if next.ctx.Err() != nil || len(begun) > 0 {
			t.Error("the first node has taken the duty of the second one")
		}
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// member is a node with a repository of its own on a store.
func member(t *testing.T, rows kv.Store, id string) *cluster.Member {
	t.Helper()
	repo := storagetest.Open(t, func(c *storage.Config) { c.DB = kv.New(rows, kv.Options{}) })
	m, err := cluster.Join(t.Context(), repo, cluster.Node{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// failing is a store that cannot be written to any longer, and counts how often that was tried.
type failing struct {
	kv.Store
	down  atomic.Bool
	tries atomic.Int32
}

func (f *failing) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	if f.down.Load() {
		f.tries.Add(1)
		return nil, fault.Unavailable.Errorf("down")
	}
	return f.Store.Begin(ctx, write)
}

// TestDutyEndsAtABeat holds that a node does not try to renew a duty at the instant at which it ends, whichever timer is first.
func TestDutyEndsAtABeat(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			rows := &failing{Store: memory.New()}
			m := member(t, rows, "a")
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- m.OnDuty(ctx, "sweep", func(ctx context.Context) error { <-ctx.Done(); return nil })
			}()
			synctest.Wait()
			rows.down.Store(true)
			time.Sleep(cluster.Lost - cluster.Beat)
			synctest.Wait()
			// Three renewals; then it gives the duty up, and asks for it.
			if n := rows.tries.Load(); n != 5 {
				t.Errorf("%d tries instead of 5", n)
			}
			rows.down.Store(false)
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
