package repository

import (
	"slices"
	"strings"

	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/schema"
)

// comparisons are the comparisons a field may use.
const comparisons = " = <> < <= > >= LIKE ILIKE STARTSWITH "

// check refuses a declaration that no call could run. It needs no types, since the built-in
// providers are read before a server has any; resolve checks the names of types and fields.
func (p *provider) check() error {
	if p.PageSize < 0 {
		return fault.Invalid.Errorf("pageSize: must be at least 0")
	}
	for _, kind := range p.Args {
		if !slices.Contains(argumentKinds, kind) {
			return fault.Invalid.Errorf("arguments: %q: must be text, document, begins or contains", kind)
		}
	}
	for name, f := range p.Fields {
		if f.Path == "" || f.Op != "" && !strings.Contains(comparisons, " "+f.Op+" ") {
			return fault.Invalid.Errorf("field %s: requires path and one of%s", name, comparisons)
		}
	}
	for name, y := range p.Aggregates {
		if err := y.check(); err != nil {
			return fault.Wrap(err, "aggregate %s", name)
		}
	}
	// The whole query comes from the caller, so there is nothing to parse before a call.
	if p.Free {
		return nil
	}
	s, err := query.Parse(p.source(p.Select, p.sample()))
	if err != nil {
		return err
	}
	if len(s.Order) > 0 || s.Limit >= 0 {
		return fault.Invalid.Errorf("where: must not contain order or limits, which are declared separately")
	}
	_, err = p.order(nil)
	return err
}

// argumentKinds are the ways in which an argument becomes part of the query. text is bound as it is,
// document accepts a path for an id, contains and begins add the wildcards of LIKE and escape those in
// the text. A question mark without a kind is text.
var argumentKinds = []string{"text", "document", "contains", "begins"}

// parts are the keys that name types and fields, each as a provider that says nothing else. A query is
// built of many keys of the declaration. Each is tried alone, so that an error can name the line of the
// one that is wrong and not only the provider.
func (p *provider) parts() map[string]*provider {
	parts := map[string]*provider{
		"select": {Select: p.Select}, "from": {From: p.From}, "where": {Where: p.Where}, "sort": {Sort: p.Sort},
	}
	for name, f := range p.Fields {
		parts["field "+name] = &provider{Where: f.condition(name)}
	}
	for name, y := range p.Aggregates {
		parts["aggregate "+name] = &provider{Select: y.Field}
	}
	for name, q := range p.Quick {
		parts["quick filter "+name] = &provider{Where: q.Where, Sort: q.Sort}
	}
	return parts
}

// resolve checks the types and fields of the provider's query.
func (p *provider) resolve(types *schema.Registry) error {
	q, err := query.Parse(p.source(p.Select, nil))
	if err != nil {
		return err
	}
	keys, err := p.order(nil)
	if err != nil {
		return err
	}
	by := make([]query.Order, len(keys))
	for i, k := range keys {
		if by[i].Field, err = query.ParseField(k.Field); err != nil {
			return err
		}
	}
	return q.Sorted(by).Check(types)
}
