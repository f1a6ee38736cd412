package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/jsontext"
	"catena/storage/search"
)

// value is a parameter as written in a chain, with the expressions in it compiled.
type value struct {
	fixed   any
	program *expr.Program
	list    []value
	object  map[string]value
}

func (v *value) computed() bool { return v.program != nil || v.list != nil || v.object != nil }

// each calls f with the programs in a value and the paths to them, in order.
func (v *value) each(path string, f func(path string, p *expr.Program)) {
	if v.program != nil {
		f(path, v.program)
	}
	for i := range v.list {
		v.list[i].each(path+"/"+strconv.Itoa(i), f)
	}
	for _, name := range slices.Sorted(maps.Keys(v.object)) {
		item := v.object[name]
		item.each(path+"/"+name, f)
	}
}

// compileValue compiles the expressions of a value; text is only text unless it is trusted.
func compileValue(v any, trusted bool) (value, error) {
	if !trusted {
		return value{fixed: v}, nil
	}
	switch x := v.(type) {
	case string:
		if !expr.Is(x) {
			break
		}
		p, err := parseExpr(x, false)
		return value{program: p}, err
	case []any:
		out := value{list: make([]value, len(x))}
		dynamic := false
		for i, item := range x {
			var err error
			if out.list[i], err = compileValue(item, true); err != nil {
				return value{}, err
			}
			dynamic = dynamic || out.list[i].computed()
		}
		if dynamic {
			return out, nil
		}
	case map[string]any:
		out := value{object: make(map[string]value, len(x))}
		dynamic := false
		for name, item := range x {
			c, err := compileValue(item, true)
			if err != nil {
				return value{}, err
			}
			out.object[name] = c
			dynamic = dynamic || c.computed()
		}
		if dynamic {
			return out, nil
		}
	}
	return value{fixed: v}, nil
}

// eval returns the value with its expressions evaluated, once: what they return stays as it is.
func (v *value) eval(c *Ctx) (any, error) {
	switch {
	case v.program != nil:
		return c.eval(v.program)
	case v.list != nil:
		out := make([]any, len(v.list))
		for i := range v.list {
			var err error
			if out[i], err = v.list[i].eval(c); err != nil {
				return nil, err
			}
		}
		return out, nil
	case v.object != nil:
		out := make(map[string]any, len(v.object))
		for name, item := range v.object {
			got, err := item.eval(c)
			if err != nil {
				return nil, err
			}
			out[name] = got
		}
		return out, nil
	}
	return v.fixed, nil
}

// List returns a list as one of any values, which is how results of no type of their own hold it.
func List[T any](items []T) []any {
	out := make([]any, len(items))
	for i, v := range items {
		out[i] = v
	}
	return out
}

// OrNull returns a text, or nil in place of an empty one.
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Size is about what the result takes in memory as long as it is kept, in bytes. The content of files is not
// counted: that of large ones is not in memory.
func (r *Result) Size() int64 {
	return int64(len(r.Body)) + below(reflect.ValueOf(r.Value), maxLevels) + below(reflect.ValueOf(r.Input), maxLevels)
}

// maxLevels bounds how deep a value is looked into.
const maxLevels = 200

// below is about what a value leads to: texts, elements, and what is behind the pointers among them. Pointers in the
// fields of structs lead to what others hold too.
func below(v reflect.Value, levels int) (n int64) {
	if levels--; levels < 0 {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		n = int64(v.Len())
	case reflect.Interface:
		if !v.IsNil() {
			n = inline(v.Elem().Type()) + below(v.Elem(), levels)
		}
	case reflect.Pointer:
		n = behind(v, levels)
	case reflect.Slice, reflect.Array:
		n = elements(v, levels)
	case reflect.Map:
		each := inline(v.Type().Key()) + inline(v.Type().Elem())
		for key, item := range v.Seq2() {
			n += each + below(key, levels) + below(item, levels)
		}
	case reflect.Struct:
		for field, f := range v.Fields() {
			if field.IsExported() && f.Kind() != reflect.Pointer && leads(f.Kind()) {
				n += below(f, levels)
			}
		}
	}
	return n
}

func elements(v reflect.Value, levels int) int64 {
	n := inline(v.Type().Elem()) * int64(v.Len())
	for i := 0; i < v.Len() && leads(v.Type().Elem().Kind()); i++ {
		n += below(v.Index(i), levels)
	}
	return n
}

func behind(v reflect.Value, levels int) int64 {
	if v.IsNil() {
		return 0
	}
	if d, ok := v.Interface().(*storage.Doc); ok {
		return d.Held()
	}
	return inline(v.Type().Elem()) + below(v.Elem(), levels)
}

func inline(t reflect.Type) int64 { return int64(t.Size()) }

// leads reports whether values of a kind lead to others.
func leads(k reflect.Kind) bool { return k >= reflect.Array && k != reflect.Chan && k != reflect.Func }

// ParseJSON reads one JSON value strictly: names stand once, text is UTF-8, depth is
// bounded. Whole numbers are int64.
func ParseJSON(raw []byte) (any, error) { return parse(jsontext.Scanner{Data: raw}) }

// ParseJSON is ParseJSON as part of the call: it ends with it.
func (c *Ctx) ParseJSON(raw []byte) (any, error) {
	return parse(jsontext.Scanner{Data: raw, Context: c.Context})
}

func parse(s jsontext.Scanner) (any, error) {
	v, err := s.Value(0)
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, malformed(err)
	}
	return v, nil
}

// malformed makes what is wrong with a JSON text an error of the caller.
func malformed(err error) error {
	var e *jsontext.Error
	if errors.As(err, &e) {
		return fault.Invalid.Errorf("%w", e).WithCode(fault.CodeJSON)
	}
	return err
}

const maxPlainDepth = 32

// Plain makes any value one of nil, bool, int64, float64, string, []any and map[string]any,
// as JSON holds them. Documents become maps of their system fields.
func Plain(v any) any { return plainValue(v, 0) }

// plainValue is Plain within depth levels; what is nested deeper becomes nil.
func plainValue(v any, depth int) any {
	if depth > maxPlainDepth {
		return nil
	}
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v
	case int:
		return int64(v)
	case time.Time:
		s, _ := asText(v)
		return s
	case storage.Ref:
		return string(v)
	case Value:
		return plainValue(v.V, depth)
	case json.RawMessage:
		p, err := ParseJSON(v)
		if err != nil {
			return nil
		}
		return p
	}
	return plainRich(v, depth)
}

// plainRich makes what JSON does not hold as it is plain.
func plainRich(v any, depth int) any {
	switch v := v.(type) {
	case *storage.Doc:
		return map[string]any{"id": v.ID(), "path": v.Path(), "type": v.Type().Name, "title": v.Title(), "state": v.State()}
	case *storage.Blob:
		return map[string]any{"name": v.Name, "type": v.Type, "length": v.Size, "digest": v.Digest}
	case storage.Docs:
		return plainList(v, depth)
	case *storage.Page:
		return plainList(v.Docs, depth)
	case storage.Blobs:
		return plainList(v, depth)
	case *search.Rows:
		return plainList(v.Entries, depth)
	case []string:
		return plainList(v, depth)
	case storage.Refs:
		return plainList(v, depth)
	case []any:
		return plainList(v, depth)
	case map[string]any:
		return plainMap(v, depth)
	case storage.Props:
		return plainMap(v, depth)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return plainValue(json.RawMessage(raw), depth)
}

func plainList[T any](list []T, depth int) []any {
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = plainValue(item, depth+1)
	}
	return out
}

func plainMap(m map[string]any, depth int) map[string]any {
	out := make(map[string]any, len(m))
	for name, item := range m {
		out[name] = plainValue(item, depth+1)
	}
	return out
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
