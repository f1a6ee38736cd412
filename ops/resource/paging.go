package resource

import (
	"cmp"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// maxPage is the largest page.
// It is the platform's limit, and the default of limit-page.
const maxPage = 1000

// paging is what a list's parameters ask for.
type paging struct {
	size, index, offset, max int
	sortBy, sortOrder        []string
}

// options translates the parameters of a list. A size of zero or less is the server's limit, largest, which decides where
// a page begins as well. A field whose order is not asc sorts descending.
func (p paging) options(largest int) (search.Options, error) {
	if p.index < 0 || p.offset < 0 || p.max < 0 {
		return search.Options{}, fault.Invalid.Errorf("currentPageIndex, offset and maxResults: must be at least 0")
	}
	o := search.Options{Max: p.max}
	o.Limit = min(max(p.size, 0), maxPage)
	o.Offset = p.offset
	if o.Offset == 0 {
		var err error
		if o.Offset, err = engine.Offset(p.index, min(cmp.Or(o.Limit, largest), largest)); err != nil {
			return search.Options{}, err
		}
	}
	for i, field := range p.sortBy {
		desc := i >= len(p.sortOrder) || !strings.EqualFold(strings.TrimSpace(p.sortOrder[i]), "asc")
		o.Sort = append(o.Sort, storage.SortKey{Field: strings.TrimSpace(field), Desc: desc})
	}
	return o, nil
}
