// Package openapi writes the parts of OpenAPI 3.1 descriptions. Which addresses there are is for those who serve them
// to say.
package openapi

import (
	"cmp"
	"maps"
	"strings"
)

// Parameter is a parameter in a place, "path", "query" or "header"; those of a path are required.
func Parameter(where, name string, schema any) map[string]any {
	return map[string]any{"in": where, "name": name, "required": where == "path", "schema": schema}
}

// JSON is a body of JSON.
func JSON(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// Ref is the schema that the components have under a name.
func Ref(name string) map[string]any { return map[string]any{"$ref": RefPath + name} }

// RefPath begins what references lead to: the forms, and the definitions of Go types.
const RefPath = "#/components/schemas/"

// Object is the schema of an object with members, given as names and schemas in turn, all required.
func Object(members ...any) map[string]any {
	properties, required := map[string]any{}, []any{}
	for i := 0; i+1 < len(members); i += 2 {
		properties[members[i].(string)] = members[i+1]
		required = append(required, members[i])
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// Type is the schema of a type written as a word: one of JSON Schema's, moment, or address. A
// question mark stands for null, and "any" is anything.
func Type(word string) map[string]any {
	typ, null := strings.CutSuffix(word, "?")
	out := map[string]any{"type": typ}
	switch typ {
	case "any":
		return map[string]any{}
	case "object": // generators of clients take an object that says no more for an empty one
		out["additionalProperties"] = true
	case "moment":
		out = map[string]any{"type": "string", "format": "date-time"}
	case "address":
		out = map[string]any{"type": "string", "format": "uri-reference"}
	}
	if null {
		out["type"] = []any{out["type"], "null"}
	}
	return out
}

// Fields is the schema of an object whose fields are written as name:type, strings without a
// type. All are required or none.
func Fields(text string, required bool) map[string]any {
	properties, names := map[string]any{}, []any{}
	for field := range strings.FieldsSeq(text) {
		name, typ, _ := strings.Cut(field, ":")
		properties[name] = Type(cmp.Or(typ, "string"))
		names = append(names, name)
	}
	out := map[string]any{"type": "object", "properties": properties}
	if required {
		out["required"] = names
	}
	return out
}

// Fixed is the schema of an object with members that are always there, as Fields writes them, and others that may be.
func Fixed(always, other string) map[string]any {
	out := Fields(always, true)
	maps.Copy(out["properties"].(map[string]any), Fields(other, false)["properties"].(map[string]any))
	return out
}

// Refs calls f with the names of what the references within a description lead to.
func Refs(v any, f func(name string)) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			f(strings.TrimPrefix(ref, RefPath))
		}
		for _, item := range v {
			Refs(item, f)
		}
	case []any:
		for _, item := range v {
			Refs(item, f)
		}
	}
}
