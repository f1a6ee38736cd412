package search

import (
	"sync"
	"sync/atomic"

	"catena/storage"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// state is what the planner remembers about a repository.
type state struct {
	queries   query.Cache
	estimates estimates
	described atomic.Pointer[described]
	wishes    wishes
	slow      slowQueries
	found     finds
	costs     costs
}

// described is what the planner knows of the types of documents.
type described struct {
	types      *schema.Registry
	facetLists map[string][]any
	schemaOf   map[*schema.Field]*schema.Schema // of properties
	modified   *query.Field                     // dc:modified, as the index by type holds it
	compounds  []*compound                      // that are declared
	automatic  atomic.Pointer[automaticIndexes]
}

// states are those of the repositories of a store.
type states struct{ byRepo sync.Map }

// planner is a transaction in which queries are planned and run.
type planner struct {
	*storage.Tx
	*state
	*described
	spent *spent
	all   []*compound // the indexes over several fields that are declared, or automatic and complete
}

// spent is what a query has read.
type spent struct {
	rows, docs int
	trust      *bool // whether automatic indexes may be used; nil: not asked yet
}

// plannerOf knows the declared indexes; execute adds the automatic ones.
func plannerOf(t *storage.Tx) planner {
	s := stateOf(t.Repo())
	d := s.described.Load()
	if d == nil || d.types != storage.TypesOf(t) {
		d = describe(t)
		s.described.Store(d)
	}
	return planner{Tx: t, state: s, described: d, spent: new(spent), all: d.compounds}
}

// execute parses and plans a query.
func execute(t *storage.Tx, src string, o Options) (w *execution, err error) {
	p := plannerOf(t)
	if p.all, err = p.indexes(); err != nil {
		return nil, err
	}
	return p.execution(src, o)
}

func stateOf(r *storage.Repo) *state {
	all := row.Of[states](r.Memory())
	if s, ok := all.byRepo.Load(r); ok {
		return s.(*state)
	}
	s, _ := all.byRepo.LoadOrStore(r, &state{costs: usualCosts, wishes: wishes{rule: usualRule}})
	return s.(*state)
}

// describe prepares what planning needs to know of the types that a transaction has.
func describe(t *storage.Tx) *described {
	reg := storage.TypesOf(t)
	d := &described{types: reg, facetLists: facetLists(reg), schemaOf: map[*schema.Field]*schema.Schema{}}
	d.modified = &query.Field{Name: "dc:modified", Kind: schema.Date}
	d.modified.Prop, _ = reg.FieldByKey(d.modified.Name)
	for _, sch := range reg.Schemas() {
		for _, f := range sch.Fields {
			d.schemaOf[f] = sch
		}
	}
	d.compounds = newCompounds(reg, t.Internal(row.Ordered{}).Compounds())
	return d
}

// Costs are what the planner compares plans by, in rows; see costs.
type Costs struct{ Sorted, Few, Subtree, Known, Loads, Factor int }

// SetCosts has the queries of a repository planned as if it were large, for tests.
func SetCosts(r *storage.Repo, with Costs) {
	c := &stateOf(r).costs
	c.sorted, c.few, c.direct, c.subtree = with.Sorted, with.Few, with.Sorted, with.Subtree
	c.known, c.loads, c.factor = with.Known, with.Loads, with.Factor
}

func (t planner) in() storage.Internal { return t.Internal(row.Ordered{}) }

func (t planner) kv() *kv.Tx { return t.in().KV() }

func (t planner) dictionary() *layout.Dictionary { return t.in().Dictionary() }

func (t planner) usable(index string) bool { return t.in().Usable(index) }
