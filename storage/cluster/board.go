package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"catena/storage"
)

// Board is where each node posts what the others are to know for a while: what callers have used of their limits, for example.
// A node writes its own row only, so that nodes never wait for each other, and reads those of the others when it wants to.
type Board struct {
	repo *storage.Repo
	name string
	node string
	keep time.Duration
}

// post is the row of a node.
type post struct {
	At    time.Time       `json:"at"`
	Value json.RawMessage `json:"value"`
}

// NewBoard returns a board of a store as a new node has it. What was posted longer ago than keep is no longer read, and removed.
func NewBoard(r *storage.Repo, name string, keep time.Duration) *Board {
	return &Board{repo: r, name: "board." + name, node: rand.Text(), keep: keep}
}

// Post replaces what this node has posted; nil removes it.
func (b *Board) Post(ctx context.Context, v any) error {
	if v == nil {
		return b.remove(ctx, b.node)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.repo.Update(ctx, b.repo.System(), func(t *storage.Tx) error {
		return t.Table(b.name).Put(b.node, post{t.Now(), raw})
	})
}

// Posted reads what other nodes have posted as values of one type, by node.
func Posted[T any](ctx context.Context, b *Board) (map[string]T, error) {
	var all map[string]T
	var old []string
	err := b.repo.View(ctx, b.repo.System(), func(t *storage.Tx) (err error) {
		all, old, err = PostedIn[T](t, b)
		return err
	})
	if err != nil || len(old) == 0 {
		return all, err
	}
	return all, b.remove(ctx, old...)
}

// PostedIn is Posted within a transaction. It also returns the nodes whose posts are too old.
func PostedIn[T any](t *storage.Tx, b *Board) (all map[string]T, old []string, err error) {
	all = map[string]T{}
	for node, raw := range t.Table(b.name).Scan("", "", false, 0) {
		p, err := decoded[post](raw, "post")
		if err != nil {
			return nil, nil, err
		}
		if t.Now().Sub(p.At) > b.keep {
			old = append(old, node)
			continue
		}
		if node == b.node {
			continue
		}
		if all[node], err = decoded[T](p.Value, "post"); err != nil {
			return nil, nil, err
		}
	}
	return all, old, t.Err()
}

func (b *Board) remove(ctx context.Context, nodes ...string) error {
	return b.repo.Update(ctx, b.repo.System(), func(t *storage.Tx) error {
		for _, node := range nodes {
			if err := t.Table(b.name).Delete(node); err != nil {
				return err
			}
		}
		return nil
	})
}
