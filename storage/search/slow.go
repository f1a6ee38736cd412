package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/internal/row"
	"catena/storage/query"
)

// Slow queries are counted by shape, which is the query without its values, for administrators, and written to the log with
// the index that would make them cheap.
const (
	slowAfter  = 500 * time.Millisecond
	slowEvery  = 10 * time.Minute // between messages about one shape
	slowShapes = 200              // that are remembered
)

// slowQueries are the slow queries since the start, by shape.
type slowQueries struct {
	mu      sync.Mutex
	byShape map[string]*slowQuery
}

type slowQuery struct {
	SlowQuery
	logged time.Time
}

// SlowQuery is what is known of the queries of one shape that were slow or refused since the server started.
type SlowQuery struct {
	Shape   string // the query without its values
	Count   int
	Refused int           // so many of them
	Longest time.Duration // and what it read:
	Rows    int
	Docs    int
	Last    time.Time
	Advice  string // the declaration that would make it cheap, "" if there is none
	// Automatic is the state of that index, if the server has declared it by itself.
	Automatic string
}

// add counts a slow query and reports whether it is time to log its shape.
func (s *slowQueries) add(one SlowQuery) (count int, log bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.byShape[one.Shape]
	if s.byShape == nil || q == nil && len(s.byShape) >= slowShapes {
		s.byShape = map[string]*slowQuery{}
	}
	if q == nil {
		q = &slowQuery{SlowQuery: SlowQuery{Shape: one.Shape}}
		s.byShape[one.Shape] = q
	}
	q.Count, q.Refused, q.Last = q.Count+1, q.Refused+one.Refused, one.Last
	if one.Advice != "" {
		q.Advice = one.Advice
	}
	if one.Longest >= q.Longest {
		q.Longest, q.Rows, q.Docs = one.Longest, one.Rows, one.Docs
	}
	if log = one.Last.Sub(q.logged) >= slowEvery; log {
		q.logged = one.Last
	}
	return q.Count, log
}

// Slowest returns the shapes of queries that were slow or refused since the server started, those first that took longest
// altogether. Who gets to see that has to pass MayExplain.
func Slowest(r *storage.Repo) []SlowQuery {
	s := &stateOf(r).slow
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]SlowQuery, 0, len(s.byShape))
	states := map[string]string{}
	for _, a := range r.Internal(row.Ordered{}).KnownAutomatic() {
		states[adviceOf(a.Type, a.String())] = a.State
	}
	for _, q := range s.byShape {
		one := q.SlowQuery
		one.Automatic = states[one.Advice]
		out = append(out, one)
	}
	sortSlow(out)
	return out
}

func sortSlow(all []SlowQuery) {
	slices.SortFunc(all, func(a, b SlowQuery) int {
		return cmp.Or(cmp.Compare(time.Duration(b.Count)*b.Longest, time.Duration(a.Count)*a.Longest), strings.Compare(a.Shape, b.Shape))
	})
}

// JoinSlow returns the slow queries of several servers as those of one.
func JoinSlow(here []SlowQuery, others ...[]SlowQuery) []SlowQuery {
	at := map[string]int{}
	for i, q := range here {
		at[q.Shape] = i
	}
	for _, more := range others {
		for _, q := range more {
			i, ok := at[q.Shape]
			if !ok {
				at[q.Shape], here = len(here), append(here, q)
				continue
			}
			here[i].join(q)
		}
	}
	sortSlow(here)
	return here
}

// join adds what another server knows of the same shape.
func (s *SlowQuery) join(other SlowQuery) {
	s.Count, s.Refused = s.Count+other.Count, s.Refused+other.Refused
	if other.Longest > s.Longest {
		s.Longest, s.Rows, s.Docs = other.Longest, other.Rows, other.Docs
	}
	newest := other.Last.After(s.Last)
	if newest {
		s.Last = other.Last
	}
	if other.Advice != "" && (newest || s.Advice == "") {
		s.Advice, s.Automatic = other.Advice, other.Automatic
	}
}

// note counts what the query cost if an index would have made it cheap, and logs it if it was slow or refused.
func (w *execution) note(took time.Duration, refused bool) {
	advice, x := w.advice(refused)
	if advice != "" {
		w.t.wishes.add(w, &x, refused)
	}
	if took < slowAfter && !refused {
		return
	}
	one := SlowQuery{Shape: w.p.shape(), Longest: took, Rows: w.t.spent.rows, Docs: w.t.spent.docs, Last: time.Now(), Advice: advice}
	if refused {
		one.Refused = 1
	}
	count, log := w.t.slow.add(one)
	if !log {
		return
	}
	args := []any{"query", one.Shape, "took", took.Round(time.Millisecond), "rows", one.Rows, "documents", one.Docs, "count", count, "refused", refused}
	if one.Advice != "" {
		args = append(args, "advice", one.Advice)
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
