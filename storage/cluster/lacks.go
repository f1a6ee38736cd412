package cluster

import (
	"context"
	"slices"

	"catena/storage"
)

// maxTold is how many texts a node tells the others of. What is beyond it is not compared.
const maxTold = 200

// Compare tells the other nodes which deployed texts do not work on this one, in order, and returns those that work on one of
// them: this node is behind, while a text that works nowhere is no reason to have nobody answer. The database is asked only while
// there are such texts.
func (m *Member) Compare(ctx context.Context, lacks []string) (behind []string, err error) {
	told := append([]string{}, lacks[:min(len(lacks), maxTold)]...)
	m.mu.Lock()
	before := m.self.Lacks
	m.self.Lacks = &told
	m.mu.Unlock()
	if before == nil || !slices.Equal(*before, told) {
		if err := m.beat(ctx); err != nil {
			m.mu.Lock()
			m.self.Lacks = before // it is told the next time
			m.mu.Unlock()
			return nil, err
		}
	}
	if len(told) == 0 {
		return nil, nil
	}
	err = m.repo.View(ctx, m.repo.System(), func(t *storage.Tx) error {
		all, err := list(t)
		if err != nil {
			return err
		}
		behind = slices.DeleteFunc(slices.Clone(told), func(text string) bool {
			return !slices.ContainsFunc(all, func(n Node) bool {
				return n.ID != m.self.ID && !n.Lost && n.Lacks != nil && len(*n.Lacks) < maxTold && !slices.Contains(*n.Lacks, text)
			})
		})
		return nil
	})
	return behind, err
}
