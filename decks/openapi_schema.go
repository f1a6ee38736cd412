package decks

import (
	"cmp"
	"strings"
)

func parameter(where, name string, schema any) map[string]any {
	return map[string]any{"in": where, "name": name, "required": where == "path", "schema": schema}
}

func jsonContent(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func ref(name string) map[string]any { return map[string]any{"$ref": "#/components/schemas/" + name} }

func object(members ...any) map[string]any {
	properties, required := map[string]any{}, []any{}
	for i := 0; i+1 < len(members); i += 2 {
		properties[members[i].(string)] = members[i+1]
		required = append(required, members[i])
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// schemaOf is the schema of a type written as a word; a question mark stands for null.
func schemaOf(word string) map[string]any {
	typ, null := strings.CutSuffix(word, "?")
	out := map[string]any{"type": typ}
	switch typ {
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

// fieldsSchema is the schema of fields written as name:type, a string without a type.
func fieldsSchema(text string, required bool) map[string]any {
	properties, names := map[string]any{}, []any{}
	for field := range strings.FieldsSeq(text) {
		name, typ, _ := strings.Cut(field, ":")
		properties[name] = schemaOf(cmp.Or(typ, "string"))
		names = append(names, name)
	}
	out := map[string]any{"type": "object", "properties": properties}
	if required {
		out["required"] = names
	}
	return out
}

// pathType is the type of a part of an address: most are numbers.
func pathType(name string) string {
	switch name {
	case "delivery}", "username}", "version}", "webhook}":
		return "string"
	}
	return "integer"
}
