package decks

import (
	"catena/decks/field"
	"catena/decks/listing"
	"catena/engine"
	"catena/engine/openapi"
)

// endpoint is an address of the deck service as its descriptions tell of it.
type endpoint struct {
	in               field.Revision
	method, path, id string
	summary, query   string
	body, result     string // names of schemas
	list             bool
	status           int
	errors           string // statuses besides those that all have
	texts            string // types of bodies besides JSON
	files            string // types of answers that are not JSON
	pictures         bool   // the body is a picture
	open             bool   // nobody need sign in
}

// exportTypes stands for the types of all formats to which decks are exported.
const exportTypes = "exports"

// endpoints are what the specification's revisions have, and what was added to both.
var endpoints = []endpoint{
	{in: field.Both, method: "GET", path: "/v1/user", id: "getUser", summary: "Authenticated user", result: "User", status: 200},
	{in: field.Both, method: "GET", path: "/v1/decks", id: "listDecks", summary: "The caller's decks, newest first", query: "page per_page", result: "DeckSummary", list: true, status: 200, errors: "422"},
	{in: field.Both, method: "POST", path: "/v1/decks", id: "createDeck", summary: "Create a deck", body: "DeckInput", result: "Deck", status: 201, errors: "400 403 409 413 415 422"},
	{in: field.A, method: "GET", path: "/v1/decks/trashed", id: "listTrashedDecks", summary: "The caller's decks in the trash, most recently trashed first", query: "page per_page", result: "TrashedDeck", list: true, status: 200, errors: "422"},
	{in: field.Both, method: "GET", path: "/v1/decks/{id}", id: "getDeck", summary: "A deck", query: "include_deck_html", result: "Deck", status: 200, errors: "422"},
	{in: field.Both, method: "PATCH", path: "/v1/decks/{id}", id: "updateDeck", summary: "Change a deck", body: "DeckInput", result: "Deck", status: 200, errors: "400 403 412 413 415 422"},
	{in: field.Both, method: "POST", path: "/v1/decks/{id}/trash", id: "trashDeck", summary: "Move a deck to the trash", status: 204, errors: "403"},
	{in: field.A, method: "POST", path: "/v1/decks/{id}/recover", id: "recoverDeck", summary: "Restore a deck from the trash", status: 204, errors: "403"},
	{in: field.A, method: "GET", path: "/v1/decks/{deck_id}/share", id: "listShareLinks", summary: "Private links, newest first", result: "ShareLink", list: true, status: 200, errors: "403"},
	{in: field.A, method: "POST", path: "/v1/decks/{deck_id}/share", id: "createShareLink", summary: "Create a private link", body: "ShareLinkInput", result: "ShareLink", status: 201, errors: "400 403 409 415 422"},
	{in: field.A, method: "DELETE", path: "/v1/decks/{deck_id}/share/{id}", id: "revokeShareLink", summary: "Revoke a private link", status: 204, errors: "403"},
	{in: field.A, method: "POST", path: "/v1/decks/{deck_id}/exports", id: "createExport", summary: "Start an export", body: "ExportInput", result: "Export", status: 202, errors: "400 403 415 422"},
	{in: field.A, method: "GET", path: "/v1/decks/{deck_id}/exports/{id}", id: "getExport", summary: "State of an export", result: "Export", status: 200},
	{in: field.A, method: "GET", path: "/v1/team/decks", id: "listTeamDecks", summary: "The team's decks, newest first", query: "page per_page", result: "TeamDeckSummary", list: true, status: 200, errors: "403 422"},
	{in: field.A, method: "GET", path: "/v1/team/decks/{id}", id: "getTeamDeck", summary: "A deck of the team", query: "include_deck_html", result: "TeamDeck", status: 200, errors: "403 422"},
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
	"per_page":          {"type": "integer", "minimum": 1, "maximum": listing.MaxPerPage, "default": 20},
}

// components are the schemas of a revision.
func components(in field.Revision) map[string]any {
	all := field.Fields
	detail := openapi.Fields(all.Spelled(in, false), true)
	team := openapi.Fields(all.Spelled(in, false)+" owner:object", true)
	for i := range all {
		if f := &all[i]; f.HTML && f.In&in != 0 {
			addHTML(f, detail)
			addHTML(f, team)
		}
	}
	out := map[string]any{
		"Deck": detail, "DeckInput": deckInput(in), "DeckSummary": openapi.Fields(all.Spelled(in, true), true), "PageMeta": openapi.Fields("page:integer per_page:integer total:integer etag", false),
		"Problem": openapi.Fields("type title status:integer detail instance code request_id errors:array", false),
		"User": openapi.Fields(`id:integer username name email description thumbnail_url:address website_url:address twitter_handle profile_url:address
			account:object team:object? created_at:moment updated_at:moment`, true),
	}
	if in&field.A != 0 {
		out["TeamDeck"], out["TeamDeckSummary"] = team, openapi.Fields(all.Spelled(in, true)+" visibility owner:object", true)
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

// addHTML adds a field that holds the slides to the schema of a deck. Only revision B always returns it.
func addHTML(f *field.Field, schema map[string]any) {
	schema["properties"].(map[string]any)[f.Name] = openapi.Type(string(f.Type))
	if f.In&field.B != 0 {
		schema["required"] = append(schema["required"].([]any), f.Name)
	}
}

// deckInput is the schema of what callers write in a revision.
func deckInput(in field.Revision) map[string]any {
	properties := map[string]any{}
	for _, f := range field.Fields.Of(field.Direct) {
		if f.In&in != 0 {
			properties[f.Name] = inputField(f)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func inputField(f *field.Field) map[string]any {
	out := openapi.Type(string(f.Type))
	set := func(name string, value any, ok bool) {
		if ok {
			out[name] = value
		}
	}
	set("description", "Section elements only at the top level.", f.HTML)
	set("default", f.New, f.New != nil)
	set("minLength", f.MinLength, f.MinLength > 0)
	set("maxLength", f.MaxLength, f.MaxLength > 0)
	set("enum", engine.List(f.Values), f.Values != nil)
	if f.Min != nil {
		out["minimum"] = *f.Min
	}
	if f.Max != nil {
		out["maximum"] = *f.Max
	}
	return out
}
