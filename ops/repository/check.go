package repository

import (
	"strings"

	"catena/storage/fault"
	"catena/storage/query"
)

// comparisons are the comparisons a field may use.
const comparisons = " = <> < <= > >= LIKE ILIKE STARTSWITH "

// check refuses a declaration that no call could run.
func (p *provider) check() error {
	if p.PageSize < 0 {
		return fault.Invalid.Errorf("pageSize: is below 0")
	}
	for _, kind := range p.Args {
		if kind != "text" && kind != "document" && kind != "contains" && kind != "begins" {
			return fault.Invalid.Errorf("arguments: %q, text, document, begins or contains expected", kind)
		}
	}
	for name, f := range p.Fields {
		if f.Path == "" || f.Op != "" && !strings.Contains(comparisons, " "+f.Op+" ") {
			return fault.Invalid.Errorf("field %s: path and one of%sexpected", name, comparisons)
		}
	}
	for name, y := range p.Tallies {
		if err := y.check(); err != nil {
			return fault.Wrap(err, "aggregate %s", name)
		}
	}
	if p.Free {
		return nil
	}
	s, err := query.Parse(p.source(p.Select, p.sample()))
	if err != nil {
		return err
	}
	if len(s.Order) > 0 || s.Limit >= 0 {
		return fault.Invalid.Errorf("where: order and limits are declared beside it")
	}
	_, err = p.order(nil)
	return err
}
