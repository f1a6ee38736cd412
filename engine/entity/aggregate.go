package entity

import (
	"maps"
	"slices"
	"strings"

	"catena/storage"
)

// reference is a text that is written as what it refers to.
type reference struct{ resolver, text string }

// aggregations are the figures of a page. If the keys of buckets are to be fetched, each bucket of a field whose values
// refer to users, groups, documents or entries of a directory has beside its key what that refers to, since front ends
// show its name.
func (w *writer) aggregations(v any) any {
	all, ok := v.(map[string]any)
	if !ok || w.c.Tx == nil || !slices.Contains(w.o.Fetch["aggregate"], "key") {
		return v
	}
	out := make(map[string]any, len(all))
	for name, v := range all {
		out[name] = v
		if a, ok := v.(map[string]any); ok {
			out[name] = w.aggregation(a)
		}
	}
	return out
}

func (w *writer) aggregation(a map[string]any) map[string]any {
	field, _ := a["field"].(string)
	f, ok := storage.TypesOf(w.c.Tx).FieldByKey(strings.TrimSuffix(field, "/*"))
	if !ok || f.Resolver == "" {
		return a
	}
	a = maps.Clone(a)
	for _, name := range []string{"buckets", "extendedBuckets"} {
		list, _ := a[name].([]any)
		fetched := make([]any, len(list))
		for i, v := range list {
			fetched[i] = v
			b, _ := v.(map[string]any)
			if key, ok := b["key"].(string); ok {
				b = maps.Clone(b)
				b["fetchedKey"], fetched[i] = reference{f.Resolver, key}, b
			}
		}
		a[name] = fetched
	}
	return a
}
