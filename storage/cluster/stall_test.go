package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"catena/storage"
	"catena/storage/cluster"
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
