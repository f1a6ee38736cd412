package repository

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"catena/engine"
)

// conditions returns those of the fields that have a value, and gives the values of lists
// names of their own. A field without a value adds no condition: an empty search form finds everything.
// The map is changed, so it must be a copy of the caller's (named makes one).
func (p *provider) conditions(c *engine.Ctx, named map[string]any) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.Fields)) {
		f := p.Fields[name]
		values := itemsOf(named[name], f.List)
		if len(values) == 0 {
			continue
		}
		parts := make([]string, len(values))
		for i, v := range values {
			param := fmt.Sprintf("%s_%d", name, i)
			named[param] = marked(c, v)
			parts[i] = f.condition(param)
		}
		all = append(all, "("+strings.Join(parts, " OR ")+")")
	}
	return all
}

// condition compares the field with a parameter.
func (f field) condition(param string) string { return f.Path + " " + cmp.Or(f.Op, "=") + " :" + param }

// itemsOf returns the values given for a field; those of a list may come as JSON text. Blank text is no
// value, as forms send it for fields that nobody has filled in. JSON is tried only where the field is
// declared as a list: a text that begins with a bracket is otherwise just a text.
func itemsOf(v any, list bool) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string:
		items := make([]any, len(v))
		for i := range v {
			items[i] = v[i]
		}
		return items
	case string:
		var items []any
		if list && strings.HasPrefix(strings.TrimSpace(v), "[") && json.Unmarshal([]byte(v), &items) == nil {
			return items
		}
		if strings.TrimSpace(v) == "" {
			return nil
		}
	}
	return []any{v}
}

// sample has every condition that could be added. It is for check: whatever a call switches on, the
// query will parse.
func (p *provider) sample() []string {
	var all []string
	for name, f := range p.Fields {
		all = append(all, f.condition(name))
	}
	for _, f := range p.Quick {
		if f.Where != "" {
			all = append(all, "("+f.Where+")")
		}
	}
	return all
}
