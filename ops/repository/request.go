package repository

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/search"
)

// request is what a call asks of a provider.
type request struct {
	paging
	pageSize *int // nil: the provider's
	args     []string
	named    storage.Props
	filters  []string
}

// built is a query ready to run.
type built struct {
	src         string
	aggregation string // the query that aggregates are computed of
	options     search.Options
}

// build turns the provider and what is asked of it into a query. The columns are the
// provider's own unless others are given. The order matters: conditions and selections add their
// parameters to Named, which both queries share.
func (p *provider) build(c *engine.Ctx, r request, columns string) (b built, err error) {
	r.size = p.PageSize
	if r.pageSize != nil {
		r.size = *r.pageSize
	}
	if b.options, err = r.options(c); err != nil {
		return b, err
	}
	b.options.Named = named(c, r.named)
	if p.Free {
		if len(r.args) == 0 || strings.TrimSpace(r.args[0]) == "" {
			return b, fault.Invalid.Errorf("queryParams: query is missing").In("queryParams")
		}
		b.src, b.options.Args = r.args[0], positional(c, r.args[1:])
		return b, nil
	}
	if b.options.Args, err = p.arguments(c, r.args); err != nil {
		return b, err
	}
	on, err := p.switched(r.filters)
	if err != nil {
		return b, err
	}
	conditions := p.conditions(c, b.options.Named)
	for _, f := range on {
		if f.Where != "" {
			conditions = append(conditions, "("+f.Where+")")
		}
	}
	b.aggregation = p.source(p.aggregated(), conditions)
	b.src = p.source(columns, append(conditions, p.selections(c, b.options.Named)...))
	if len(b.options.Sort) == 0 {
		b.options.Sort, err = p.order(on)
	}
	switch {
	// Counting ends with the page, which is all that such a provider reports.
	case p.Count == toPage:
		b.options.CountLimit = b.options.Limit
	case p.Count > 0:
		b.options.CountLimit = int(p.Count)
	}
	return b, err
}

// arguments are the values for the question marks of the condition. Where a document is
// meant its path will do, too. Part of a text that is not given is empty: clients leave out what nobody has typed yet.
// More values than question marks are dropped: clients send the same list to every provider.
func (p *provider) arguments(c *engine.Ctx, given []string) ([]any, error) {
	args := positional(c, given)
	if want := strings.Count(p.Where, "?"); len(args) > want {
		args = args[:want]
	}
	for i, kind := range p.Args {
		if i >= len(args) {
			if kind != "begins" && kind != "contains" {
				break
			}
			args = append(args, "")
		}
		text := args[i].(string)
		switch kind {
		case "begins":
			// Literal escapes the wildcards in the text, so that somebody who types % looks for
			// that character.
			args[i] = query.Literal(text) + "%"
		case "contains":
			args[i] = "%" + query.Literal(text) + "%"
		case "document":
			// An id is used as it is and not looked up: one that does not exist finds nothing.
			if !strings.HasPrefix(text, "/") {
				continue
			}
			d, err := c.Tx.Doc(storage.Ref(text))
			if err != nil {
				return nil, err
			}
			args[i] = d.ID()
		}
	}
	return args, nil
}

// switched returns the quick filters of the names.
func (p *provider) switched(names []string) ([]quick, error) {
	var on []quick
	for _, name := range names {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		f, ok := p.Quick[name]
		if !ok {
			return nil, fault.Invalid.Errorf("quick filter %s: page provider %s has %s", name, p.Name,
				cmp.Or(strings.Join(slices.Sorted(maps.Keys(p.Quick)), ", "), "none")).In("quickFilters")
		}
		on = append(on, f)
	}
	return on, nil
}
