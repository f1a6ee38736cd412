package decks

import (
	"maps"
	"strings"

	"catena/decks/field"
	"catena/decks/route"
	"catena/engine"
	"catena/engine/openapi"
)

// otherResults are the members of what operations return whose address says nothing of it, as openapi.Fields writes them.
var otherResults = map[string]string{
	"Deck.Browse":          "data:array owner:object meta:object",
	"Deck.Describe":        "openapi info:object servers:array security:array paths:object components:object",
	"Deck.Recover":         "data:object",
	"Deck.RemoveFile":      "data:object",
	"Deck.RemoveSlide":     "data:object",
	"Deck.RevokeShareLink": "data:object",
	"Deck.Trash":           "data:object",
	"Deck.View":            "data:object",
	"Team.Delete":          "data:object",
	"Team.RemoveMember":    "data:object",
}

// typed adds to operations the schemas of their results: what their addresses say (decks/route), and besides it the tag of the
// state and what else the entry points make headers of.
func typed(ops []engine.Op) []engine.Op {
	schemas := components(field.Both)
	moreComponents(schemas)
	// Which fields a deck has depends on the revision that is asked for.
	for _, name := range []string{"Deck", "DeckSummary", "TeamDeck", "TeamDeckSummary"} {
		delete(schemas[name].(map[string]any), "required")
	}
	results := map[string]map[string]any{}
	for op, members := range otherResults {
		results[op] = openapi.Fixed(members, "etag")
	}
	results["Deck.OpenShare"] = openapi.Fixed("", "data:object link:object pass etag locked retry_after:integer")
	for i := range route.Routes {
		r := &route.Routes[i]
		of, _ := schemas[r.Result].(map[string]any)
		switch {
		case of == nil:
			continue
		case r.List:
			of = openapi.Object("data", openapi.List(of))
		case strings.Contains(r.Sends, "ifNoneMatch"): // null: not changed since
			of = openapi.Object("data", openapi.AnyOf(of, map[string]any{"type": "null"}))
		default:
			of = openapi.Object("data", of)
		}
		maps.Copy(of["properties"].(map[string]any), openapi.Fields("etag location meta:object quota:object", false)["properties"].(map[string]any))
		results[r.Op] = of
	}
	for i := range ops {
		ops[i].Result = results[ops[i].Name]
	}
	return ops
}
