package search

import (
	"sync"

	"catena/storage"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// state is what the planner remembers about a repository.
type state struct {
	queries    query.Cache
	estimates  estimates
	facetLists map[string][]any
	schemaOf   map[*schema.Field]*schema.Schema // of properties
	modified   *query.Field                     // dc:modified, as the index by type holds it
	compounds  []*compound
	slow       slowQueries
	found      finds
	costs      costs
}

// states are those of the repositories of a store.
type states struct{ byRepo sync.Map }

// planner is a transaction in which queries are planned and run.
type planner struct {
	*storage.Tx
	*state
	spent *spent
}

// spent is what a query has read.
type spent struct{ rows, docs int }

func plannerOf(t *storage.Tx) planner { return planner{t, stateOf(t.Repo()), new(spent)} }

func stateOf(r *storage.Repo) *state {
	all := row.Of[states](r.Memory())
	if s, ok := all.byRepo.Load(r); ok {
		return s.(*state)
	}
	s, _ := all.byRepo.LoadOrStore(r, newState(r))
	return s.(*state)
}

func newState(r *storage.Repo) *state {
	reg := r.Types()
	s := &state{facetLists: facetLists(reg), schemaOf: map[*schema.Field]*schema.Schema{}, costs: usualCosts}
	s.modified = &query.Field{Name: "dc:modified", Kind: schema.Date}
	s.modified.Prop, _ = reg.FieldByKey(s.modified.Name)
	for _, sch := range reg.Schemas() {
		for _, f := range sch.Fields {
			s.schemaOf[f] = sch
		}
	}
	s.compounds = newCompounds(reg, r.Internal(row.Ordered{}).Compounds())
	return s
}

// Costs are what the planner compares plans by, in rows; see costs.
type Costs struct{ Sorted, Few, Subtree, Known, Loads, Factor int }

// SetCosts has the queries of a repository planned as if it were large, for tests.
func SetCosts(r *storage.Repo, with Costs) {
	c := &stateOf(r).costs
	c.sorted, c.few, c.subtree = with.Sorted, with.Few, with.Subtree
	c.known, c.loads, c.factor = with.Known, with.Loads, with.Factor
}

func (t planner) in() storage.Internal { return t.Internal(row.Ordered{}) }

func (t planner) kv() *kv.Tx { return t.in().KV() }

func (t planner) dictionary() *layout.Dictionary { return t.in().Dictionary() }

func (t planner) usable(index string) bool { return t.in().Usable(index) }
