package search

import (
	"catena/storage"
)

// Options bind and bound a query.
type Options struct {
	storage.PageOptions
	Args  []any             // for ?
	Named map[string]any    // for :name
	Sort  []storage.SortKey // replaces ORDER BY when not empty
	Max   int               // most results altogether; 0: no bound but the limits
}

// Rows are the columns of a query's results.
type Rows struct {
	storage.Page // paging figures; Docs is nil
	Columns      []string
	Entries      []map[string]any
}

// given is a query that gave a page.
type given struct {
	text    string
	options Options
	sought  *sought // once it was asked for
}

// Next runs the query that gave a page on from where the page ended; nil after the last
// page and after one that no query gave.
func Next(t *storage.Tx, p *storage.Page) (*storage.Page, error) {
	from, _ := p.Query.(*given)
	if from == nil || !p.HasNext || p.Next == "" {
		return nil, nil
	}
	o := from.options
	o.Offset, o.After = 0, p.Next
	next, err := Query(t, from.text, o)
	if err == nil {
		next.Provider = p.Provider
	}
	return next, err
}
