package cluster_test

import (
	"testing"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/storagetest"
)

// TestLease has a process hold its lease, lose it and be forgotten.
func TestLease(t *testing.T) {
	w := storagetest.NewWorld(t)
	a, b := cluster.NewLease(w.Repo), cluster.NewLease(w.Repo)
	lives := func(when string, l *cluster.Lease, want bool) {
		t.Helper()
		w.Read(w.System(), func(tx *storage.Tx) error {
			got, err := cluster.Lives(tx, l.ID())
			if got != want {
				t.Errorf("%s: lives %t", when, got)
			}
			return err
		})
	}
	if a.ID() == b.ID() {
		t.Fatal("two leases with one id")
	}
	lives("before it was taken", a, false)
	w.Write(w.System(), a.Take)
	w.Write(w.System(), b.Take)
	w.Now = w.Now.Add(cluster.Lost - time.Second)
	lives("before it ends", a, true)
	if err := a.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Now = w.Now.Add(time.Second)
	lives("renewed", a, true)
	lives("not renewed", b, false)
	if err := cluster.ForgetLeases(t.Context(), w.Repo); err != nil {
		t.Fatal(err)
	}
	if got := leases(w); got != 2 {
		t.Errorf("%d leases soon after one ended", got)
	}
	w.Now = w.Now.Add(11 * time.Minute)
	if err := cluster.ForgetLeases(t.Context(), w.Repo); err != nil {
		t.Fatal(err)
	}
	if got := leases(w); got != 0 {
		t.Errorf("%d leases long after both ended", got)
	}
	if err := a.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	lives("taken again", a, true)
	if err := cluster.EndLeases(t.Context(), w.Repo); err != nil {
		t.Fatal(err)
	}
	lives("after a restart", a, false)
}

// leases counts the rows.
func leases(w *storagetest.World) (n int) {
	w.Read(w.System(), func(tx *storage.Tx) error {
		for range tx.Table("lease").Scan("", "", false, 0) {
			n++
		}
		return nil
	})
	return n
}

// TestLeaseUncommitted takes a lease in a transaction that is not committed: the next one takes it.
func TestLeaseUncommitted(t *testing.T) {
	w := storagetest.NewWorld(t)
	l := cluster.NewLease(w.Repo)
	if err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		if err := l.Take(tx); err != nil {
			return err
		}
		return storage.ErrNobody
	}); err == nil {
		t.Fatal("committed")
	}
	w.Write(w.System(), l.Take)
	w.Read(w.System(), func(tx *storage.Tx) error {
		if lives, err := cluster.Lives(tx, l.ID()); !lives || err != nil {
			t.Errorf("%t %v", lives, err)
		}
		return nil
	})
}
