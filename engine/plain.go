package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/search"
)

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
