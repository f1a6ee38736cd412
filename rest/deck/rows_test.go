package deck

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/decks/route"
	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// asking is a request with headers: pairs of name and value.
func asking(target string, headers ...string) *rest.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return &rest.Request{HTTP: r, Writer: httptest.NewRecorder()}
}

// TestAcceptsJSON has what clients say of the answers that they can read.
func TestAcceptsJSON(t *testing.T) {
	for accept, want := range map[string]bool{
		"*/*": true, "application/*": true, "application/json": true, "APPLICATION/JSON": true, "application/problem+json": true, "text/html, */*;q=0.1": true,
		"text/html,application/json;q=0.9": true, "application/json; charset=utf-8": true, "application/json;q=0.001": true, "": true,
		"text/html": false, "application/json;q=0": false, "application/json; q = 0": false, "application/json;q=0.0": false, "application/json;Q=0.000": false,
		"application/json;charset=utf-8;q=0": false, "text/html, application/json;q=0": false, "application/xml": false, "image/*": false, "json/x": false,
	} {
		if got := acceptsJSON(asking("/v1/decks", "Accept", accept)); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
	if !acceptsJSON(asking("/v1/decks")) || !acceptsJSON(asking("/", "Accept", "text/html", "Accept", "application/json")) {
		t.Error("without the header, or with two")
	}
}

// TestRevisionOf: a header goes before the address, which goes before the key.
func TestRevisionOf(t *testing.T) {
	for _, row := range []struct{ target, header, key, want string }{
		{"/v1/decks", "", "", "union"},
		{"/v1/decks", "A", "", "A"},
		{"/v1/decks", "union", "B", "union"},
		{"/v1/decks?revision=B", "", "", "B"},
		{"/v1/decks?revision=B", "A", "", "A"},
		{"/v1/decks?revision=B", "", "A", "B"},
		{"/v1/decks", "", "B", "B"},
		{"/v1/decks?revision=", "", "A", "A"},
		{"/v1/decks?revision=c", "", "", "!"},
		{"/v1/decks", "AB", "", "!"},
		{"/v1/decks", " A", "", "! "},
		{"/v1/decks?revision=UNION", "", "", "!"},
	} {
		x := asking(row.target)
		if row.header != "" {
			x.HTTP.Header.Set("Deck-Revision", row.header)
		}
		x.As = &engine.Principal{Revision: row.key}
		got, err := revisionOf(x)
		if strings.HasPrefix(row.want, "!") {
			if fault.CodeOf(err) != fault.CodeUnknownRevision || fault.Of(err) != fault.Invalid {
				t.Errorf("%+v: %q, %v", row, got, err)
			}
			continue
		}
		h := x.Writer.Header()
		if err != nil || got != row.want || h.Get("Deck-Revision") != row.want || h.Get("Vary") != "Deck-Revision, Authorization" {
			t.Errorf("%+v: %q, %v, %v", row, got, err, h)
		}
	}
}

// TestLinksOfPages has the addresses of the pages beside one, to both ends of a list.
func TestLinksOfPages(t *testing.T) {
	for _, row := range []struct {
		page, perPage, total int64
		query, want          string
	}{
		{1, 20, 0, "", "1 first, 1 last"},
		{1, 20, 20, "", "1 first, 1 last"},
		{1, 20, 21, "", "1 first, 2 next, 2 last"},
		{2, 20, 21, "", "1 first, 1 prev, 2 last"},
		{2, 1, 3, "", "1 first, 1 prev, 3 next, 3 last"},
		{9, 1, 3, "", "1 first, 3 prev, 3 last"},
		{1 << 62, 100, 101, "", "1 first, 2 prev, 2 last"},
		{2, 20, 0, "", "1 first, 1 prev, 1 last"},
		{1, 5, 6, "?revision=A&other=x", "1 first, 2 next, 2 last"},
	} {
		x := asking("/v1/decks" + row.query)
		x.Server = &rest.Handler{Config: rest.Config{Base: "https://h.example/p/nuxeo", ContextPath: "/nuxeo"}}
		links(x, listOf(map[string]any{"meta": map[string]any{"page": row.page, "per_page": row.perPage, "total": row.total}}))
		var want []string
		for item := range strings.SplitSeq(row.want, ", ") {
			page, rel, _ := strings.Cut(item, " ")
			revision := ""
			if row.query != "" {
				revision = "&revision=A"
			}
			want = append(want, fmt.Sprintf(`<https://h.example/p/v1/decks?page=%s&per_page=%d%s>; rel="%s"`, page, row.perPage, revision, rel))
		}
		if got := x.Writer.Header().Get("Link"); got != strings.Join(want, ", ") {
			t.Errorf("%+v: %s", row, got)
		}
	}
	x := asking("/v1/decks/1")
	if links(x, listOf(map[string]any{"meta": map[string]any{"total": int64(3)}})); x.Writer.Header().Get("Link") != "" {
		t.Errorf("no page of a list: %v", x.Writer.Header())
	}
}

// TestFill puts members of a result into a location.
func TestFill(t *testing.T) {
	data := map[string]any{"id": int64(7), "deck_id": int64(3), "name": "a"}
	for location, want := range map[string]string{
		"/v1/decks/{id}": "/v1/decks/7", "/v1/decks/{deck_id}/share-links/{id}": "/v1/decks/3/share-links/7", "{name}{name}": "aa", "/x": "/x", "{}": "{}", "{a-b}": "{a-b}",
	} {
		if got := fill(location, data); got != want {
			t.Errorf("%s: %s", location, got)
		}
	}
}

// TestRoutesFilled: every location that an answer may have is made of members with names, below the service.
func TestRoutesFilled(t *testing.T) {
	routes := Routes()
	for i := range route.Routes {
		r := &route.Routes[i]
		if r.Location != "" && (!strings.HasPrefix(r.Location, "/v1/") || strings.Contains(fill(r.Location, map[string]any{"id": 1, "deck_id": 1, "number": 1}), "nil")) {
			t.Errorf("%s: location %s", r.ID, r.Location)
		}
		if !slices.ContainsFunc(routes, func(x rest.Route) bool { return x.Method == r.Method && x.Path == pattern(r.Path) }) {
			t.Errorf("%s: no address", r.ID)
		}
	}
	for path, want := range map[string]bool{"/v1": true, "/v1/decks": true, "/mcp": true, "/mcp/x": true, "/v10": false, "/api/v1": false, "/decks": false} {
		if got := Holds(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// TestWebhookNames: members of webhooks have the service's names, and instants its form.
func TestWebhookNames(t *testing.T) {
	at := time.Date(2026, 1, 2, 4, 4, 5, 6_999_999, time.FixedZone("", 3600))
	got := webhooks([]any{map[string]any{"created": at, "failingSince": nil, "url": "u"}, map[string]any{"finished": at}}).(map[string]any)
	data, _ := got["data"].([]any)
	if len(data) != 2 || fmt.Sprint(data[0]) != "map[created_at:2026-01-02T03:04:05.006Z failing_since:<nil> url:u]" || fmt.Sprint(data[1]) != "map[finished_at:2026-01-02T03:04:05.006Z]" {
		t.Errorf("list: %v", got)
	}
	if meta, _ := got["meta"].(map[string]any); meta["total"] != int64(2) {
		t.Errorf("list: %v", got)
	}
	if got := fmt.Sprint(webhooks(map[string]any{"updated": at})); got != "map[data:map[updated_at:2026-01-02T03:04:05.006Z]]" {
		t.Errorf("one: %s", got)
	}
	if got := fmt.Sprint(webhooks(nil)); got != "map[data:<nil>]" {
		t.Errorf("none: %s", got)
	}
}

// TestDeckPoints: every error that is about a field is told apart, in whatever they were joined.
func TestDeckPoints(t *testing.T) {
	a := fault.Invalid.Errorf("a: bad").In("a").WithCode(fault.CodeOutOfRange)
	b := fault.Limit.Errorf("b: many").In("b")
	for _, row := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("x"), ""},
		{fault.Invalid.Errorf("x"), ""},
		{a, "?a out_of_range"},
		{b, "#/b limit"},
		{errors.Join(b, a), "#/b limit, ?a out_of_range"},
		{errors.Join(errors.Join(b), fault.Invalid.Errorf("x"), a), "#/b limit, ?a out_of_range"},
		{fmt.Errorf("op: %w", errors.Join(b, b)), "#/b limit, #/b limit"},
		{fault.Invalid.Errorf("r").In("revision"), "?revision invalid"},
	} {
		var got []string
		for _, p := range deckPoints(asking("/v1/decks?a=1"), row.err) {
			at := p.Pointer
			if p.Parameter != "" {
				at += "?" + p.Parameter
			}
			got = append(got, at+" "+p.Code)
		}
		if text := strings.Join(got, ", "); text != row.want {
			t.Errorf("%v: %s, want %s", row.err, text, row.want)
		}
	}
}
