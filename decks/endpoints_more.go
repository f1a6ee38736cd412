package decks

import "catena/engine/openapi"

// moreEndpoints are the addresses that neither revision of the specification has; only the
// description of both tells of them.
var moreEndpoints = []endpoint{
	{method: "POST", path: "/v1/decks/import", id: "importDeck", summary: "Import a presentation as a deck", body: "ImportInput", texts: "text/html text/markdown text/plain", result: "Deck", status: 201, errors: "400 403 413 415 422"},
	{method: "GET", path: "/v1/decks/{deck_id}/exports", id: "listExports", summary: "Exports of a deck, newest first", result: "Export", list: true, status: 200},
	{method: "GET", path: "/v1/decks/{id}/thumbnail", id: "getThumbnail", summary: "Picture of a slide", query: "slide", files: "image/jpeg image/png", status: 200, errors: "422"},
	{method: "GET", path: "/v1/decks/{deck_id}/exports/{id}/download", id: "downloadExport", summary: "File of an export, at the export's download address", query: "expires signature", files: exportTypes, open: true, status: 200},
	{method: "GET", path: "/v1/decks/{deck_id}/exports/{id}/events", id: "followExport", summary: "Stream of an export's states", files: "text/event-stream", status: 200, errors: "503"},
	{method: "GET", path: "/v1/decks/{deck_id}/share/{id}/views", id: "listShareViews", summary: "Views of a deck through a private link, latest first", query: "page per_page", result: "ShareView", list: true, status: 200, errors: "403 422"},
	{method: "GET", path: "/v1/decks/{id}/files", id: "listFiles", summary: "Pictures of a deck", result: "File", list: true, status: 200},
	{method: "POST", path: "/v1/decks/{id}/files", id: "addFile", summary: "Add a picture to a deck; slides show it by the address in the response", query: "name", pictures: true, result: "File", status: 201, errors: "403 413 415 422"},
	{method: "GET", path: "/v1/decks/{id}/files/{number}", id: "getFile", summary: "A picture of a deck", files: "image/avif image/gif image/jpeg image/png image/svg+xml image/webp", status: 200},
	{method: "DELETE", path: "/v1/decks/{id}/files/{number}", id: "removeFile", summary: "Remove a picture; force is required if slides show it", query: "force", status: 204, errors: "403 409"},
	{method: "GET", path: "/v1/decks/{id}/slides", id: "listSlides", summary: "Slides of a deck without their HTML", result: "SlideSummary", list: true, status: 200},
	{method: "POST", path: "/v1/decks/{id}/slides", id: "insertSlide", summary: "Insert a slide into a deck, by default at the end", body: "SlideInput", result: "Slide", status: 201, errors: "400 403 412 413 415 422"},
	{method: "GET", path: "/v1/decks/{id}/slides/{slide}", id: "getSlide", summary: "A slide of a deck", result: "Slide", status: 200},
	{method: "PATCH", path: "/v1/decks/{id}/slides/{slide}", id: "updateSlide", summary: "Replace the HTML of a slide; other slides are unchanged", body: "SlideChange", result: "Slide", status: 200, errors: "400 403 412 413 415 422"},
	{method: "DELETE", path: "/v1/decks/{id}/slides/{slide}", id: "removeSlide", summary: "Remove a slide from a deck", status: 204, errors: "403 412"},
	{method: "POST", path: "/v1/decks/{id}/slides/{slide}/move", id: "moveSlide", summary: "Move a slide after another one", body: "SlidePlace", result: "Slide", status: 200, errors: "400 403 412 415 422"},
	{method: "GET", path: "/v1/decks/{id}/versions", id: "listVersions", summary: "Versions of a deck, latest first", query: "page per_page", result: "Version", list: true, status: 200, errors: "422"},
	{method: "POST", path: "/v1/decks/{id}/versions", id: "keepVersion", summary: "Save the current state of a deck as a version", result: "Version", status: 200, errors: "403"},
	{method: "POST", path: "/v1/decks/{id}/versions/{version}/restore", id: "restoreVersion", summary: "Restore a version of a deck", result: "Deck", status: 200, errors: "403"},
	{method: "GET", path: "/v1/notices", id: "listNotices", summary: "Notices about the caller's decks, latest first", query: "page per_page", result: "Notice", list: true, status: 200, errors: "422"},
	{method: "GET", path: "/v1/teams", id: "listTeams", summary: "All teams, for administrators", result: "Team", list: true, status: 200},
	{method: "POST", path: "/v1/teams", id: "createTeam", summary: "Create a team, for administrators", body: "TeamInput", result: "WholeTeam", status: 201, errors: "400 403 409 415 422"},
	{method: "GET", path: "/v1/teams/{id}", id: "getTeam", summary: "A team with its members, for its owner and admins", result: "WholeTeam", status: 200, errors: "403"},
	{method: "PATCH", path: "/v1/teams/{id}", id: "updateTeam", summary: "Change a team", body: "TeamInput", result: "WholeTeam", status: 200, errors: "400 403 409 415 422"},
	{method: "DELETE", path: "/v1/teams/{id}", id: "deleteTeam", summary: "Delete a team, for administrators", status: 204, errors: "403"},
	{method: "PUT", path: "/v1/teams/{id}/members/{username}", id: "setMember", summary: "Add a user to a team, or change the user's role", body: "MemberInput", result: "WholeTeam", status: 200, errors: "400 403 409 415 422"},
	{method: "DELETE", path: "/v1/teams/{id}/members/{username}", id: "removeMember", summary: "Remove a user from a team", status: 204, errors: "403 409"},
	{method: "GET", path: "/v1/webhooks", id: "listWebhooks", summary: "The caller's webhooks", result: "Webhook", list: true, status: 200},
	{method: "POST", path: "/v1/webhooks", id: "createWebhook", summary: "Register an address to receive events; the secret is only shown once", body: "WebhookInput", result: "Webhook", status: 201, errors: "400 403 415 422"},
	{method: "GET", path: "/v1/webhooks/{webhook}", id: "getWebhook", summary: "A webhook", result: "Webhook", status: 200},
	{method: "PATCH", path: "/v1/webhooks/{webhook}", id: "updateWebhook", summary: "Change a webhook", body: "WebhookChange", result: "Webhook", status: 200, errors: "400 403 415 422"},
	{method: "DELETE", path: "/v1/webhooks/{webhook}", id: "deleteWebhook", summary: "Delete a webhook", status: 204, errors: "403"},
	{method: "GET", path: "/v1/webhooks/{webhook}/deliveries", id: "listDeliveries", summary: "Deliveries of a webhook, newest first", query: "limit", result: "Delivery", list: true, status: 200, errors: "422"},
	{method: "POST", path: "/v1/webhooks/{webhook}/deliveries/{delivery}/redeliver", id: "redeliver", summary: "Repeat a delivery", result: "Delivery", status: 200, errors: "403 409"},
}

// moreSchemas are the schemas of what the specification leaves out: fields that are always
// there, and those that may be.
var moreSchemas = map[string][2]string{
	"Delivery":      {"id webhook type state created_at:moment tries:integer body", "finished_at:moment status:integer failure"},
	"File":          {"deck_id:integer number:integer name address type size:integer added_at:moment", ""},
	"ImportInput":   {"source", "format title visibility"},
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
