package repository

import (
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
)

// provider is a query with a name. Conditions of fields and quick filters are added to it
// as the call asks for them.
type provider struct {
	Name     string           `yaml:"-"`
	Free     bool             `yaml:"free"`      // the whole query is the first parameter
	Select   string           `yaml:"select"`    // columns of the result set
	From     string           `yaml:"from"`      // types; Document
	Where    string           `yaml:"where"`     // condition with ? and :name
	Sort     []string         `yaml:"sort"`      // "dc:title" or "dc:modified desc"
	PageSize int              `yaml:"pageSize"`  // unless another one is asked for
	Count    countTo          `yaml:"count"`     // page, or how far to count
	Args     []string         `yaml:"arguments"` // what each ? is: text, document, contains
	Fields   map[string]field `yaml:"fields"`    // conditions by the name of a parameter
	Quick    map[string]quick `yaml:"quickFilters"`
	Tallies  map[string]tally `yaml:"aggregates"`
}

// field is a condition that holds when a parameter of its name has a value. With a list
// one of the values has to meet it.
type field struct {
	Path string `yaml:"path"`
	Op   string `yaml:"op"` // =
	List bool   `yaml:"list"`
}

// quick is a condition or an order that a call may switch on.
type quick struct {
	Where string   `yaml:"where"`
	Sort  []string `yaml:"sort"`
}

// countTo is how far results are counted: 0 is storage's bound, toPage no further than the
// page.
type countTo int

const toPage countTo = -1

// UnmarshalYAML reads "page" or a number.
func (n *countTo) UnmarshalYAML(read func(any) error) error {
	var word string
	if read(&word) == nil && word == "page" {
		*n = toPage
		return nil
	}
	var number int
	if err := read(&number); err != nil || number < 1 {
		return fault.Invalid.Errorf("count: \"page\" or a number above 0 expected")
	}
	*n = countTo(number)
	return nil
}

// source writes the query with conditions added to its own.
func (p *provider) source(columns string, conditions []string) string {
	var b strings.Builder
	b.WriteString("SELECT " + orElse(columns, "*") + " FROM " + orElse(p.From, "Document"))
	if p.Where != "" {
		conditions = append([]string{"(" + p.Where + ")"}, conditions...)
	}
	if len(conditions) > 0 {
		b.WriteString(" WHERE " + strings.Join(conditions, " AND "))
	}
	return b.String()
}

// order is the order of quick filters followed by the provider's.
func (p *provider) order(filters []quick) ([]storage.SortKey, error) {
	var keys []storage.SortKey
	for _, f := range append(filters, quick{Sort: p.Sort}) {
		for _, item := range f.Sort {
			name, dir, _ := strings.Cut(strings.TrimSpace(item), " ")
			dir = strings.ToLower(strings.TrimSpace(dir))
			if _, err := query.ParseField(name); err != nil || dir != "" && dir != "asc" && dir != "desc" {
				return nil, fault.Invalid.Errorf("sort: %q, a field with asc or desc expected", item)
			}
			keys = append(keys, storage.SortKey{Field: name, Desc: dir == "desc"})
		}
	}
	return keys, nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
