package cluster

import (
	"context"
	"sync"
	"time"

	"catena/storage"
)

const leases = "lease"

// Lease says that this process lives, to those that would take over what it has begun. It is a row of its own, so that
// renewing it never disturbs the transaction of what was begun.
type Lease struct {
	repo *storage.Repo
	id   func() string // made when it is needed first: a server that begins nothing uses no identifier

	mu    sync.Mutex
	fresh time.Time // until when the row need not be written again, by the clock of the machine
}

// lease is the row.
type lease struct {
	Until time.Time `json:"until"`
}

// NewLease returns the lease of this process, which holds nothing yet.
func NewLease(r *storage.Repo) *Lease { return &Lease{repo: r, id: sync.OnceValue(r.NewID)} }

// ID is what the process is known by.
func (l *Lease) ID() string { return l.id() }

// Take holds the lease from the commit of a transaction of the server's own, in which something is begun that rests on it.
func (l *Lease) Take(t *storage.Tx) error {
	l.mu.Lock()
	fresh := time.Now().Before(l.fresh)
	l.mu.Unlock()
	if fresh {
		return nil
	}
	began := time.Now()
	t.AfterCommit(func() { l.renewed(began) })
	return t.Table(leases).Put(l.id(), lease{t.Now().Add(Lost)})
}

func (l *Lease) renewed(began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = began.Add(Beat)
}

// Renew holds the lease for longer. It is called every Beat while something rests on it; if nothing does, the lease ends by
// itself.
func (l *Lease) Renew(ctx context.Context) error {
	began := time.Now()
	err := l.repo.Update(ctx, l.repo.System(), func(t *storage.Tx) error {
		return t.Table(leases).Put(l.id(), lease{t.Now().Add(Lost)})
	})
	if err == nil {
		l.renewed(began)
	}
	return err
}

// Lives reports whether the process of a lease still holds it.
func Lives(t *storage.Tx, id string) (bool, error) {
	var l lease
	found, err := t.Table(leases).Get(id, &l)
	return found && t.Now().Before(l.Until), err
}

// EndLeases ends the leases of all processes of a store that one process at a time has open: it is called before that one
// takes its own.
func EndLeases(ctx context.Context, r *storage.Repo) error {
	return endLeases(ctx, r, func(*storage.Tx, lease) bool { return true })
}

// ForgetLeases removes what lost processes have left.
func ForgetLeases(ctx context.Context, r *storage.Repo) error {
	return endLeases(ctx, r, func(t *storage.Tx, l lease) bool { return t.Now().Sub(l.Until) > forgotten })
}

func endLeases(ctx context.Context, r *storage.Repo, ends func(*storage.Tx, lease) bool) error {
	some := false
	look := func(t *storage.Tx, found func(id string) error) error {
		for id, raw := range t.Table(leases).Scan("", "", false, 0) {
			l, err := decoded[lease](raw, "lease")
			if err == nil && ends(t, l) {
				err = found(id)
			}
			if err != nil {
				return err
			}
		}
		return t.Err()
	}
	err := r.View(ctx, r.System(), func(t *storage.Tx) error {
		return look(t, func(string) error { some = true; return nil })
	})
	if err != nil || !some {
		return err
	}
	return r.Update(ctx, r.System(), func(t *storage.Tx) error {
		return look(t, func(id string) error { return t.Table(leases).Delete(id) })
	})
}
