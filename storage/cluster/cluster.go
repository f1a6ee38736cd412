// Package cluster records which processes serve a store together, and which of them performs the work that only one
// may do. Each renews a row of its own; one whose row grows old is lost, and others take over its duties. No node is
// special, and none waits for another one: what requests do rests on transactions alone.
//
// A duty is a row with its holder and until when it is held. It is taken in a
// transaction, so of two nodes that try at the same time one loses. All times are those of the store's clock,
// since the clocks of machines differ. The holder renews well before the end, and others wait until after it,
// so that a node which is slow to notice its loss does not work beside the next one for long.
//
// What a process has begun and nobody else can carry on rests on its lease (Lease): once that has expired, others may declare
// the work lost.
package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

const (
	// Beat is how often a node renews its row, and its duties with it.
	Beat = 3 * time.Second
	// Lost is after how long without one a node counts as lost, and its duties are taken over.
	Lost = 15 * time.Second
	// forgotten is after how long the row of a lost node is removed.
	forgotten = 10 * time.Minute
)

const (
	nodes  = "node"
	duties = "duty"
)

// Node is a process that serves the store.
type Node struct {
	ID      string    `json:"id"`
	Address string    `json:"address"` // where it listens
	Host    string    `json:"host"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"` // by the clock that all nodes share
	Lost    bool      `json:"lost,omitempty"`
	Lacks   *[]string `json:"lacks,omitempty"` // deployed texts that do not work on it; nil: not known
}

// nodeRow is what the store has of a node.
type nodeRow struct {
	Node
	// What nodes of older versions do not say.
	Keeps    bool `json:"keeps"`
	Declares bool `json:"declares"`
	Zones    bool `json:"zones"`
	Files    bool `json:"files"`
}

// able reports whether the node is able to do something.
func (n *nodeRow) able(what storage.Ability) bool {
	switch what {
	case storage.Follows:
		return n.Declares
	case storage.IndexesFiles:
		return n.Files
	case storage.KeepsAutomatic:
		return n.Keeps
	case storage.MapsZones:
		return n.Zones
	}
	return false
}

// Owner knows what all nodes are able to do. A lost one that comes back may still write.
var Owner = storage.Owner{Name: "nodes", Able: func(t *storage.Tx, what storage.Ability) (bool, error) {
	for _, raw := range t.Table(nodes).Scan("", "", false, 0) {
		n, err := decoded[nodeRow](raw, "node")
		if err != nil || !n.able(what) {
			return false, err
		}
	}
	return true, t.Err()
}}

// duty is what one node at a time carries out.
type duty struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// List returns the nodes, by when they were started, for administrators.
func List(t *storage.Tx) ([]Node, error) {
	if !t.Principal().Is() {
		return nil, fault.Denied.Errorf("only administrators may list nodes, not '%s'", t.Principal().Name)
	}
	return list(t)
}

func list(t *storage.Tx) (all []Node, err error) {
	for _, raw := range t.Table(nodes).Scan("", "", false, 0) {
		n, err := decoded[Node](raw, "node")
		if err != nil {
			return nil, err
		}
		n.Lost = t.Now().Sub(n.Seen) > Lost
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b Node) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
	return all, t.Err()
}

func decoded[T any](raw json.RawMessage, what string) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fault.Internal.Errorf("%s: %w", what, err)
	}
	return v, nil
}

// Member is this process as a node.
type Member struct {
	repo *storage.Repo
	log  *slog.Logger
	self Node
	last atomic.Int64 // when the row was renewed last, by the clock of the machine
	seen atomic.Int64 // how many nodes are there

	mu sync.Mutex // of self.Started and self.Lacks
}

// Join adds this process to the nodes of a store.
func Join(ctx context.Context, r *storage.Repo, self Node) (*Member, error) {
	m := &Member{repo: r, log: r.Log(), self: self}
	if m.self.ID == "" {
		m.self.ID = r.NewID()
	}
	return m, m.beat(ctx)
}

// Run renews the row until ctx ends, and removes it then.
func (m *Member) Run(ctx context.Context) error {
	t := time.NewTicker(Beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return m.leave(ctx)
		case <-t.C:
			short, cancel := context.WithTimeout(ctx, Beat)
			if err := m.beat(short); err != nil && ctx.Err() == nil {
				m.log.Warn("node cannot renew its row", "err", err)
			}
			cancel()
		}
	}
}

func (m *Member) beat(ctx context.Context) error {
	began := time.Now()
	err := m.repo.Update(ctx, m.repo.System(), func(t *storage.Tx) error {
		m.mu.Lock()
		if m.self.Started.IsZero() {
			m.self.Started = t.Now()
		}
		n := m.self
		m.mu.Unlock()
		n.Seen = t.Now()
		return t.Table(nodes).Put(n.ID, nodeRow{n, true, true, true, true})
	})
	if err != nil {
		return err
	}
	m.last.Store(began.UnixNano())
	return m.forget(ctx)
}

// forget removes the rows of nodes that were lost long ago.
func (m *Member) forget(ctx context.Context) error {
	var all []Node
	err := m.repo.View(ctx, m.repo.System(), func(t *storage.Tx) (err error) {
		all, err = list(t)
		all = slices.DeleteFunc(all, func(n Node) bool { return n.Lost && t.Now().Sub(n.Seen) <= forgotten })
		return err
	})
	if err != nil {
		return err
	}
	m.seen.Store(int64(len(all)))
	for _, n := range all {
		if !n.Lost {
			continue
		}
		if err := m.remove(ctx, n.ID); err != nil {
			return err
		}
	}
	return nil
}

func (m *Member) remove(ctx context.Context, id string) error {
	return m.repo.Update(ctx, m.repo.System(), func(t *storage.Tx) error { return t.Table(nodes).Delete(id) })
}

// leave gives up what this node holds, also when ctx has ended.
func (m *Member) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Beat)
	defer cancel()
	return m.remove(ctx, m.self.ID)
}

// Status returns why this node should get no requests, or nil: it has not reached the store for a while.
func (m *Member) Status(context.Context) error {
	if since := time.Since(time.Unix(0, m.last.Load())); since > Lost {
		return fault.Unavailable.Errorf("node: has not reached the store for %s", since.Round(time.Second))
	}
	return nil
}

// ID is that of this process among the nodes.
func (m *Member) ID() string { return m.self.ID }

// Count is how many nodes were there at the last beat.
func (m *Member) Count() int { return int(m.seen.Load()) }

// OnDuty runs what only one node may carry out at a time: when this one holds the duty, and until ctx ends or it has lost
// it. A node that does not reach the store stops before another one can begin.
func (m *Member) OnDuty(ctx context.Context, name string, run func(context.Context) error) error {
	for ctx.Err() == nil {
		until, err := m.hold(ctx, name)
		if err != nil && ctx.Err() == nil {
			m.log.Warn("duty cannot be asked for", "duty", name, "err", err)
		}
		if !time.Now().Before(until) {
			select {
			case <-ctx.Done():
			case <-time.After(Beat):
			}
			continue
		}
		if err := m.serve(ctx, name, until, run); err != nil {
			return err
		}
	}
	return nil
}

// serve carries out a duty that is held until a time by the clock of the machine.
func (m *Member) serve(ctx context.Context, name string, until time.Time, run func(context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	// A renewal may wait for longer than the duty is held, for a commit whose answer does not come.
	end := time.AfterFunc(time.Until(until), stop)
	defer end.Stop()
	done := make(chan error, 1)
	go func() { done <- run(working) }()
	t := time.NewTicker(Beat)
	defer t.Stop()
	for {
		select {
		case err := <-done:
			stop()
			m.release(ctx, name)
			return err
		case <-t.C:
			if working.Err() != nil || !time.Now().Before(until) {
				continue // it has been given up, maybe at this instant, and only its end is waited for
			}
			short, cancel := context.WithTimeout(working, Beat)
			next, err := m.hold(short, name)
			cancel()
			switch {
			case err == nil && next.IsZero():
				stop()
			case err == nil:
				until = next
				end.Reset(time.Until(until))
			}
		}
	}
}

// hold takes or renews a duty, and returns until when this node may carry it out, the zero time if another one has it. That is
// some time before others may take it, as clocks differ, and counted from before the transaction began.
func (m *Member) hold(ctx context.Context, name string) (until time.Time, err error) {
	began := time.Now()
	err = m.repo.Update(ctx, m.repo.System(), func(t *storage.Tx) error {
		until = time.Time{}
		var d duty
		if _, err := t.Table(duties).Get(name, &d); err != nil {
			return err
		}
		if d.Holder != m.self.ID && t.Now().Before(d.Until) {
			return nil
		}
		until = began.Add(Lost - Beat)
		return t.Table(duties).Put(name, duty{m.self.ID, t.Now().Add(Lost)})
	})
	if err != nil {
		return time.Time{}, err
	}
	return until, nil
}

// release lets another node take over at once, also when ctx has ended.
func (m *Member) release(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Beat)
	defer cancel()
	err := m.repo.Update(ctx, m.repo.System(), func(t *storage.Tx) error {
		var d duty
		if ok, err := t.Table(duties).Get(name, &d); err != nil || !ok || d.Holder != m.self.ID {
			return err
		}
		return t.Table(duties).Delete(name)
	})
	if err != nil {
		m.log.Warn("duty cannot be given up", "duty", name, "err", err)
	}
}
