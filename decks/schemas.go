package decks

import (
	"catena/decks/deck"
	"catena/decks/field"
	"catena/engine"
	"catena/engine/openapi"
)

// queries are the parameters of addresses.
var queries = map[string]map[string]any{
	"include_deck_html": {"type": "boolean", "default": false},
	"name":              {"type": "string"},
	"page":              {"type": "integer", "minimum": 1, "default": 1},
	"expires":           {"type": "integer"},
	"force":             {"type": "boolean", "default": false},
	"limit":             {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20},
	"signature":         {"type": "string"},
	// The largest number is that of the slides a deck may have.
	"slide":    {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1},
	"per_page": {"type": "integer", "minimum": 1, "maximum": deck.MaxPerPage, "default": 20},
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
		out["Export"] = openapi.Fixed(`id:integer deck_id:integer format status created_at:moment completed_at:moment? download_url:address?
			download_url_expires_at:moment?`, "error:object progress:object warnings:array")
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

// moreSchemas are the schemas of what the specification leaves out: fields that are always
// there, and those that may be.
// The notation is that of openapi.Fields: name:type, separated by blanks, strings without a type; a type
// with a question mark may be null.
var moreSchemas = map[string][2]string{
	"Delivery":      {"id webhook type state created_at:moment tries:integer body", "finished_at:moment status:integer failure"},
	"File":          {"deck_id:integer number:integer name address type size:integer added_at:moment", ""},
	"ImportInput":   {"source", "format title visibility assets"},
	"MemberInput":   {"", "role"},
	"Notice":        {"id:integer event deck_id:integer share_link_id:integer title name created_at:moment", ""},
	"ShareView":     {"viewed_at:moment user_agent referrer", ""},
	"Slide":         {"deck_id:integer number:integer column:integer row:integer title size:integer notes:boolean html slide_count:integer etag", ""},
	"SlideChange":   {"html", ""},
	"SlideInput":    {"html", "after:integer below:boolean"},
	"SlidePlace":    {"", "after:integer below:boolean"},
	"SlideSummary":  {"number:integer column:integer row:integer title size:integer notes:boolean", ""},
	"Team":          {"id:integer name slug url:address thumbnail_url:address", ""},
	"TeamInput":     {"", "name slug owner billing_period thumbnail_url:address"},
	"Version":       {"version title slide_count:integer author updated_at:moment", ""},
	"Webhook":       {"id owner url:address description events:array enabled:boolean created_at:moment updated_at:moment failures:integer", "failing_since:moment reason secret"},
	"WebhookChange": {"", "url:address events:array description enabled:boolean new_secret:boolean"},
	"WebhookInput":  {"url:address events:array", "description"},
	"WholeTeam":     {"id:integer name slug url:address thumbnail_url:address billing_period created_at:moment updated_at:moment members:array", ""},
}

// moreComponents adds them to the schemas of a description.
func moreComponents(out map[string]any) {
	for name, fields := range moreSchemas {
		schema := openapi.Fields(fields[0]+" "+fields[1], false)
		if fields[0] != "" {
			schema["required"] = openapi.Fields(fields[0], true)["required"]
		}
		out[name] = schema
	}
}
