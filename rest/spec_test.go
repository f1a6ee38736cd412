package rest_test

import "strings"

// The tables of this file are the deck service's specification, row by row: its resources and
// their fields, its endpoints, its tools. The tests beside them play every row against a
// server, in revision A, in revision B, and in both at once; TestSpec is what to run.

// instant is when everything happens.
const instant = "2026-02-03T04:05:06.007Z"

// specFields are the tables of fields. The columns are the field, its type, the revisions that
// have it ("A?" if it is asked for), its value when everything is filled in, and its value when
// nothing was. {base} stands for the server's address, … for what cannot be foretold.
var specFields = withTeams(map[string]string{
	"User": `
id             | integer      | AB | 0… | 0…
username       | string       | AB | "lead" | "free"
name           | string       | AB | "Ada Lovelace" | "free"
email          | string       | AB | "ada@example.org" | ""
description    | string       | AB | "Counts." | ""
thumbnail_url  | string (URL) | AB | "https://example.org/ada.png" | ""
website_url    | string (URL) | AB | "https://example.org/" | ""
twitter_handle | string       | AB | "ada" | ""
profile_url    | string (URL) | AB | "{base}/decks/lead" | "{base}/decks/free"
account        | object       | AB | {"type":"team","billing_period":"yearly"} | {"type":"free","billing_period":"none"}
team           | object?      | AB | {"id":1,"name":"Analysts","slug":"analysts","url":"{base}/teams/analysts","thumbnail_url":"https://example.org/team.png","role":"owner"} | null
created_at     | timestamp    | AB | "{now}" | "{now}"
updated_at     | timestamp    | AB | "{now}" | "{now}"`,

	"Deck summary": `
id            | integer      | AB | 1 | 2
title         | string       | AB | "All of it" | "deck"
description   | string       | AB | "Every field." | ""
thumbnail_url | string (URL) | A  | "{base}/decks/lead/all-of-it/thumbnail?key=…" | "{base}/decks/lead/deck/thumbnail?key=…"
url           | string (URL) | AB | "{base}/decks/lead/all-of-it" | "{base}/decks/lead/deck"`,

	"Trashed deck summary": `
id            | integer      | AB | 3 | 4
title         | string       | AB | "Gone" | "deck"
description   | string       | AB | "Was here." | ""
thumbnail_url | string (URL) | AB | "{base}/decks/lead/gone/thumbnail?key=…" | "{base}/decks/lead/deck-…/thumbnail?key=…"
trashed_at    | timestamp    | AB | "{now}" | "{now}"`,

	"Deck detail": `
id                    | integer      | AB | 1 | 2
title                 | string       | AB | "All of it" | "deck"
description           | string       | AB | "Every field." | ""
thumbnail_url         | string (URL) | A  | "{base}/decks/lead/all-of-it/thumbnail?key=…" | "{base}/decks/lead/deck/thumbnail?key=…"
url                   | string (URL) | AB | "{base}/decks/lead/all-of-it" | "{base}/decks/lead/deck"
urls                  | object       | AB | {"default":"{base}/decks/lead/all-of-it","fullscreen":"{base}/decks/lead/all-of-it/fullscreen","edit":"{base}/decks/lead/all-of-it/edit","present":"{base}/decks/lead/all-of-it/present"} | {"default":"{base}/decks/lead/deck","fullscreen":"{base}/decks/lead/deck/fullscreen","edit":"{base}/decks/lead/deck/edit","present":"{base}/decks/lead/deck/present"}
slug                  | string       | AB | "all-of-it" | "deck"
visibility            | string       | AB | "team" | "self"
slide_count           | integer      | AB | 2 | 0
notes                 | string       | AB | "Aside.\n\nSaid." | ""
css                   | string       | A  | "h1 { color: red }" | ""
css_input             | string       | B  | "h1 { color: red }" | ""
css_output            | string       | B  | ".reveal h1 {\ncolor: red;\n}\n" | ""
width                 | integer      | AB | 1280 | 960
height                | integer      | AB | 720 | 700
margin                | number       | AB | 0.1 | 0.05
transition            | string       | AB | "zoom" | "slide"
background_transition | string       | AB | "fade" | "slide"
rtl                   | boolean      | A  | true | false
loop                  | boolean      | A  | true | false
theme_font            | string       | AB | "merriweather" | "montserrat"
theme_color           | string       | AB | "black-mint" | "white-blue"
language              | string       | AB | "ar" | "en"
embed_origins         | string       | AB | "https://example.org" | ""
created_at            | timestamp    | AB | "{now}" | "{now}"
updated_at            | timestamp    | AB | "{now}" | "{now}"
deck_html             | string       | A? | "<section>a<aside class=\"notes\">Aside.</aside></section><section data-notes=\"Said.\">b</section>" | ""
data                  | string       | B  | "<section>a<aside class=\"notes\">Aside.</aside></section><section data-notes=\"Said.\">b</section>" | ""`,

	"Private share link": `
id                 | integer      | AB | 1 | 2
deck_id            | integer      | AB | 1 | 1
name               | string       | AB | "Board" | "API Link"
url                | string (URL) | AB | "{base}/share/…" | "{base}/share/…"
urls               | object       | AB | {"default":"{base}/share/…","fullscreen":"{base}/share/…/fullscreen"} | {"default":"{base}/share/…","fullscreen":"{base}/share/…/fullscreen"}
password_protected | boolean      | AB | true | false
expires_at         | timestamp?   | AB | "2026-02-03T05:05:06.000Z" | null
expired            | boolean      | AB | false | false
notify_on_view     | boolean      | AB | true | false
view_count         | integer      | AB | 2 | 0
first_viewed_at    | timestamp?   | AB | "{now}" | null
created_at         | timestamp    | AB | "{now}" | "{now}"`,

	"Export": `
id                      | integer       | AB | 1 | 2
deck_id                 | integer       | AB | 1 | 1
format                  | string        | AB | "zip" | "pdf"
status                  | string        | AB | "completed" | "pending"
created_at              | timestamp     | AB | "{now}" | "{now}"
completed_at            | timestamp?    | AB | "{now}" | null
download_url            | string? (URL) | AB | "{base}/v1/decks/1/exports/1/download?expires=…" | null
download_url_expires_at | timestamp?    | AB | "2026-02-04T04:05:06.000Z" | null`,

	"page":  "page | integer | AB | 1 | 1\nper_page | integer | AB | 20 | 20\ntotal | integer | AB | 2 | 2",
	"total": "total | integer | AB | 2 | 2",
	"poll":  "poll_after_seconds | integer | AB | 2 | 2",
	"Tool's trash": `
id      | integer | AB | 1 | 2
trashed | boolean | AB | true | true`,
})

// withTeams adds the decks of teams to the tables.
func withTeams(all map[string]string) map[string]string {
	const owner = `owner | object | AB | {"id":0…,"name":"Ada Lovelace","username":"lead"} | {"id":0…,"name":"Ada Lovelace","username":"lead"}`
	all["Team deck summary"] = all["Deck summary"] + "\nvisibility | string | AB | \"team\" | \"self\"\n" + owner
	all["Team deck detail"] = all["Deck detail"] + "\n" + owner
	return all
}

// specEndpoints are the tables of endpoints: the revisions that have each, what it needs
// besides a key ("write": a key that may; "plan": a pro or team account; "lead": a team's
// owner or admin), the status and what it answers: a resource, with [] a list of some, and
// the meta beside it.
var specEndpoints = []struct {
	in, method, path, needs string
	status                  int
	data, meta              string
}{
	{"AB", "GET", "/v1/user", "", 200, "User", ""},
	{"AB", "GET", "/v1/decks", "", 200, "[]Deck summary", "page"},
	{"A", "GET", "/v1/decks/trashed", "", 200, "[]Trashed deck summary", "page"},
	{"AB", "GET", "/v1/decks/:id", "", 200, "Deck detail", ""},
	{"AB", "POST", "/v1/decks", "write", 201, "Deck detail", ""},
	{"AB", "PATCH", "/v1/decks/:id", "write", 200, "Deck detail", ""},
	{"AB", "POST", "/v1/decks/:id/trash", "write", 204, "", ""},
	{"A", "POST", "/v1/decks/:id/recover", "write", 204, "", ""},
	{"A", "GET", "/v1/decks/:deck_id/share", "plan", 200, "[]Private share link", "total"},
	{"A", "POST", "/v1/decks/:deck_id/share", "plan write", 201, "Private share link", ""},
	{"A", "DELETE", "/v1/decks/:deck_id/share/:id", "plan write", 204, "", ""},
	{"A", "POST", "/v1/decks/:deck_id/exports", "write", 202, "Export", "poll"},
	{"A", "GET", "/v1/decks/:deck_id/exports/:id", "", 200, "Export", ""},
	{"A", "GET", "/v1/team/decks", "lead", 200, "[]Team deck summary", "page"},
	{"A", "GET", "/v1/team/decks/:id", "lead", 200, "Team deck detail", ""},
}

// specTools is the table of tools: what each needs, its inputs (required ones with a star;
// default, minimum and maximum behind them), what it returns, and the request whose answer in
// revision B that equals. The first five are the specification's.
var specTools = []struct{ name, needs, inputs, returns, same string }{
	{"list_decks", "", "page:integer:1:1 per_page:integer:20:1:100", "[]Deck summary", "/v1/decks"},
	{"get_deck", "", "id*:integer", "Deck detail", "/v1/decks/1"},
	{"create_deck", "write", "title:string:deck description:string width:integer::1 height:integer::1 data:string visibility:string", "Deck detail", ""},
	{"update_deck", "write", "id*:integer title:string description:string width:integer::1 height:integer::1 data:string visibility:string", "Deck detail", ""},
	{"trash_deck", "write", "id*:integer", "Tool's trash", ""},
	{"recover_deck", "write", "id*:integer", "Tool's trash", ""},
	{"get_user", "", "", "User", "/v1/user"},
	{"list_trashed_decks", "", "page:integer:1:1 per_page:integer:20:1:100", "[]Trashed deck summary", "/v1/decks/trashed"},
	{"list_share_links", "", "deck_id*:integer", "[]Private share link", "/v1/decks/1/share"},
	{"create_share_link", "write", "deck_id*:integer name:string:API_Link password:string expires_at:string notify_on_view:boolean:false", "Private share link", ""},
	{"revoke_share_link", "write", "deck_id*:integer id*:integer", "", ""},
	{"get_export", "", "deck_id*:integer id*:integer wait_seconds:integer:0", "Export", "/v1/decks/1/exports/1"},
	{"create_export", "write", "deck_id*:integer format*:string margin:number:0:0:0.2 slide_number:boolean:false slide_notes:boolean:false separate_fragments:boolean:false wait_seconds:integer:0", "Export", ""},
	{"list_team_decks", "", "page:integer:1:1 per_page:integer:20:1:100", "[]Team deck summary", "/v1/team/decks"},
	{"get_team_deck", "", "id*:integer", "Team deck detail", "/v1/team/decks/1"},
}

// moreTools are those that the specification does not know.
var moreTools = []string{
	"add_deck_file", "get_slide", "insert_slide", "list_deck_files", "list_slides", "move_slide", "remove_slide", "update_slide",
}

// specField is a row of a table of fields.
type specField struct{ name, typ, in, full, bare string }

// fieldsOf reads a table of fields.
func fieldsOf(resource string) (all []specField) {
	for line := range strings.SplitSeq(strings.TrimSpace(specFields[resource]), "\n") {
		parts := strings.SplitN(line, "|", 5)
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		all = append(all, specField{parts[0], parts[1], parts[2], parts[3], parts[4]})
	}
	return all
}

// has reports whether a field is in an answer in a revision ("A", "B", or "" for both).
func (f specField) has(revision string, html bool) bool {
	in, asked := strings.CutSuffix(f.in, "?")
	return (revision == "" || strings.Contains(in, revision)) && (html || !asked)
}
