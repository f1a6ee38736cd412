package repository

import (
	"cmp"
	"strings"

	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/query"
)

// provider is a query with a name. Conditions of fields and quick filters are added to it
// as the call asks for them.
type provider struct {
	Name       string
	at         declare.Position
	keys       map[string]declare.Position // of what names types and fields: "where", "field x"
	Free       bool                        // the whole query is the first parameter
	Select     string                      // columns of the result set
	From       string                      // types; Document
	Where      string                      // condition with ? and :name
	Sort       []string                    // "dc:title" or "dc:modified desc"
	PageSize   int                         // unless another one is asked for
	Count      countTo                     // page, or how far to count
	Args       []string                    // what each ? is: text, document, contains
	Fields     map[string]field            // conditions by the name of a parameter
	Quick      map[string]quick
	Aggregates map[string]aggregate
}

// field is a condition that holds when a parameter of its name has a value. With a list
// one of the values has to meet it.
type field struct {
	Path string
	Op   string // =
	List bool
}

// quick is a condition or an order that a call may switch on.
type quick struct {
	Where string
	Sort  []string
}

// countTo is how far results are counted: 0 is storage's bound, toPage no further than the
// page.
type countTo int

const toPage countTo = -1

// source writes the query with conditions added to its own. Nothing that a caller sent is in the text,
// only what the declaration says; values are parameters. The declared condition has brackets, so
// that an OR in it does not take the others along.
func (p *provider) source(columns string, conditions []string) string {
	var b strings.Builder
	b.WriteString("SELECT " + cmp.Or(columns, "*") + " FROM " + cmp.Or(p.From, "Document"))
	if p.Where != "" {
		conditions = append([]string{"(" + p.Where + ")"}, conditions...)
	}
	if len(conditions) > 0 {
		b.WriteString(" WHERE " + strings.Join(conditions, " AND "))
	}
	return b.String()
}

// order is the order of quick filters followed by the provider's. A caller's own sortBy replaces all of
// it (request.build).
func (p *provider) order(filters []quick) ([]storage.SortKey, error) {
	var keys []storage.SortKey
	for _, f := range append(filters, quick{Sort: p.Sort}) {
		for _, item := range f.Sort {
			name, dir, _ := strings.Cut(strings.TrimSpace(item), " ")
			dir = strings.ToLower(strings.TrimSpace(dir))
			if _, err := query.ParseField(name); err != nil || dir != "" && dir != "asc" && dir != "desc" {
				return nil, fault.Invalid.Errorf("sort: %q: must be a field with asc or desc", item)
			}
			keys = append(keys, storage.SortKey{Field: name, Desc: dir == "desc"})
		}
	}
	return keys, nil
}
