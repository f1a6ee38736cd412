package resource

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage/schema"
)

// typeEntity describes a document type.
// The entities of this file have the members of the platform's configuration addresses, which its
// client reads to find out about types.
func typeEntity(t *schema.Type) map[string]any {
	return map[string]any{
		"entity-type": "docType",
		"name":        t.Name,
		"parent":      engine.OrNull(t.Parent),
		"facets":      engine.List(t.Facets),
		"schemas":     schemaList(t.Schemas, false),
	}
}

// schemaEntity describes a schema, with the constraints of its fields if asked to.
// The platform writes the prefix under both names.
func schemaEntity(s *schema.Schema, constraints bool) map[string]any {
	out := map[string]any{
		"entity-type": "schema",
		"name":        s.Name,
		"prefix":      s.Space(),
		"@prefix":     s.Space(),
	}
	describeFields(out, s.Fields, constraints)
	return out
}

// describeFields describes fields. The members of an object of JSON have no order, so the order of their declaration stands beside them
// for those who ask for everything about them.
func describeFields(out map[string]any, fields []*schema.Field, constraints bool) {
	out["fields"] = fieldTypes(fields, constraints)
	if !constraints {
		return
	}
	order := make([]any, len(fields))
	for i, f := range fields {
		order[i] = f.Name
	}
	out["fieldOrder"] = order
}

func schemaList(all []*schema.Schema, constraints bool) []any {
	list := make([]any, len(all))
	for i, s := range all {
		list[i] = schemaEntity(s, constraints)
	}
	return list
}

// facetEntity describes a facet.
func facetEntity(f *schema.Facet) map[string]any {
	return map[string]any{
		"entity-type": "facet",
		"name":        f.Name,
		"schemas":     schemaList(f.Schemas, false),
	}
}

func fieldTypes(all []*schema.Field, constraints bool) map[string]any {
	types := make(map[string]any, len(all))
	for _, f := range all {
		types[f.Name] = fieldType(f, constraints)
	}
	return types
}

// fieldType is the name of a field's type; a complex one lists its parts beside it.
// Clients tell a simple field from a complex one by whether its type is a text or an object.
func fieldType(f *schema.Field, constraints bool) any {
	if f.Kind != schema.Complex && !constraints {
		return f.TypeName()
	}
	out := map[string]any{"type": f.TypeName()}
	if f.Kind == schema.Complex {
		describeFields(out, f.Fields, constraints)
	}
	if constraints {
		out["constraints"] = constraintList(f)
	}
	return out
}

// Sorted by name, so that equal declarations give equal answers.
func constraintList(f *schema.Field) []any {
	described := f.Describe()
	list := make([]any, 0, len(described))
	for _, name := range slices.Sorted(maps.Keys(described)) {
		parameters := make(map[string]any, len(described[name]))
		for key, value := range described[name] {
			parameters[key] = value
		}
		list = append(list, map[string]any{"name": name, "parameters": parameters})
	}
	return append(list, resolverList(f.Resolver)...)
}

// resolverList says what the text of a field refers to, in the form of a constraint.
func resolverList(resolver string) []any {
	name, parameters := "", map[string]any{}
	if directory, ok := strings.CutPrefix(resolver, "directory:"); ok {
		// The names of resolvers and of their parameters are the platform's.
		name, parameters["directory"] = "directoryResolver", directory
	}
	switch resolver {
	case "document":
		name = "documentResolver"
	case "group", "user":
		name = "userManagerResolver"
		parameters["includeGroups"], parameters["includeUsers"] = strconv.FormatBool(resolver == "group"), strconv.FormatBool(resolver == "user")
	}
	if name == "" {
		return nil
	}
	return []any{map[string]any{"name": name, "parameters": parameters}}
}
