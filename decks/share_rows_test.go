package decks

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/opstest"
)

// linked is a deck of alice's with a link, kept as $T.
func linked(t *testing.T, fields string) *opstest.Engine {
	t.Helper()
	s := table(t)
	plan(s, "alice", "pro")
	s.Play([]opstest.Row{
		{"alice", "Deck.Create", "", `{"title": "Talk", "data": "<section>x<aside class=notes>hush</aside></section>"}`, `…"id":1,…`},
		{"", "Deck.CreateShareLink", "", `{"deck_id": 1, "fields": ` + fields + `}`, `…"view_count":0}}}`},
	})
	_, token, _ := strings.Cut(s.Call("alice", "Deck.ListShareLinks", "", `{"deck_id": 1}`), `"url":"/share/`)
	token, _, _ = strings.Cut(token, `"`)
	s.Keep("T", token)
	return s
}

// TestShareLinkFields has what a link may be made of.
func TestShareLinkFields(t *testing.T) {
	s := linked(t, `{}`)
	long := strings.Repeat("p", 1025)
	make := func(fields, want string) opstest.Row {
		return opstest.Row{"alice", "Deck.CreateShareLink", "", `{"deck_id": 1, "fields": ` + fields + `}`, want}
	}
	s.Play([]opstest.Row{
		make(`{"name": null}`, "! invalid invalid_type name: name: must be a string"),
		make(`{"name": 7}`, "! invalid invalid_type name: name: must be a string"),
		make(`{"name": " "}`, "! invalid too_short name: name: must not be empty"),
		make(`{"name": "a\u0007"}`, "! invalid invalid_text name: name: control characters are not allowed"),
		make(`{"name": "`+strings.Repeat("ü", 201)+`"}`, "! invalid too_long name: name: 201 characters, limit 200"),
		make(`{"password": null}`, `…"password_protected":false…`),
		make(`{"password": ""}`, `…"password_protected":false…`),
		make(`{"password": ["x"]}`, "! invalid invalid_type password: password: must be a string"),
		make(`{"password": "`+long+`"}`, "! invalid too_long password: password: 1025 bytes, limit 1024"),
		make(`{"expires_at": null}`, `…"expired":false,"expires_at":null…`),
		make(`{"expires_at": ""}`, "! invalid invalid_value expires_at: expires_at: must not be empty; null means never"),
		make(`{"expires_at": 5}`, "! invalid invalid_type expires_at: …"),
		make(`{"expires_at": "2025-02-30T00:00:00Z"}`, "! invalid invalid_value expires_at: …"),
		make(`{"expires_at": "2030-01-01"}`, "! invalid invalid_value expires_at: …"),
		make(`{"expires_at": "2030-01-01T00:00:00"}`, "! invalid invalid_value expires_at: …"),
		make(`{"expires_at": "2025-01-01T00:00:00Z"}`, "! invalid out_of_range expires_at: expires_at: must be in the future"),
		make(`{"expires_at": " 2030-01-01t02:00:00.5+02:00 "}`, `…"expires_at":"2030-01-01T00:00:00.500Z"…`),
		make(`{"expires_at": "2030-01-01T00:00:00.0009Z"}`, `…"expires_at":"2030-01-01T00:00:00.000Z"…`),
		make(`{"notify_on_view": "yes"}`, "! invalid invalid_type notify_on_view: …"),
		make(`{"notify_on_view": null}`, "! invalid invalid_type notify_on_view: …"),
		make(`{"view_count": 3}`, "! invalid read_only_field view_count: view_count: is read-only"),
		make(`{"expired": false}`, "! invalid read_only_field expired: …"),
		make(`{"Name": "x"}`, `! invalid unknown_field Name: "Name": is not a field of a share link`),
		{"alice", "Deck.CreateShareLink", "", `{"deck_id": 2}`, "! notfound: deck 2: does not exist"},
		{"bob", "Deck.CreateShareLink", "", `{"deck_id": 1}`, "! denied plan_required: share links: require a pro or team account"},
		{"carol", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1}`, "! denied plan_required: …"},
		{"admin", "Deck.CreateShareLink", "", `{"deck_id": 1}`, "! notfound: deck 1: does not exist"},
	})
	plan(s, "bob", "lite")
	s.Play([]opstest.Row{{"bob", "Deck.ListShareLinks", "", `{"deck_id": 1}`, "! denied plan_required: …"}})
	plan(s, "bob", "pro")
	s.Play([]opstest.Row{
		{"bob", "Deck.ListShareLinks", "", `{"deck_id": 1}`, "! notfound: deck 1: does not exist"},
		{"bob", "Deck.RevokeShareLink", "", `{"deck_id": 1, "id": 1}`, "! notfound: deck 1: does not exist"},
	})
}

// TestShareInstant: a link ends with the millisecond that it names, for everyone and in the list.
func TestShareInstant(t *testing.T) {
	s := linked(t, `{"expires_at": "2025-01-01T00:00:10Z", "password": "p"}`)
	s.Play([]opstest.Row{
		{"bob", "Deck.OpenShare", "", `{"token": "$T"}`, `…{"locked":"password_required"}}`},
		{"", "Deck.OpenShare", "", `{"token": "$T", "password": "p"}`, `…"link":{"expires_at":"2025-01-01T00:00:10.000Z",…`},
		{"", "keep", "", "value.pass", "P"},
		{"", "Deck.OpenShare", "", `{"token": "$T", "pass": "$P", "probe": true}`, `{…`},
	})
	for s.Clock.Now().Second() < 8 {
		s.Clock.Tick()
	}
	s.Play([]opstest.Row{
		{"", "Deck.OpenShare", "", `{"token": "$T", "pass": "$P"}`, `…"html":"<section>x</section>"…`}, // at 9
		{"", "Deck.OpenShare", "", `{"token": "$T", "pass": "$P"}`, "! notfound link_expired: share link: has expired"},
		{"", "Deck.OpenShare", "", `{"token": "$T", "password": "p"}`, "! notfound link_expired: …"},
		{"", "Deck.OpenShare", "", `{"token": "$T", "password": "wrong"}`, "! notfound link_expired: …"},
		{"alice", "Deck.OpenShare", "", `{"token": "$T", "password": "p"}`, "! notfound link_expired: …"},
		{"", "Deck.ListShareLinks", "", `{"deck_id": 1}`, `…"expired":true…`},
		{"", "Deck.Trash", "", `{"id": 1}`, `{…`},
		// What is gone says nothing of when it would have ended.
		{"bob", "Deck.OpenShare", "", `{"token": "$T", "password": "p"}`, "! notfound: share link: does not exist"},
	})
}

// TestShareViews: every view that somebody has is counted once and no other.
func TestShareViews(t *testing.T) {
	s := linked(t, `{"notify_on_view": true, "password": "p"}`)
	views := func(n int) opstest.Row {
		return opstest.Row{"alice", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1}`, fmt.Sprintf(`…"total":%d}}}`, n)}
	}
	s.Play([]opstest.Row{
		views(0),
		{"bob", "Deck.OpenShare", "", `{"token": "$T", "count": true}`, `…"locked":"password_required"…`},
		{"", "Deck.OpenShare", "", `{"token": "$T", "count": true, "password": "q"}`, `…"locked":"wrong_password"…`},
		{"", "Deck.OpenShare", "", `{"token": "$T", "count": true, "pass": "q"}`, `…"locked":"password_required"…`},
		{"", "Deck.OpenShare", "", `{"token": "$T", "count": true, "password": "` + strings.Repeat("p", 1025) + `"}`, `…"locked":"wrong_password"…`},
		views(0),
		{"bob", "Deck.OpenShare", "", `{"token": "$T", "password": "p"}`, `…"pass":"…`},
		{"", "keep", "", "value.pass", "P"},
		{"", "Deck.OpenShare", "", `{"token": "$T", "count": true, "probe": true, "pass": "$P"}`, `{…`},
		{"", "Deck.OpenShare", "", `{"token": "$T", "count": true, "agent": "Mozilla/5.0 (compatible; GoogleBOT/2.1)", "pass": "$P"}`, `…"pass":"…`},
		{"", "Deck.OpenShare", "", `{"token": "$T", "count": true, "agent": "curl/8.5", "pass": "$P"}`, `…"pass":"…`},
		{"alice", "Deck.OpenShare", "", `{"token": "$T", "count": true, "pass": "$P"}`, `…"pass":"…`},
		views(0),
		{"alice", "Deck.ListNotices", "", `{}`, `…"total":0}}}`},
		{"bob", "Deck.OpenShare", "", `{"token": "$T", "count": true, "agent": "Fire", "referrer": "https://x.example/", "pass": "$P"}`, `…"pass":"…`},
		{"carol", "Deck.OpenShare", "", `{"token": "$T", "count": true, "agent": "` + strings.Repeat("ü", 201) + `", "pass": "$P"}`, `…"pass":"…`},
		views(2),
		{"alice", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1, "per_page": 1}`, `…"user_agent":"` + strings.Repeat("ü", 200) + `"…`},
		{"", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1, "per_page": 1, "page": 2}`, `…"data":[{"referrer":"https://x.example/","user_agent":"Fire",…"total":2}}}`},
		{"", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1, "page": 3}`, `…"data":[],…"total":2}}}`},
		{"", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1, "per_page": 101}`, "! invalid out_of_range per_page: …"},
		{"", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 2}`, "! notfound: share link 2 of deck 1: does not exist"},
		{"", "Deck.ListShareLinks", "", `{"deck_id": 1}`, `…"view_count":2}]…`},
		{"", "Deck.ListNotices", "", `{}`, `…"event":"share_link.first_viewed",…"total":1}}}`},
		{"bob", "Deck.ListNotices", "", `{}`, `…"total":0}}}`},
		{"alice", "Deck.RevokeShareLink", "", `{"deck_id": 1, "id": 1}`, `…"revoked":true…`},
		{"", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1}`, "! notfound: share link 1 of deck 1: does not exist"},
		{"bob", "Deck.OpenShare", "", `{"token": "$T", "pass": "$P"}`, "! notfound: share link: does not exist"},
		{"alice", "Deck.CreateShareLink", "", `{"deck_id": 1}`, `…"id":2,…"view_count":0…`},
		{"bob", "Deck.OpenShare", "", `{"token": "$T"}`, "! notfound: share link: does not exist"},
	})
}

// TestShareEnded: a link lives as long as its owner may have links and read the deck, and is there again afterwards.
func TestShareEnded(t *testing.T) {
	const gone = "! notfound: share link: …"
	s := linked(t, `{}`)
	open := func(want string) { s.Play([]opstest.Row{{"bob", "Deck.OpenShare", "", `{"token": "$T"}`, want}}) }
	shown := `…"editable":false,…`
	open(shown)
	for _, account := range []string{"free", "lite", ""} {
		plan(s, "alice", account)
		open(gone)
	}
	plan(s, "alice", "team")
	open(shown)
	s.Call("alice", "Deck.Trash", "", `{"id": 1}`)
	open(gone)
	s.Call("alice", "Deck.Recover", "", `{"id": 1}`)
	open(shown)
	// A deck for everyone keeps the links that it has, and gets no more.
	s.Call("alice", "Deck.Update", "", `{"id": 1, "visibility": "all"}`)
	open(shown)
	s.Play([]opstest.Row{{"alice", "Deck.CreateShareLink", "", `{"deck_id": 1}`, "! conflict deck_is_public: deck 1: is public and does not need a link"}})
	s.Call("alice", "Deck.Update", "", `{"id": 1, "visibility": "self"}`)
	s.Play([]opstest.Row{{"alice", "Deck.CreateShareLink", "", `{"deck_id": 1}`, `…"id":2,…`}})
}

// TestShareLimit: a deck has a hundred links, expired ones too, and one that is revoked makes room.
func TestShareLimit(t *testing.T) {
	s := linked(t, `{"expires_at": "2025-01-01T00:00:10Z"}`)
	for range 99 {
		s.Call("alice", "Deck.CreateShareLink", "", `{"deck_id": 1}`)
	}
	s.Play([]opstest.Row{
		{"alice", "Deck.ListShareLinks", "", `{"deck_id": 1}`, `…"meta":{"total":100}}}`},
		{"", "Deck.CreateShareLink", "", `{"deck_id": 1}`, "! limit too_many_links: deck 1: has 100 share links, limit 100"},
		{"", "Deck.Create", "", `{"title": "Other"}`, `…"id":2,…`},
		{"", "Deck.CreateShareLink", "", `{"deck_id": 2}`, `…"id":101,…`},
		{"", "Deck.RevokeShareLink", "", `{"deck_id": 2, "id": 1}`, "! notfound: share link 1 of deck 2: does not exist"},
		{"", "Deck.RevokeShareLink", "", `{"deck_id": 1, "id": 1}`, `…"revoked":true…`},
		{"", "Deck.CreateShareLink", "", `{"deck_id": 1}`, `…"id":102,…`},
	})
}

// TestShareViewsKept: the latest thousand views stay, and all are counted.
func TestShareViewsKept(t *testing.T) {
	s := linked(t, `{}`)
	for i := range 1003 {
		if got := s.Call("bob", "Deck.OpenShare", "", fmt.Sprintf(`{"token": "$T", "count": true, "agent": "a%d"}`, i+1)); got[0] == '!' {
			t.Fatal(got)
		}
	}
	s.Play([]opstest.Row{
		{"alice", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1, "per_page": 1}`, `…"user_agent":"a1003",…"total":1000}}}`},
		{"", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1, "per_page": 1, "page": 1000}`, `…"user_agent":"a4",…"total":1000}}}`},
		{"", "Deck.ListShareViews", "", `{"deck_id": 1, "id": 1, "per_page": 1, "page": 1001}`, `…"data":[],…"total":1000}}}`},
		{"", "Deck.ListShareLinks", "", `{"deck_id": 1}`, `…"first_viewed_at":"2025-01-01T00:00:0…"view_count":1003}]…`},
		{"", "Deck.RevokeShareLink", "", `{"deck_id": 1, "id": 1}`, `…"revoked":true…`},
	})
}

// TestNoticesKept: an owner's latest thousand notices stay, and those of others are not touched.
func TestNoticesKept(t *testing.T) {
	s := linked(t, `{"notify_on_view": true}`)
	plan(s, "carol", "pro")
	s.Call("carol", "Deck.Create", "", `{"title": "Hers"}`)
	view := func(user string, deck int) {
		t.Helper()
		made := s.Call(user, "Deck.CreateShareLink", "", fmt.Sprintf(`{"deck_id": %d, "notify_on_view": true}`, deck))
		_, token, _ := strings.Cut(made, `"url":"/share/`)
		token, _, _ = strings.Cut(token, `"`)
		_, id, _ := strings.Cut(made, `"id":`)
		id, _, _ = strings.Cut(id, ",")
		if got := s.Call("bob", "Deck.OpenShare", "", fmt.Sprintf(`{"token": %q, "count": true}`, token)); got[0] == '!' {
			t.Fatal(got)
		}
		s.Call(user, "Deck.RevokeShareLink", "", fmt.Sprintf(`{"deck_id": %d, "id": %s}`, deck, id))
	}
	view("carol", 2)
	for range 1002 {
		view("alice", 1)
	}
	s.Play([]opstest.Row{
		{"alice", "Deck.ListNotices", "", `{"per_page": 1}`, `…"data":[{…"id":1003,…"total":1000}}}`},
		{"", "Deck.ListNotices", "", `{"per_page": 1, "page": 1000}`, `…"data":[{…"id":4,…"total":1000}}}`},
		{"carol", "Deck.ListNotices", "", `{}`, `…"id":1,…"title":"Hers"…"total":1}}}`},
	})
}
