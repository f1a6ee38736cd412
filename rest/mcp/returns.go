package mcp

import (
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/openapi"
)

// unsaid are the forms of what run_operation shows as its arguments ask for, and of what no operation knows before: a description
// says nothing of them.
var unsaid = []string{"Document", "Documents", "Entity", "Input", "Value"}

// definitions begins the references within the schema of a result.
const definitions = "#/$defs/"

// resultOf is the JSON Schema of what run_operation shows as the result of an operation, with the forms that it refers to; nil of
// documents, files, nothing, any value, and of chains and scripts.
func resultOf(d *engine.Def) map[string]any {
	f := entity.FormOf(d, false)
	if d.Version != 0 || f.Any || f.File || len(f.Schemas) == 0 {
		return nil
	}
	var of []map[string]any
	for _, s := range f.Schemas {
		if ref, ok := s["$ref"].(string); ok && slices.Contains(unsaid, strings.TrimPrefix(ref, openapi.RefPath)) {
			return nil
		}
		of = append(of, unwrapped(s))
	}
	if f.Nothing {
		of = append(of, openapi.Type("null"))
	}
	known, defined := openapi.Forms(), map[string]any{}
	maps.Copy(known, f.Definitions)
	var define func(v any)
	define = func(v any) {
		openapi.Refs(v, func(name string) {
			if defined[name] == nil && known[name] != nil {
				defined[name] = known[name]
				define(known[name])
			}
		})
	}
	whole := openapi.AnyOf(of...)
	define(whole)
	whole, _ = within(whole).(map[string]any)
	if len(defined) > 0 {
		whole["$defs"] = within(defined)
	}
	return whole
}

// unwrapped is the schema of the value in an entity that only holds one: shortenDocs leaves the entity out.
func unwrapped(schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	kind, _ := properties["entity-type"].(map[string]any)
	word, _ := kind["const"].(string)
	value, _ := properties["value"].(map[string]any)
	if len(properties) == 2 && value != nil && slices.Contains(wrappers, word) {
		return value
	}
	return schema
}

// within is a copy of a schema whose references lead to definitions of its own.
func within(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = within(item)
		}
		if ref, ok := v["$ref"].(string); ok {
			out["$ref"] = definitions + strings.TrimPrefix(ref, openapi.RefPath)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = within(item)
		}
		return out
	}
	return v
}
