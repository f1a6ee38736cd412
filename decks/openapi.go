package decks

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"catena/decks/deck"
	"catena/decks/field"
	"catena/decks/format"
	"catena/decks/route"
	"catena/engine"
	"catena/engine/openapi"
)

var openAPI = engine.Op{
	Name: "Deck.Describe", Label: "Describe Deck Service", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns the OpenAPI description of the deck service's addresses with the fields of a revision: A, B, or union for those of both.",
	Run:     engine.On(describeParams.run),
}

type describeParams struct{ deck.View }

func (p describeParams) run(_ *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.Set()
	if err != nil {
		return nil, err
	}
	paths, schemas := map[string]any{}, components(in)
	if in == field.Both {
		moreComponents(schemas)
	}
	for i := range route.Routes {
		r := &route.Routes[i]
		// A route of no revision is our addition to the specification, so only the description of both revisions has it.
		if r.In&in == 0 && (r.In != 0 || in != field.Both) {
			continue
		}
		at, _ := paths[r.Path].(map[string]any)
		if at == nil {
			at = map[string]any{}
			paths[r.Path] = at
		}
		at[strings.ToLower(r.Method)] = describe(r)
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

// describe is a route as OpenAPI has it.
func describe(r *route.Route) map[string]any {
	var params []any
	for _, s := range r.Segments() {
		typ := "integer"
		if s.Text {
			typ = "string"
		}
		params = append(params, openapi.Parameter("path", s.Name, openapi.Type(typ)))
	}
	for name := range strings.FieldsSeq(r.Query) {
		params = append(params, openapi.Parameter("query", name, queries[name]))
	}
	// Headers follow from the method and not from the table: the entry point reads them for every route.
	headers := "Deck-Revision"
	switch r.Method {
	case http.MethodGet:
		headers += " If-None-Match"
	case http.MethodPatch:
		headers += " If-Match"
	case http.MethodPost:
		headers += " Idempotency-Key"
	}
	for name := range strings.FieldsSeq(headers) {
		params = append(params, openapi.Parameter("header", name, openapi.Type("string")))
	}
	out := map[string]any{"operationId": r.ID, "summary": r.Summary, "parameters": params, "responses": responses(r)}
	if r.Body != "" {
		content := openapi.JSON(openapi.Ref(r.Body))
		for typ := range strings.FieldsSeq(r.Texts) {
			content[typ] = map[string]any{"schema": openapi.Type("string")}
		}
		out["requestBody"] = map[string]any{"content": content}
	}
	// Any type of picture: the server looks at the content, not at what the client calls it.
	if r.Pictures {
		out["requestBody"] = map[string]any{"required": true, "content": map[string]any{"image/*": map[string]any{}}}
	}
	if r.Open {
		// An empty list lifts the requirement of a key that the document states for all routes.
		out["security"] = []any{}
	}
	return out
}

func responses(r *route.Route) map[string]any {
	ok := map[string]any{"description": "Done."}
	switch {
	case r.List:
		ok["content"] = openapi.JSON(openapi.Object("data", map[string]any{"type": "array", "items": openapi.Ref(r.Result)}, "meta", openapi.Ref("PageMeta")))
	case r.Files != "":
		content := map[string]any{}
		for typ := range strings.FieldsSeq(strings.ReplaceAll(r.Files, route.Exports, format.Types())) {
			content[typ] = map[string]any{}
		}
		ok["content"] = content
	case r.Result != "":
		ok["content"] = openapi.JSON(openapi.Object("data", openapi.Ref(r.Result)))
	}
	out := map[string]any{fmt.Sprint(r.Status): ok}
	// Every route can answer with these three: no valid key, a deck that
	// does not exist or is somebody else's, and the rate limit.
	for code := range strings.FieldsSeq("401 404 429 " + r.Errors) {
		out[code] = map[string]any{"description": "An error.", "content": map[string]any{"application/problem+json": map[string]any{"schema": openapi.Ref("Problem")}}}
	}
	return out
}
