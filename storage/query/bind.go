package query

import (
	"encoding/json"
	"math"
	"reflect"
	"time"
)

// Bind returns the query with a value in place of every parameter: args in the order
// of the text, named by name. A list stands for several values of IN. Values are never
// read as query text. Too few or too many args, or a name without a value, are Invalid.
func (s *Select) Bind(args []any, named map[string]any) (*Select, error) {
	c := s.clone()
	b := binder{args: args, named: named}
	Walk(c.Where, b.predicate)
	if b.err != nil {
		return nil, b.err
	}
	if b.used < len(args) {
		return nil, Pos{}.at("%d parameters given, %d expected", len(args), b.used)
	}
	return c, nil
}

type binder struct {
	args  []any
	named map[string]any
	used  int
	err   error

	values int // of all comparisons so far
}

// predicate replaces parameters by their values. A list becomes several values, which only IN accepts. Values are never put into the
// text of a query, so they cannot change its meaning.
func (b *binder) predicate(p *Predicate) {
	out := p.Values[:0:0]
	for _, v := range p.Values {
		param, ok := v.V.(Param)
		if !ok || b.err != nil {
			out = append(out, v)
			continue
		}
		given, ok := b.find(param)
		if !ok {
			b.err = v.at("no value given for parameter %s", v.String())
			return
		}
		values, list := items(given)
		if list && p.Op != In {
			b.err = v.at("parameter %s is a list, which only IN accepts", v.String())
			return
		}
		for _, one := range values {
			plain, ok := operand(one)
			if !ok {
				b.err = v.at("parameter %s: cannot compare with %s", v.String(), describe(one))
				return
			}
			out = append(out, Value{v.Pos, plain})
		}
	}
	b.values += len(out)
	switch {
	case b.err != nil:
	case len(out) > MaxList:
		b.err = p.at("%d values, limit %d", len(out), MaxList)
	case b.values > MaxValues:
		b.err = p.at("more than %d values in all comparisons", MaxValues)
	}
	p.Values = out
}

func (b *binder) find(p Param) (any, bool) {
	if p.Name != "" {
		v, ok := b.named[p.Name]
		return v, ok
	}
	b.used = max(b.used, p.Index+1)
	if p.Index >= len(b.args) {
		return nil, false
	}
	return b.args[p.Index], true
}

// items returns the values of a list, or the value alone.
func items(v any) (values []any, list bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	// Bytes are a slice too, but nobody means them as a list of numbers.
	case nil, string, []byte, json.Number:
		return []any{v}, false
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		return []any{v}, false
	}
	values = make([]any, r.Len())
	for i := range values {
		values[i] = r.Index(i).Interface()
	}
	return values, true
}

// operand brings a value from outside to one of the types of Value.
func operand(v any) (any, bool) {
	switch v := v.(type) {
	case string, int64, bool, Day, Now:
		return v, true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case time.Time:
		// As stored dates are, or an equal instant with nanoseconds would never match.
		return v.UTC().Truncate(time.Millisecond), true
	case json.Number:
		return numeral(v.String())
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return r.String(), true
	case reflect.Bool:
		return r.Bool(), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int(), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return int64(r.Uint()), r.Uint() <= math.MaxInt64
	case reflect.Float32, reflect.Float64:
		return operand(r.Float())
	}
	return nil, false
}

func describe(v any) string {
	if v == nil {
		return "null (use IS NULL)"
	}
	return "a " + reflect.TypeOf(v).String()
}

// At returns the query with NOW() replaced by the instant.
// It is called once for each run, so every NOW() of a query is the same instant.
func (s *Select) At(now time.Time) *Select {
	found := false
	Walk(s.Where, func(p *Predicate) {
		for _, v := range p.Values {
			_, is := v.V.(Now)
			found = found || is
		}
	})
	if !found {
		return s
	}
	c := s.clone()
	Walk(c.Where, func(p *Predicate) {
		for i, v := range p.Values {
			if n, ok := v.V.(Now); ok {
				p.Values[i].V = n.Period.After(now)
			}
		}
	})
	return c
}

// Sorted returns the query with another ORDER BY.
func (s *Select) Sorted(by []Order) *Select {
	c := s.clone()
	c.Order = by
	return c
}
