package rest_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// startDecks runs a server with the deck operations and the user alice. If there is a rate, it is exact: that of one server.
func startDecks(t testing.TB, rate int) *resttest.Server {
	t.Helper()
	return startDecksOf(t, rate, rate > 0)
}

func startDecksOf(t testing.TB, rate int, single bool) *resttest.Server {
	t.Helper()
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Single: single, Repo: decks.Listen, Rest: func(c *rest.Config) { c.Limits.Rate = rate }})
	s.User("alice")
	return s
}

// bearer are the headers of a request with a key.
func bearer(key string, more ...string) []string {
	return append([]string{"Authorization", "Bearer " + key}, more...)
}

func members(v any) string {
	m, _ := v.(map[string]any)
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestDeckRevisions(t *testing.T) {
	s := startDecks(t, -1)
	key := s.Key("alice", "read_write")
	common := "background_transition created_at description embed_origins height id language margin notes slide_count slug theme_color theme_font title transition updated_at url urls visibility width"
	sorted := func(text string) string {
		f := strings.Fields(text)
		slices.Sort(f)
		return strings.Join(f, " ")
	}
	a, b := common+" css loop rtl thumbnail_url", common+" css_input css_output data"
	tests := []struct{ revision, field, summary, read, written string }{
		{"A", "deck_html", "description id thumbnail_url title url", sorted(a), sorted(a + " deck_html")},
		{"B", "data", "description id title url", sorted(b), sorted(b)},
		{"union", "data", "description id thumbnail_url title url", sorted(a + " css_input css_output data"), sorted(a + " css_input css_output data deck_html")},
	}
	for i, test := range tests {
		with := func(more ...string) []string {
			if test.revision != "union" {
				more = append(more, "Deck-Revision", test.revision)
			}
			return bearer(key, more...)
		}
		made := s.Do("POST", "/v1/decks", fmt.Sprintf(`{"title":"T","%s":"<section>x</section>"}`, test.field), with()...)
		id := i + 1
		if made.StatusCode != http.StatusCreated || members(made.JSON(t)["data"]) != test.written || !strings.HasSuffix(made.Header.Get("Location"), fmt.Sprintf("/v1/decks/%d", id)) {
			t.Errorf("%s: create: %s %s %s", test.revision, made.Status, made.Header.Get("Location"), made.Text)
		}
		if got := made.Header.Get("Deck-Revision"); got != test.revision {
			t.Errorf("%s: revision %q", test.revision, got)
		}
		path := fmt.Sprintf("/v1/decks/%d", id)
		read := s.Do("GET", path, "", with()...)
		if read.StatusCode != http.StatusOK || members(read.JSON(t)["data"]) != test.read {
			t.Errorf("%s: read: %s %s", test.revision, read.Status, read.Text)
		}
		html := s.Do("GET", path+"?include_deck_html=1", "", with()...)
		if html.StatusCode != http.StatusOK || members(html.JSON(t)["data"]) != test.written {
			t.Errorf("%s: read with HTML: %s %s", test.revision, html.Status, html.Text)
		}
		tag := read.Header.Get("ETag")
		if got := s.Do("GET", path, "", with("If-None-Match", tag)...); got.StatusCode != http.StatusNotModified || got.Text != "" {
			t.Errorf("%s: unchanged: %s", test.revision, got.Status)
		}
		changed := s.Do("PATCH", path, `{"description":"d"}`, with("If-Match", tag, "Content-Type", "application/merge-patch+json")...)
		if changed.StatusCode != http.StatusOK || members(changed.JSON(t)["data"]) != test.written || changed.Header.Get("ETag") == made.Header.Get("ETag") {
			t.Errorf("%s: update: %s %s", test.revision, changed.Status, changed.Text)
		}
		if got := s.Do("PATCH", path, `{}`, with("If-Match", tag)...); got.StatusCode != http.StatusPreconditionFailed {
			t.Errorf("%s: stale update: %s", test.revision, got.Status)
		}
		list := s.Do("GET", "/v1/decks?per_page=1", "", with()...)
		body := list.JSON(t)
		first := body["data"].([]any)[0]
		meta := fmt.Sprint(body["meta"])
		if members(first) != test.summary || meta != fmt.Sprintf("map[page:1 per_page:1 total:%d]", id) {
			t.Errorf("%s: list: %s", test.revision, list.Text)
		}
		if user := s.Do("GET", "/v1/user", "", with()...); members(user.JSON(t)["data"]) !=
			"account created_at description email id name profile_url team thumbnail_url twitter_handle updated_at username website_url" {
			t.Errorf("%s: user: %s", test.revision, user.Text)
		}
	}
	for range 2 {
		if got := s.Do("POST", "/v1/decks/1/trash", "", bearer(key)...); got.StatusCode != http.StatusNoContent || got.Text != "" {
			t.Errorf("trash: %s %s", got.Status, got.Text)
		}
	}
	if got := s.Do("GET", "/v1/decks/1", "", bearer(key)...); got.StatusCode != http.StatusNotFound {
		t.Errorf("trashed: %s", got.Status)
	}
}

func TestDeckErrors(t *testing.T) {
	s := startDecks(t, -1)
	s.User("bob")
	write, read, other := s.Key("alice", "read_write"), s.Key("alice", "read_only"), s.Key("bob", "read_write")
	if got := s.Do("POST", "/v1/decks", `{}`, bearer(write)...); got.StatusCode != http.StatusCreated || got.JSON(t)["data"].(map[string]any)["title"] != "deck" {
		t.Fatalf("create: %s", got.Text)
	}
	tests := []struct {
		method, path, body string
		headers            []string
		status             int
		code, points       string
	}{
		{"GET", "/v1/decks", "", []string{"as", ""}, 401, "not_signed_in", ""},
		{"GET", "/v1/decks", "", bearer("cat_1_no"), 401, "not_signed_in", ""},
		{"POST", "/v1/decks", `{}`, bearer(read), 403, "insufficient_scope", ""},
		{"PATCH", "/v1/decks/1", `{}`, bearer(read), 403, "insufficient_scope", ""},
		{"POST", "/v1/decks/1/trash", ``, bearer(read), 403, "insufficient_scope", ""},
		{"GET", "/v1/decks/1", "", bearer(other), 404, "notfound", ""},
		{"PATCH", "/v1/decks/1", "{}", bearer(other), 404, "notfound", ""},
		{"POST", "/v1/decks/1/trash", "", bearer(other), 404, "notfound", ""},
		{"GET", "/v1/decks/2", "", bearer(write), 404, "notfound", ""},
		{"GET", "/v1/decks/x", "", bearer(write), 404, "notfound", ""},
		{"GET", "/v1/nothing", "", bearer(write), 404, "notfound", ""},
		{"DELETE", "/v1/decks/1", "", bearer(write), 405, "method_not_allowed", ""},
		{"GET", "/v1/decks", "", bearer(write, "Accept", "text/html"), 406, "not_acceptable", ""},
		{"POST", "/v1/decks", "title=a", bearer(write, "Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type", ""},
		{"POST", "/v1/decks", `{"title"`, bearer(write), 400, "malformed_json", ""},
		{"POST", "/v1/decks", `[]`, bearer(write), 400, "malformed_json", ""},
		{"GET", "/v1/decks?revision=c", "", bearer(write), 400, "unknown_revision", "revision"},
		{"GET", "/v1/decks?per_page=101", "", bearer(write), 422, "out_of_range", "per_page"},
		{"GET", "/v1/decks?page=0", "", bearer(write), 422, "out_of_range", "page"},
		{"GET", "/v1/decks?page=a", "", bearer(write), 422, "invalid", "page"},
		{"GET", "/v1/decks/1?include_deck_html=maybe", "", bearer(write), 422, "invalid", "include_deck_html"},
		{"POST", "/v1/decks", `{"titel":"a","css":"b","id":3}`, bearer(write), 422, "read_only_field", "#/css #/id #/titel"},
		{"POST", "/v1/decks", `{"data":"<section></section>","deck_html":""}`, bearer(write), 422, "conflicting_fields", "#/data #/deck_html"},
		{"POST", "/v1/decks", `{"deck_html":"<section></section>\n<p>"}`, bearer(write), 422, "invalid_html", "#/deck_html 2:1"},
		{"POST", "/v1/decks", `{"title":"","width":0,"height":"x","visibility":"none"}`, bearer(write), 422, "invalid_type", "#/height #/title #/width #/visibility"},
		{"POST", "/v1/decks", `{"visibility":"team"}`, bearer(write), 403, "plan_required", "#/visibility"},
	}
	for _, test := range tests {
		got := s.Do(test.method, test.path, test.body, test.headers...)
		p := got.JSON(t)
		var points []string
		list, _ := p["errors"].([]any)
		for _, item := range list {
			e := item.(map[string]any)
			at, _ := e["pointer"].(string)
			if e["parameter"] != nil {
				at = e["parameter"].(string)
			}
			if e["line"] != nil {
				at += fmt.Sprintf(" %v:%v", e["line"], e["column"])
			}
			points = append(points, at)
		}
		if got.StatusCode != test.status || p["code"] != test.code || strings.Join(points, " ") != test.points || got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s %s: %s %s %v\n%s", test.method, test.path, test.body, got.Status, p["code"], points, got.Text)
		}
		if challenge := got.Header.Get("WWW-Authenticate"); (test.status == 401) != strings.HasPrefix(challenge, "Bearer") && test.code != "insufficient_scope" {
			t.Errorf("%s: challenge %q", test.path, challenge)
		}
	}
}

func TestDeckIdempotency(t *testing.T) {
	s := startDecks(t, -1)
	key := s.Key("alice", "read_write")
	first := s.Do("POST", "/v1/decks", `{"title":"a"}`, bearer(key, "Idempotency-Key", "k")...)
	again := s.Do("POST", "/v1/decks", `{"title":"a"}`, bearer(key, "Idempotency-Key", "k")...)
	if first.StatusCode != http.StatusCreated || again.StatusCode != http.StatusCreated || again.Text != first.Text || again.Header.Get("ETag") != first.Header.Get("ETag") ||
		again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %s %s, first %s", again.Status, again.Text, first.Text)
	}
	other := s.Do("POST", "/v1/decks", `{"title":"b"}`, bearer(key, "Idempotency-Key", "k")...)
	if other.StatusCode != http.StatusUnprocessableEntity || other.JSON(t)["code"] != "idempotency_mismatch" {
		t.Errorf("other body: %s %s", other.Status, other.Text)
	}
	if got := s.Do("GET", "/v1/decks", "", bearer(key)...); fmt.Sprint(got.JSON(t)["meta"]) != "map[page:1 per_page:20 total:1]" {
		t.Errorf("list: %s", got.Text)
	}
}

func TestDeckRate(t *testing.T) {
	s := startDecks(t, 3)
	key := s.Key("alice", "read_only")
	for i := range 4 {
		got := s.Do("GET", "/v1/user", "", bearer(key)...)
		if (got.StatusCode == http.StatusTooManyRequests) != (i == 3) || got.Header.Get("RateLimit") != fmt.Sprintf(`"default";r=%d;t=%d`, max(0, 2-i), 20*min(3, i+1)) {
			t.Errorf("request %d: %s %q", i, got.Status, got.Header.Get("RateLimit"))
		}
		if i == 3 && got.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
}

// TestDeckRateExempt counts no requests that come from a network that is exempt, and those of all others.
func TestDeckRateExempt(t *testing.T) {
	for network, last := range map[string]int{"127.0.0.0/8": http.StatusOK, "192.0.2.0/24": http.StatusTooManyRequests} {
		s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Single: true, Repo: decks.Listen, Rest: func(c *rest.Config) {
			c.Limits.Rate, c.RateExempt = 2, []netip.Prefix{netip.MustParsePrefix(network)}
		}})
		s.User("alice")
		key := s.Key("alice", "read_only")
		for i := range 3 {
			got := s.Do("GET", "/v1/user", "", bearer(key, "X-Forwarded-For", "127.0.0.1")...)
			if want := []int{http.StatusOK, http.StatusOK, last}[i]; got.StatusCode != want {
				t.Errorf("%s: request %d: %s", network, i, got.Status)
			}
		}
	}
}

func TestDeckLinks(t *testing.T) {
	s := startDecks(t, -1)
	key := s.Key("alice", "read_write")
	for range 3 {
		s.Do("POST", "/v1/decks", ``, bearer(key)...)
	}
	got := s.Do("GET", "/v1/decks?page=2&per_page=1", "", bearer(key)...)
	want := ""
	for _, l := range []string{"1 first", "1 prev", "3 next", "3 last"} {
		want += fmt.Sprintf(`, <%s/v1/decks?page=%s&per_page=1>; rel="%s"`, s.URL, l[:1], l[2:])
	}
	if got.Header.Get("Link") != want[2:] {
		t.Errorf("got %s\nwant %s", got.Header.Get("Link"), want[2:])
	}
	past := s.Do("GET", "/v1/decks?page=9", "", bearer(key)...)
	if past.StatusCode != http.StatusOK || fmt.Sprint(past.JSON(t)["data"]) != "[]" || !strings.Contains(past.Text, `"total":3`) {
		t.Errorf("past the end: %s", past.Text)
	}
}

// TestNotesStay looks for speaker notes wherever somebody who may not edit a public deck can see it.
func TestNotesStay(t *testing.T) {
	s := startDecks(t, -1)
	account(t, s, "alice", "team", "owner", 1)
	s.User("bob")
	account(t, s, "bob", "team", "member", 1)
	s.Do("POST", "/v1/decks", `{"title":"Talk","visibility":"all","data":"<section>shown<aside class=\"notes\">whispered</aside></section><section data-markdown>seen\nNote: whispered</section>"}`, bearer(s.Key("alice", "read_write"))...)
	for who, headers := range map[string][]string{"guest": {"as", ""}, "team member": {"as", "bob"}} {
		for _, path := range []string{"/decks/alice/talk", "/decks/alice/talk/fullscreen"} {
			if got := s.Do("GET", path, "", headers...); got.StatusCode != http.StatusOK || strings.Contains(got.Text, "whispered") {
				t.Errorf("%s %s: %s %s", who, path, got.Status, got.Text)
			}
		}
	}
	for _, path := range []string{"/api/v1/path/decks/alice/talk", "/api/v1/path/decks/alice/talk/@blob/deck:html", "/api/v1/query?query=SELECT%20*%20FROM%20Deck"} {
		if got := s.Do("GET", path, "", "as", "bob", "X-NXproperties", "*"); strings.Contains(got.Text, "whispered") {
			t.Errorf("%s: %s %s", path, got.Status, got.Text)
		}
		if got := s.Do("GET", path, "", "as", "alice", "X-NXproperties", "*"); !strings.Contains(got.Text, "whispered") {
			t.Errorf("%s for its owner: %s %s", path, got.Status, got.Text)
		}
	}
}

// TestDeckHTMLIsCurrent reads the HTML of decks again and again, in answers of the service and as a step of a chain: it is
// what was written last, and a text wherever something else than the service's answer is made of it.
func TestDeckHTMLIsCurrent(t *testing.T) {
	s := startDecks(t, -1)
	key := s.Key("alice", "read_write")
	html := func(a *resttest.Answer, name string) any {
		data, _ := a.JSON(t)["data"].(map[string]any)
		return data[name]
	}
	for _, name := range []string{"one", "two"} {
		body := fmt.Sprintf(`{"title": %q, "data": "<section class=\"%[1]s\">\n\t<p>é</p></section>"}`, name)
		if a := s.Do("POST", "/v1/decks", body, bearer(key)...); a.StatusCode != http.StatusCreated {
			t.Fatal(a.Status, a.Text)
		}
	}
	// The second deck gets the HTML of the first, and then one of its own again.
	for i, class := range []string{"two", "one", "two", "three", "one"} {
		want := "<section class=\"" + class + "\">\n\t<p>é</p></section>"
		a := s.Do("PATCH", "/v1/decks/2", fmt.Sprintf(`{"data": %q}`, want), bearer(key)...)
		if html(a, "data") != want || html(a, "deck_html") != want {
			t.Errorf("%d: written %q, got %q and %q", i, want, html(a, "data"), html(a, "deck_html"))
		}
		for range 2 {
			if a := s.Do("GET", "/v1/decks/2?include_deck_html=1", "", bearer(key)...); html(a, "data") != want || html(a, "deck_html") != want {
				t.Errorf("%d: got %q and %q, want %q", i, html(a, "data"), html(a, "deck_html"), want)
			}
		}
		if a := s.Do("POST", "/api/v1/automation/Deck.Get", `{"params": {"id": 2, "revision": "B"}}`, bearer(key)...); !strings.Contains(a.Text, `class=\"`+class+`\"`) {
			t.Errorf("%d: as an operation: %s", i, a.Text)
		}
		if a := s.Do("GET", "/v1/decks/1", "", bearer(key)...); html(a, "data") != "<section class=\"one\">\n\t<p>é</p></section>" {
			t.Errorf("%d: the first deck: %q", i, html(a, "data"))
		}
	}
	if a := s.Do("GET", "/v1/decks/2", "", bearer(s.Key("Administrator", "read_write"))...); a.StatusCode != http.StatusNotFound {
		t.Errorf("a kept text was shown to somebody else: %s %s", a.Status, a.Text)
	}
}
