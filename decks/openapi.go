package decks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"catena/decks/deck"
	"catena/decks/field"
	"catena/decks/format"
	"catena/engine"
	"catena/engine/openapi"
)

var openAPI = engine.Op{
	Name: "Deck.Describe", Label: "Describe Deck Service", Category: deck.Category, Effect: engine.Reads,
	Doc: "Returns the OpenAPI description of the deck service's addresses with the fields of a revision: A, B, or union for those of both.",
	Run: engine.On(describeParams.run),
}

type describeParams struct{ deck.View }

func (p describeParams) run(_ *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.Set()
	if err != nil {
		return nil, err
	}
	paths, schemas, all := map[string]any{}, components(in), endpoints
	if in == field.Both {
		moreComponents(schemas)
		all = slices.Concat(endpoints, moreEndpoints)
	}
	for i := range all {
		e := &all[i]
		if e.in != 0 && e.in&in == 0 {
			continue
		}
		at, _ := paths[e.path].(map[string]any)
		if at == nil {
			at = map[string]any{}
			paths[e.path] = at
		}
		at[strings.ToLower(e.method)] = e.describe()
	}
	title := map[field.Revision]string{field.A: "revision A", field.B: "revision B", field.Both: "both revisions"}[in]
	return map[string]any{
		"openapi":  "3.1.0",
		"info":     map[string]any{"title": "Deck service, " + title, "version": "v1"},
		"servers":  []any{map[string]any{"url": cmp.Or(p.Base, "/")}},
		"security": []any{map[string]any{"key": []any{}}},
		"paths":    paths,
		"components": map[string]any{
			"schemas":         schemas,
			"securitySchemes": map[string]any{"key": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	}, nil
}

// describe is an endpoint as OpenAPI has it.
func (e *endpoint) describe() map[string]any {
	var params []any
	for part := range strings.SplitSeq(e.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			params = append(params, openapi.Parameter("path", strings.TrimSuffix(name, "}"), openapi.Type(pathType(name))))
		}
	}
	for name := range strings.FieldsSeq(e.query) {
		params = append(params, openapi.Parameter("query", name, queries[name]))
	}
	headers := "Deck-Revision"
	switch e.method {
	case "GET":
		headers += " If-None-Match"
	case "PATCH":
		headers += " If-Match"
	case "POST":
		headers += " Idempotency-Key"
	}
	for name := range strings.FieldsSeq(headers) {
		params = append(params, openapi.Parameter("header", name, openapi.Type("string")))
	}
	out := map[string]any{"operationId": e.id, "summary": e.summary, "parameters": params, "responses": e.responses()}
	if e.body != "" {
		content := openapi.JSON(openapi.Ref(e.body))
		for typ := range strings.FieldsSeq(e.texts) {
			content[typ] = map[string]any{"schema": openapi.Type("string")}
		}
		out["requestBody"] = map[string]any{"content": content}
	}
	if e.pictures {
		out["requestBody"] = map[string]any{"required": true, "content": map[string]any{"image/*": map[string]any{}}}
	}
	if e.open {
		out["security"] = []any{}
	}
	return out
}

func (e *endpoint) responses() map[string]any {
	ok := map[string]any{"description": "Done."}
	switch {
	case e.list:
		ok["content"] = openapi.JSON(openapi.Object("data", map[string]any{"type": "array", "items": openapi.Ref(e.result)}, "meta", openapi.Ref("PageMeta")))
	case e.files != "":
		content := map[string]any{}
		for typ := range strings.FieldsSeq(strings.ReplaceAll(e.files, exportTypes, format.Types())) {
			content[typ] = map[string]any{}
		}
		ok["content"] = content
	case e.result != "":
		ok["content"] = openapi.JSON(openapi.Object("data", openapi.Ref(e.result)))
	}
	out := map[string]any{fmt.Sprint(e.status): ok}
	for code := range strings.FieldsSeq("401 404 429 " + e.errors) {
		out[code] = map[string]any{"description": "An error.", "content": map[string]any{"application/problem+json": map[string]any{"schema": openapi.Ref("Problem")}}}
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
