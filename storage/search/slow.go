package search

import (
	"slices"
	"strings"
	"sync"
	"time"

	"catena/storage/query"
)

// Slow queries are counted by shape, which is the query without its values, and written to the log with the index that
// would make them cheap.
const (
	slowAfter  = 500 * time.Millisecond
	slowEvery  = 10 * time.Minute // between messages about one shape
	slowShapes = 200              // that are remembered
)

// slowQueries are the slow queries since the start, by shape.
type slowQueries struct {
	mu      sync.Mutex
	byShape map[string]slowQuery
}

type slowQuery struct {
	count  int
	logged time.Time
}

// add counts a slow query and reports whether it is time to log its shape.
func (s *slowQueries) add(shape string, now time.Time) (count int, log bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.byShape[shape]; s.byShape == nil || !known && len(s.byShape) >= slowShapes {
		s.byShape = map[string]slowQuery{}
	}
	q := s.byShape[shape]
	q.count++
	if log = now.Sub(q.logged) >= slowEvery; log {
		q.logged = now
	}
	s.byShape[shape] = q
	return q.count, log
}

// noteSlow logs the query if it was slow or refused.
func (w *execution) noteSlow(took time.Duration, refused bool) {
	if took < slowAfter && !refused {
		return
	}
	shape := w.p.shape()
	count, log := w.t.slow.add(shape, time.Now())
	if !log {
		return
	}
	args := []any{"query", shape, "took", took.Round(time.Millisecond), "rows", w.t.spent.rows, "documents", w.t.spent.docs, "count", count, "refused", refused}
	if advice := w.advice(refused); advice != "" {
		args = append(args, "advice", advice)
	}
	w.t.Repo().Log().Warn("slow query", args...)
}

// shape returns the query without its values.
func (p *plan) shape() string {
	var from, where []string
	for _, n := range p.q.From {
		from = append(from, n.Text)
	}
	query.Walk(p.q.Where, func(x *query.Predicate) {
		op := x.Op.String()
		if x.Not {
			op = "NOT " + op
		}
		where = append(where, x.Field.Name+" "+op)
	})
	slices.Sort(where)
	s := "FROM " + strings.Join(from, ", ")
	if where = slices.Compact(where); len(where) > 0 {
		s += " WHERE " + strings.Join(where, ", ")
	}
	if len(p.order) > 0 {
		s += " ORDER BY " + p.orderText()
	}
	return s
}
