package template

import (
	"slices"
	"strings"

	"catena/engine/expr"
)

// hash is one that a template makes; its keys stay in order.
type hash struct {
	keys   []string
	values map[string]any
}

func newHash() *hash { return &hash{values: map[string]any{}} }

func (h *hash) set(key string, v any) {
	if _, ok := h.values[key]; !ok {
		h.keys = append(h.keys, key)
	}
	h.values[key] = v
}

// view is a map that is given: a document, a map of functions, or properties. It only reads. Keys that begin
// with a zero byte are between the engine and expressions (expr.Handle, expr.Lookup) and are hidden from
// templates. A view with a Lookup has more members than it lists: documents load a schema no earlier than
// when a template reads one of its properties.
type view map[string]any

func (m view) get(name string) any {
	if hidden(name) {
		return nil
	}
	if v, ok := m[name]; ok && v != nil {
		return normal(v)
	}
	if lookup, ok := m[expr.Lookup].(func(string) any); ok {
		return normal(lookup(name))
	}
	return nil
}

// hidden reports whether a key is not for templates.
func hidden(name string) bool { return strings.HasPrefix(name, "\x00") }

// size is how many keys there are for templates.
func (m view) size() int {
	n := 0
	for name, v := range m {
		if m.shows(name, v) {
			n++
		}
	}
	return n
}

// shows reports whether ?keys and ?size count an entry: functions can be called but are not content.
func (m view) shows(name string, v any) bool {
	_, f := v.(expr.Func)
	return !f && !hidden(name) && v != nil
}

func (m view) keys() []string {
	var keys []string
	for name, v := range m {
		if m.shows(name, v) {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
}

func isHash(v any) bool {
	switch v.(type) {
	case *hash, view:
		return true
	}
	return false
}

// keys are those of a hash in their order, which those of a view take from sorting.
func (r *run) keys(at pos, v any) ([]string, error) {
	switch v := v.(type) {
	case *hash:
		return v.keys, nil
	case view:
		if err := r.step(at, len(v)*entrySize); err != nil {
			return nil, err
		}
		return v.keys(), nil
	}
	return nil, nil
}

func valueOf(v any, key string) any {
	switch v := v.(type) {
	case *hash:
		return v.values[key]
	case view:
		return v.get(key)
	}
	return nil
}
