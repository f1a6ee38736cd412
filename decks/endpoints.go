package decks

import (
	"cmp"
	"strings"

	"catena/engine/openapi"
)

// endpoint is an address of the deck service as its descriptions tell of it.
type endpoint struct {
	in               revision
	method, path, id string
	summary, query   string
	body, result     string // names of schemas
	list             bool
	status           int
	errors           string // statuses besides those that all have
	texts            string // types of bodies besides JSON
	files            string // types of answers that are no JSON
	pictures         bool   // the body is a picture
	open             bool   // nobody need sign in
}

// endpoints are what the specification's revisions have, and what was added to both.
var endpoints = []endpoint{
	{in: union, method: "GET", path: "/v1/user", id: "getUser", summary: "Authenticated user", result: "User", status: 200},
	{in: union, method: "GET", path: "/v1/decks", id: "listDecks", summary: "Own decks, the newest first", query: "page per_page", result: "DeckSummary", list: true, status: 200, errors: "422"},
	{in: union, method: "POST", path: "/v1/decks", id: "createDeck", summary: "Create a deck", body: "DeckInput", result: "Deck", status: 201, errors: "400 403 409 413 415 422"},
	{in: revA, method: "GET", path: "/v1/decks/trashed", id: "listTrashedDecks", summary: "Own decks in the trash, the last first", query: "page per_page", result: "TrashedDeck", list: true, status: 200, errors: "422"},
	{in: union, method: "GET", path: "/v1/decks/{id}", id: "getDeck", summary: "A deck", query: "include_deck_html", result: "Deck", status: 200, errors: "422"},
	{in: union, method: "PATCH", path: "/v1/decks/{id}", id: "updateDeck", summary: "Change a deck", body: "DeckInput", result: "Deck", status: 200, errors: "400 403 412 413 415 422"},
	{in: union, method: "POST", path: "/v1/decks/{id}/trash", id: "trashDeck", summary: "Put a deck in the trash", status: 204, errors: "403"},
	{in: revA, method: "POST", path: "/v1/decks/{id}/recover", id: "recoverDeck", summary: "Take a deck out of the trash", status: 204, errors: "403"},
	{in: revA, method: "GET", path: "/v1/decks/{deck_id}/share", id: "listShareLinks", summary: "Private links, the newest first", result: "ShareLink", list: true, status: 200, errors: "403"},
	{in: revA, method: "POST", path: "/v1/decks/{deck_id}/share", id: "createShareLink", summary: "Create a private link", body: "ShareLinkInput", result: "ShareLink", status: 201, errors: "400 403 409 415 422"},
	{in: revA, method: "DELETE", path: "/v1/decks/{deck_id}/share/{id}", id: "revokeShareLink", summary: "Revoke a private link", status: 204, errors: "403"},
	{in: revA, method: "POST", path: "/v1/decks/{deck_id}/exports", id: "createExport", summary: "Start an export", body: "ExportInput", result: "Export", status: 202, errors: "400 403 415 422"},
	{in: revA, method: "GET", path: "/v1/decks/{deck_id}/exports/{id}", id: "getExport", summary: "State of an export", result: "Export", status: 200},
	{in: revA, method: "GET", path: "/v1/team/decks", id: "listTeamDecks", summary: "The team's decks, the newest first", query: "page per_page", result: "TeamDeckSummary", list: true, status: 200, errors: "403 422"},
	{in: revA, method: "GET", path: "/v1/team/decks/{id}", id: "getTeamDeck", summary: "A deck of the team", query: "include_deck_html", result: "TeamDeck", status: 200, errors: "403 422"},
}

// queries are the parameters of addresses.
var queries = map[string]map[string]any{
	"include_deck_html": {"type": "boolean", "default": false},
	"name":              {"type": "string"},
	"page":              {"type": "integer", "minimum": 1, "default": 1},
	"expires":           {"type": "integer"},
	"force":             {"type": "boolean", "default": false},
	"limit":             {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20},
	"signature":         {"type": "string"},
	"slide":             {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1},
	"per_page":          {"type": "integer", "minimum": 1, "maximum": maxPerPage, "default": 20},
}

// fieldTypes are the types of a deck's fields that are no text.
var fieldTypes = map[string]string{
	"id": "integer", "slide_count": "integer", "width": "integer", "height": "integer", "margin": "number", "rtl": "boolean", "loop": "boolean",
	"urls": "object", "url": "address", "thumbnail_url": "address", "created_at": "moment", "updated_at": "moment",
}

// deckFields are the fields of a deck in revisions, with their types.
func deckFields(in revision, summary bool) string {
	var out []string
	for _, d := range details {
		if d.in&in != 0 && (d.summary || !summary) {
			out = append(out, d.name+":"+cmp.Or(fieldTypes[d.name], "string"))
		}
	}
	return strings.Join(out, " ")
}

// components are the schemas of a revision.
func components(in revision) map[string]any {
	detail, input := openapi.Fields(deckFields(in, false), true), openapi.Fields("title description", false)
	team := openapi.Fields(deckFields(in, false)+" owner:object", true)
	writes := input["properties"].(map[string]any)
	for revision, name := range map[revision]string{revA: "deck_html", revB: "data"} {
		if in&revision == 0 {
			continue
		}
		writes[name] = map[string]any{"type": "string", "description": "Section elements only at the top level."}
		for _, schema := range []map[string]any{detail, team} {
			schema["properties"].(map[string]any)[name] = openapi.Type("string")
			if revision == revB {
				schema["required"] = append(schema["required"].([]any), name)
			}
		}
	}
	writes["title"] = map[string]any{"type": "string", "default": "deck", "minLength": 1, "maxLength": maxTitle}
	for _, name := range []string{"width", "height"} {
		writes[name] = map[string]any{"type": "integer", "minimum": 1}
	}
	writes["visibility"] = map[string]any{"type": "string", "enum": []any{"all", "self", "team"}}
	input["additionalProperties"] = false
	out := map[string]any{
		"Deck": detail, "DeckInput": input, "DeckSummary": openapi.Fields(deckFields(in, true), true), "PageMeta": openapi.Fields("page:integer per_page:integer total:integer etag", false),
		"Problem": openapi.Fields("type title status:integer detail instance code request_id errors:array", false),
		"User": openapi.Fields(`id:integer username name email description thumbnail_url:address website_url:address twitter_handle profile_url:address
			account:object team:object? created_at:moment updated_at:moment`, true),
	}
	if in&revA != 0 {
		out["TeamDeck"], out["TeamDeckSummary"] = team, openapi.Fields(deckFields(in, true)+" visibility owner:object", true)
		out["TrashedDeck"] = openapi.Fields("id:integer title description thumbnail_url:address trashed_at:moment", true)
		out["ShareLink"] = openapi.Fields(`id:integer deck_id:integer name url:address urls:object password_protected:boolean expires_at:moment? expired:boolean
			notify_on_view:boolean view_count:integer first_viewed_at:moment? created_at:moment`, true)
		out["ShareLinkInput"] = openapi.Fields("name password expires_at:moment? notify_on_view:boolean", false)
		out["Export"] = openapi.Fields(`id:integer deck_id:integer format status created_at:moment completed_at:moment? download_url:address?
			download_url_expires_at:moment?`, true)
		out["ExportInput"] = openapi.Fields("format margin:number slide_number:boolean slide_notes:boolean separate_fragments:boolean", false)
	}
	return out
}
