package scripts

import (
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/openapi"
)

// resultSpace is the namespace of the types of results, which have the names that descriptions of addresses give them.
const resultSpace = "Result"

// resultType is the type of what an operation returns: what its schema says, if it has one, or else the word.
func (t *typings) resultType(d *engine.Def, word string) string {
	for _, o := range d.Run.Outcomes() {
		if o.Word != word || entity.FormName(o) != "" {
			continue
		}
		if schema, definitions := o.Schema(d); schema != nil {
			maps.Copy(t.defined, definitions)
			return t.schemaType(schema, definitions != nil)
		}
	}
	return tsType(word, false)
}

// schemaType is the type of a value of a schema. Dates are texts in what encoding/json writes, marshaled; in other values they may be either.
func (t *typings) schemaType(schema any, marshaled bool) string {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return t.refType(strings.TrimPrefix(ref, openapi.RefPath))
	}
	if all, ok := s["anyOf"].([]any); ok {
		types := make([]string, len(all))
		for i, one := range all {
			types[i] = t.schemaType(one, marshaled)
		}
		return strings.Join(types, " | ")
	}
	typ := s["type"]
	if list, ok := typ.([]any); ok && len(list) == 2 && list[1] == "null" {
		without := maps.Clone(s)
		without["type"] = list[0]
		return t.schemaType(without, marshaled) + " | null"
	}
	switch typ {
	case "string":
		if s["format"] == "date-time" && !marshaled {
			return "Date | string"
		}
		return "string"
	case "integer", "number":
		return "number"
	case "boolean":
		return "boolean"
	case "array":
		item := t.schemaType(s["items"], marshaled)
		if strings.Contains(item, " ") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return t.objectType(s, marshaled)
	}
	return "any"
}

// objectType is the type of an object with the members that a schema lists.
func (t *typings) objectType(s map[string]any, marshaled bool) string {
	properties, _ := s["properties"].(map[string]any)
	if properties == nil {
		of := "any"
		if more, ok := s["additionalProperties"].(map[string]any); ok {
			of = t.schemaType(more, marshaled)
		}
		return "{ [name: string]: " + of + " }"
	}
	required, _ := s["required"].([]any)
	parts := make([]string, 0, len(properties))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		mark := "?"
		if slices.Contains(required, any(name)) {
			mark = ""
		}
		parts = append(parts, propertyName(name)+mark+": "+t.schemaType(properties[name], marshaled))
	}
	return "{ " + strings.Join(parts, "; ") + " }"
}

// refType is the name of a type, which results writes below.
func (t *typings) refType(name string) string {
	if name == "Value" || entity.Written(name) {
		return "any"
	}
	if _, known := t.results[name]; !known {
		t.results[name] = "" // it may refer to itself
		schema, marshaled := t.defined[name]
		if !marshaled {
			schema = t.forms[name]
		}
		t.results[name] = t.schemaType(schema, marshaled)
	}
	return resultSpace + "." + name
}

// writeResults writes the types of results that were referred to.
func (t *typings) writeResults() {
	if len(t.results) == 0 {
		return
	}
	t.b.WriteString("\n/** What operations return. */\n")
	t.line(0, "declare namespace %s {", resultSpace)
	for _, name := range slices.Sorted(maps.Keys(t.results)) {
		t.line(1, "type %s = %s;", name, t.results[name])
	}
	t.line(0, "}")
}
