package cluster_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

func join(t *testing.T, w *storagetest.World, id string) *cluster.Member {
	t.Helper()
	m, err := cluster.Join(t.Context(), w.Repo, cluster.Node{ID: id, Address: id + ":1"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNodes has nodes come and go: they are listed, and one that is heard of no more is lost.
func TestNodes(t *testing.T) {
	w := storagetest.NewWorld(t)
	a := join(t, w, "a")
	w.Now = w.Now.Add(time.Second)
	b := join(t, w, "b")
	w.Now = w.Now.Add(cluster.Lost)
	w.Read(w.System(), func(tx *storage.Tx) error {
		all, err := cluster.List(tx)
		if len(all) != 2 || all[0].ID != "a" || !all[0].Lost || all[1].Lost || all[1].Address != "b:1" {
			t.Errorf("%+v", all)
		}
		return err
	})
	if a.Count() != 1 || b.Count() != 2 || b.Status(t.Context()) != nil {
		t.Errorf("%d, %d, %v", a.Count(), b.Count(), b.Status(t.Context()))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := b.Run(ctx); err != nil {
		t.Fatal(err)
	}
	w.Read(w.System(), func(tx *storage.Tx) error {
		all, err := cluster.List(tx)
		if len(all) != 1 || all[0].ID != "a" {
			t.Errorf("after the second one has left: %+v", all)
		}
		return err
	})
	err := w.View(t.Context(), storage.Guest(), func(tx *storage.Tx) error { _, err := cluster.List(tx); return err })
	storagetest.WantKind(t, err, fault.Denied, "only administrators")
}

// TestDuty has two nodes ask for a duty: one at a time carries it out, the other one after it.
func TestDuty(t *testing.T) {
	w := storagetest.NewWorld(t)
	a, b := join(t, w, "a"), join(t, w, "b")
	var busy, runs atomic.Int32
	begun := make(chan string, 2)
	work := func(who string) func(context.Context) error {
		return func(ctx context.Context) error {
			if busy.Add(1) > 1 {
				t.Error("two nodes at a time")
			}
			defer busy.Add(-1)
			runs.Add(1)
			begun <- who
			<-ctx.Done()
			return nil
		}
	}
	first, stopFirst := context.WithCancel(t.Context())
	second, stopSecond := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- a.OnDuty(first, "sweep", work("a")) }()
	if who := <-begun; who != "a" {
		t.Fatalf("%s has begun", who)
	}
	go func() { done <- b.OnDuty(second, "sweep", work("b")) }()
	select {
	case who := <-begun:
		t.Fatalf("%s has begun", who)
	case <-time.After(100 * time.Millisecond):
	}
	stopFirst()
	select {
	case who := <-begun:
		if who != "b" {
			t.Errorf("%s has begun", who)
		}
	case <-time.After(3 * cluster.Beat):
		t.Error("nobody took over")
	}
	stopSecond()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if runs.Load() != 2 {
		t.Errorf("%d runs", runs.Load())
	}
}

// TestKeeps: indexes and zone maps that the server makes by itself are trusted as long as no node of an older version is registered, be it lost.
func TestKeeps(t *testing.T) {
	w := storagetest.NewWorld(t)
	join(t, w, "a")
	keeps := func(want bool) {
		t.Helper()
		w.Read(w.System(), func(tx *storage.Tx) error {
			for _, what := range []storage.Ability{storage.KeepsAutomatic, storage.MapsZones, storage.Follows, storage.IndexesFiles} {
				if ok, err := cluster.Owner.Able(tx, what); err != nil || ok != want {
					t.Errorf("%s: %t, %v, want %t", what, ok, err, want)
				}
			}
			return nil
		})
	}
	keeps(true)
	older := func(fn func(rows storage.Table) error) {
		t.Helper()
		if err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { return fn(tx.Table("node")) }); err != nil {
			t.Fatal(err)
		}
	}
	older(func(rows storage.Table) error {
		return rows.Put("b", cluster.Node{ID: "b", Version: "1.0.0", Seen: w.Now})
	})
	keeps(false)
	w.Now = w.Now.Add(2 * cluster.Lost)
	keeps(false)
	older(func(rows storage.Table) error { return rows.Delete("b") })
	keeps(true)
}
