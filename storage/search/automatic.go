package search

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// The server declares indexes over several fields by itself where queries keep being expensive without (storage.Automatic).
// What a query of a wanted index cost is counted in rows and not in time, so that the same queries on the same documents always
// have the same result, on every machine. A wish is granted when within an hour
//
//   - it was advised often enough, which means each time that the query read many times the rows that it returned,
//   - these queries together read enough rows, and
//   - what the index would have saved of them is more than what it costs: rows that are written with each document of
//     the type, and its building, spread over a week.
//
// Wishes are forgotten with the process. Indexes are in the store.
const (
	wishWindow = time.Hour
	wishesKept = 200
	// rowCost is what writing a row of an index costs, in rows read.
	rowCost = 10
	// wishWeek is how many hours a new index has to repay its building in: it is dropped when it is not used that long.
	wishWeek = 7 * 24
	// mostBuilt bounds what is counted of the documents of a type.
	mostBuilt = 1_000_000
)

// Rule says when an index is wanted enough.
type Rule struct {
	Asked int // so often within an hour
	Spent int // rows that these queries read, with documents counted by what they cost
}

var usualRule = Rule{Asked: 20, Spent: 50_000}

// SetRule changes the rule of a repository, for tests.
func SetRule(r *storage.Repo, with Rule) {
	w := &stateOf(r).wishes
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rule = with
}

// automaticIndexes are the indexes that queries use, with the automatic ones among them that they were made of.
type automaticIndexes struct {
	of  []*storage.Compound
	all []*compound
}

// indexes returns the indexes over several fields that are declared, or automatic and complete.
func (t planner) indexes() ([]*compound, error) {
	made, err := t.in().Automatic()
	if err != nil || len(made) == 0 {
		return t.compounds, err
	}
	a := t.automatic.Load()
	if a == nil || !slices.Equal(a.of, made) {
		a = &automaticIndexes{made, slices.Concat(t.compounds, newCompounds(t.types, made))}
		t.automatic.Store(a)
	}
	return a.all, nil
}

// wishes are the indexes that queries would have been cheap with, and the automatic ones that they used.
type wishes struct {
	mu       sync.Mutex
	rule     Rule
	byIndex  map[string]*wish
	inUse    map[string]bool // by id, since the last sweep
	complete map[string]bool // by id, at the last sweep
	urgent   bool            // a query was refused that would not be with an index that is due
}

// refusal is how many costly queries one counts as that was refused.
const refusal = 10

type wish struct {
	index   storage.Automatic
	since   time.Time
	asked   int
	spent   int   // rows
	saved   int   // of them
	written int64 // documents of the type until then
}

// add counts what a query cost that an index would have made cheap.
func (s *wishes) add(w *execution, x *advisedIndex, refused bool) {
	in, typ := w.t.Repo().Internal(row.Ordered{}), w.p.q.From[0].Text
	now, key := in.Clock(), typ+" "+x.String()
	cost := w.t.spent.rows + w.t.spent.docs*usualCosts.factor
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.byIndex[key]
	if s.byIndex == nil || q == nil && len(s.byIndex) >= wishesKept {
		s.byIndex = map[string]*wish{}
	}
	if q == nil || !storage.Recent(now, q.since, wishWindow) {
		q = &wish{index: storage.Automatic{Type: typ, Columns: x.columns, Include: x.include}, since: now, written: in.Written(typ)}
		s.byIndex[key] = q
	}
	q.asked++
	if refused {
		q.asked += refusal - 1
	}
	q.spent += cost
	s.urgent = s.urgent || refused && q.asked >= s.rule.Asked && q.spent >= s.rule.Spent
	q.saved += max(0, cost-len(w.candidates)-w.page.Total) // with the index, the rows of the page and of the total are read
}

// used notes which automatic indexes a plan uses.
func (s *wishes) used(p *plan) {
	for _, a := range []*accessPath{p.path, p.counter} {
		if a == nil || a.index == nil || a.index.ID == "" {
			continue
		}
		s.mu.Lock()
		if s.inUse == nil {
			s.inUse = map[string]bool{}
		}
		s.inUse[a.index.ID] = true
		s.mu.Unlock()
	}
}

// forget drops the wishes that are about the first column of an index which has become complete since it was called last: the queries were
// costly without that index, while it was built, and may not be any longer.
func (s *wishes) forget(all []storage.Automatic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.complete
	s.complete = map[string]bool{}
	for i := range all {
		made := &all[i]
		if made.State != storage.IndexComplete {
			continue
		}
		if s.complete[made.ID] = true; was == nil || was[made.ID] {
			continue
		}
		maps.DeleteFunc(s.byIndex, func(_ string, q *wish) bool {
			return q.index.Type == made.Type && leading(&q.index) == leading(made)
		})
	}
}

func leading(a *storage.Automatic) string { return strings.TrimSuffix(a.Columns[0], " desc") }

// due returns the wishes that meet the rule, those first that would save most, and the automatic indexes that were used since
// it was called last.
func (s *wishes) due(now time.Time) (all []wish, used []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.byIndex {
		if q.asked >= s.rule.Asked && q.spent >= s.rule.Spent && storage.Recent(now, q.since, 2*wishWindow) {
			all = append(all, *q)
		}
	}
	slices.SortFunc(all, func(a, b wish) int {
		return cmp.Or(cmp.Compare(b.saved, a.saved), strings.Compare(a.index.Type, b.index.Type), strings.Compare(a.index.String(), b.index.String()))
	})
	for id := range s.inUse {
		used = append(used, id)
	}
	s.inUse, s.urgent = nil, false
	return all, used
}

// IndexUrgent reports whether queries are refused that an index would answer which is due. It costs next to nothing.
func IndexUrgent(r *storage.Repo) bool {
	s := &stateOf(r).wishes
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.urgent
}

// SweepIndexes declares the indexes that the queries of this process have deserved, as far as there is room for them. They are
// built, and those that are needless dropped, by the sweep of the repository.
func SweepIndexes(ctx context.Context, r *storage.Repo) error {
	if r.Limits().Automatic < 0 || r.Writable(ctx) != nil {
		return nil //nolint:nilerr // they are declared once something can be written again
	}
	known, err := r.AutomaticIndexes(ctx)
	if err != nil {
		return err
	}
	in, wishes := r.Internal(row.Ordered{}), &stateOf(r).wishes
	wishes.forget(known)
	all, used := wishes.due(in.Clock())
	if len(used) > 0 {
		if err := in.UseIndexes(ctx, used); err != nil {
			return err
		}
	}
	for i := range all {
		q := &all[i]
		upkeep, err := q.upkeep(ctx, r)
		if err != nil {
			return err
		}
		if q.saved <= upkeep {
			continue
		}
		made, err := in.DeclareIndex(ctx, q.index)
		if err != nil {
			return err
		}
		if made {
			r.Log().Info("automatic index declared", "type", q.index.Type, "index", q.index.String(), "asked", q.asked, "rows", q.spent, "saved", q.saved, "upkeep", upkeep)
		}
	}
	return nil
}

// upkeep is what the index would have cost in the time of the wish, in rows.
func (q *wish) upkeep(ctx context.Context, r *storage.Repo) (rows int, err error) {
	docs := 0
	err = r.View(ctx, r.System(), func(tx *storage.Tx) error {
		t := plannerOf(tx)
		docs = 0
		for _, name := range r.Types().Under(q.index.Type) {
			n, _, err := t.kv().Count(kv.Prefix(t.dictionary().TypePrefix(name)), mostBuilt-docs)
			if docs += n; err != nil {
				return err
			}
		}
		return nil
	})
	written := r.Internal(row.Ordered{}).Written(q.index.Type) - q.written
	return (int(written) + docs/wishWeek) * rowCost, err
}

// ListIndexes returns the automatic indexes in every state, and when they were used last, to those who may explain queries.
func ListIndexes(t *storage.Tx) ([]storage.Automatic, error) {
	if err := MayExplain(t); err != nil {
		return nil, err
	}
	return t.Internal(row.Ordered{}).EveryAutomatic()
}

// DropIndex drops an automatic index for those who may explain queries. What has asked this server for it does not have it made again.
func DropIndex(t *storage.Tx, id string) error {
	if err := MayExplain(t); err != nil {
		return err
	}
	a, err := t.Internal(row.Ordered{}).DropAutomatic(id)
	if err != nil {
		return err
	}
	s := &stateOf(t.Repo()).wishes
	t.AfterCommit(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.byIndex, a.Type+" "+a.String())
	})
	return nil
}

// AutomaticIndexes counts the automatic indexes of a repository by state.
func AutomaticIndexes(r *storage.Repo) map[string]int {
	n := map[string]int{storage.IndexBuilding: 0, storage.IndexComplete: 0}
	for _, a := range r.Internal(row.Ordered{}).KnownAutomatic() {
		n[a.State]++
	}
	return n
}
