package repository

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// paging is what the parameters of a list ask for.
type paging struct {
	size, index, offset, max int
	sortBy, sortOrder        []string
}

// options translates the parameters of a list. A size of zero or less is the server's limit, the offset wins over the
// page number, and a field whose order is not asc sorts descending. A size over the server's limit is
// cut and not refused.
func (p paging) options(c *engine.Ctx) (search.Options, error) {
	for _, n := range [...]struct {
		name  string
		value int
	}{{"currentPageIndex", p.index}, {"offset", p.offset}, {"maxResults", p.max}} {
		if n.value < 0 {
			return search.Options{}, fault.Invalid.Errorf("%s: must be at least 0", n.name).In(n.name)
		}
	}
	largest := c.Tx.Repo().Limits().PageSize
	o := search.Options{Max: p.max}
	o.Limit = min(max(p.size, 0), largest)
	if o.Offset = p.offset; o.Offset == 0 && p.index > 0 {
		size := o.Limit
		if size == 0 {
			size = largest
		}
		var err error
		if o.Offset, err = engine.Offset(p.index, size); err != nil {
			return o, err
		}
	}
	for i, field := range p.sortBy {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		asc := i < len(p.sortOrder) && strings.EqualFold(strings.TrimSpace(p.sortOrder[i]), "asc")
		o.Sort = append(o.Sort, storage.SortKey{Field: field, Desc: !asc})
	}
	return o, nil
}

// marked replaces the words that stand for the caller and the repository, in lists too. Only whole
// values are replaced, never parts of a text, and only in parameters, never in the query.
func marked(c *engine.Ctx, v any) any {
	switch v := v.(type) {
	case string:
		switch v {
		case "$currentUser":
			return c.As.Name
		case "$currentRepository":
			return c.Tx.Repo().Name()
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = marked(c, v[i])
		}
		return out
	}
	return v
}

func positional(c *engine.Ctx, params []string) []any {
	args := make([]any, len(params))
	for i, v := range params {
		args[i] = marked(c, v)
	}
	return args
}

func named(c *engine.Ctx, params storage.Props) map[string]any {
	args := make(map[string]any, len(params))
	for name, v := range params {
		args[name] = marked(c, v)
	}
	return args
}

// checkLanguage refuses query languages other than the one there is.
func checkLanguage(name string) error {
	if name != "" && !strings.EqualFold(name, "NXQL") {
		return fault.Invalid.Errorf("language %q: only NXQL is supported", name).In("language")
	}
	return nil
}
