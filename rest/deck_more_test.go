package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// TestDeckDescribed compares the addresses there are with those that the description of both
// revisions describes.
func TestDeckDescribed(t *testing.T) {
	s := startDecks(t, -1)
	var described []string
	for path, methods := range readContract(t, s, "/openapi.json").at("paths") {
		for method := range methods.(map[string]any) {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	there := deckAddresses()
	slices.Sort(there)
	slices.Sort(described)
	if !slices.Equal(there, described) {
		t.Errorf("addresses:\n%s\ndescribed:\n%s", strings.Join(there, "\n"), strings.Join(described, "\n"))
	}
}

// TestDeckMore goes through the addresses that the specification leaves out, and checks their
// answers against the description.
func TestDeckMore(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) { c.Limits.Rate = -1 }})
	for _, name := range []string{"alice", "bob", "carol"} {
		s.User(name)
	}
	keys := map[string]string{"": ""}
	for _, name := range []string{"alice", "bob", "carol", "Administrator"} {
		keys[name] = s.Key(name, "read_write")
	}
	keys["reader"] = s.Key("alice", "read_only")
	c := readContract(t, s, "/openapi.json")
	hook := ""
	for _, step := range []struct {
		as, method, path, of, typ, body string
		status                          int
		want                            string // part of the answer
	}{
		{"alice", "POST", "/v1/decks/import", "", "", `{"source":"# One\n\n---\n\n# Two","format":"markdown","title":"Mine"}`, 201, `"slide_count":2`},
		{"alice", "POST", "/v1/decks/import?title=Raw", "/v1/decks/import", "text/markdown", "# One\n\n---\n\n# Two", 201, `"title":"Raw"`},
		{"alice", "POST", "/v1/decks/import", "", "text/html; charset=utf-8", `<section>x</section>`, 201, `"slide_count":1`},
		{"alice", "POST", "/v1/decks/import", "", "", `{"text":"x"}`, 422, `unknown_field`},
		{"alice", "POST", "/v1/decks/import", "", "", `{}`, 422, `#/source`},
		{"alice", "POST", "/v1/decks/import", "", "image/png", `x`, 415, ``},
		{"reader", "POST", "/v1/decks/import", "", "text/html", `<section>x</section>`, 403, `insufficient_scope`},
		{"alice", "POST", "/v1/decks/1/versions", "/v1/decks/{id}/versions", "", ``, 200, `"version":"`},
		{"alice", "GET", "/v1/decks/1/versions", "/v1/decks/{id}/versions", "", ``, 200, `"total":1`},
		{"alice", "GET", "/v1/notices", "", "", ``, 200, `"total":0`},
		{"alice", "POST", "/v1/teams", "", "", `{"name":"T"}`, 404, ``},
		{"Administrator", "POST", "/v1/teams", "", "", `{"name":"Wonder Land","owner":"alice"}`, 201, `"slug":"wonder-land"`},
		{"Administrator", "POST", "/v1/teams", "", "", `{"name":"W","slug":"wonder-land"}`, 409, ``},
		{"Administrator", "GET", "/v1/teams", "", "", ``, 200, `"total":1`},
		{"alice", "GET", "/v1/teams/1", "/v1/teams/{id}", "", ``, 200, `"role":"owner"`},
		{"bob", "GET", "/v1/teams/1", "/v1/teams/{id}", "", ``, 404, ``},
		{"alice", "PUT", "/v1/teams/1/members/bob", "/v1/teams/{id}/members/{username}", "", `{}`, 403, ``},
		{"Administrator", "PUT", "/v1/teams/1/members/bob", "/v1/teams/{id}/members/{username}", "", `{}`, 200, `"role":"member"`},
		{"alice", "PUT", "/v1/teams/1/members/bob", "/v1/teams/{id}/members/{username}", "", `{"role":"admin"}`, 200, `"role":"admin"`},
		{"alice", "PUT", "/v1/teams/1/members/bob", "/v1/teams/{id}/members/{username}", "", `{"role":"chief"}`, 422, `#/role`},
		{"bob", "PATCH", "/v1/teams/1", "/v1/teams/{id}", "", `{"name":"Looking-Glass"}`, 200, `"name":"Looking-Glass"`},
		{"bob", "PATCH", "/v1/teams/1", "/v1/teams/{id}", "", `{"members":[]}`, 422, `unknown_field`},
		{"alice", "DELETE", "/v1/teams/1/members/bob", "/v1/teams/{id}/members/{username}", "", ``, 204, ``},
		{"alice", "DELETE", "/v1/teams/1/members/bob", "/v1/teams/{id}/members/{username}", "", ``, 404, ``},
		{"Administrator", "DELETE", "/v1/teams/1", "/v1/teams/{id}", "", ``, 204, ``},
		{"alice", "GET", "/v1/webhooks", "", "", ``, 200, `{"data":[],"meta":{"total":0}}`},
		{"alice", "POST", "/v1/webhooks", "", "", `{"url":"https://hooks.example.org/a","events":["deck.*"],"description":"d"}`, 201, `"secret":"`},
		{"alice", "POST", "/v1/webhooks", "", "", `{"url":"ftp://x","events":["*"]}`, 422, ``},
		{"alice", "POST", "/v1/webhooks", "", "", `{"url":"https://hooks.example.org/a","events":["*"],"secret":"x"}`, 422, `unknown_field`},
		{"reader", "POST", "/v1/webhooks", "", "", `{"url":"https://hooks.example.org/a","events":["*"]}`, 403, `insufficient_scope`},
		{"alice", "GET", "/v1/webhooks/HOOK", "/v1/webhooks/{webhook}", "", ``, 200, `"enabled":true`},
		{"bob", "GET", "/v1/webhooks/HOOK", "/v1/webhooks/{webhook}", "", ``, 404, ``},
		{"alice", "PATCH", "/v1/webhooks/HOOK", "/v1/webhooks/{webhook}", "", `{"enabled":false,"new_secret":true}`, 200, `"enabled":false`},
		{"alice", "GET", "/v1/webhooks/HOOK/deliveries", "/v1/webhooks/{webhook}/deliveries", "", ``, 200, `"total":0`},
		{"alice", "GET", "/v1/webhooks/HOOK/deliveries?limit=0", "/v1/webhooks/{webhook}/deliveries", "", ``, 422, `"parameter":"limit"`},
		{"alice", "POST", "/v1/webhooks/HOOK/deliveries/none/redeliver", "/v1/webhooks/{webhook}/deliveries/{delivery}/redeliver", "", ``, 404, ``},
		{"alice", "DELETE", "/v1/webhooks/HOOK", "/v1/webhooks/{webhook}", "", ``, 204, ``},
		{"alice", "GET", "/v1/webhooks/HOOK", "/v1/webhooks/{webhook}", "", ``, 404, ``},
		{"", "GET", "/v1/webhooks", "", "", ``, 401, ``},
	} {
		headers := bearer(keys[step.as])
		if step.as == "" {
			headers = []string{"as", ""}
		}
		if step.typ != "" {
			headers = append(headers, "Content-Type", step.typ)
		}
		got := s.Do(step.method, strings.ReplaceAll(step.path, "HOOK", hook), step.body, headers...)
		if got.StatusCode != step.status || !strings.Contains(got.Text, step.want) {
			t.Errorf("%s %s %s %s: %s %s", step.as, step.method, step.path, step.body, got.Status, got.Text)
			continue
		}
		of := step.of
		if of == "" {
			of = step.path
		}
		c.check(step.method, of, got)
		if at := got.Header.Get("Location"); got.StatusCode == http.StatusCreated {
			if strings.HasPrefix(step.path, "/v1/webhooks") {
				hook, _ = got.JSON(t)["data"].(map[string]any)["id"].(string)
			}
			base, _, _ := strings.Cut(step.path, "?")
			id := fmt.Sprint(got.JSON(t)["data"].(map[string]any)["id"])
			if want := s.URL + strings.TrimSuffix(base, "/import") + "/" + id; at != want {
				t.Errorf("%s: location %s, want %s", step.path, at, want)
			}
		}
	}
}

// TestExportQuota checks what callers are informed of the bound on exports.
func TestExportQuota(t *testing.T) {
	s := startDecks(t, 120)
	key := s.Key("alice", "read_write")
	s.Do("POST", "/v1/decks", `{"data":"<section>a</section>"}`, bearer(key)...)
	for i := range 10 {
		got := s.Do("POST", "/v1/decks/1/exports", `{"format":"zip"}`, bearer(key)...)
		policy, left := strings.Join(got.Header.Values("RateLimit-Policy"), ", "), strings.Join(got.Header.Values("RateLimit"), ", ")
		if got.StatusCode != http.StatusAccepted || policy != `"default";q=120;w=60, "exports";q=10;w=3600` || !strings.Contains(left, fmt.Sprintf(`"exports";r=%d;t=`, 9-i)) {
			t.Errorf("export %d: %s %s %s", i, got.Status, policy, left)
		}
	}
	got := s.Do("POST", "/v1/decks/1/exports", `{"format":"zip"}`, bearer(key)...)
	if got.StatusCode != http.StatusTooManyRequests || got.JSON(t)["code"] != "export_quota" || got.Header.Get("Retry-After") == "" {
		t.Errorf("export 11: %s %q %s", got.Status, got.Header.Get("Retry-After"), got.Text)
	}
	for i := range 30 {
		if got := s.Do("GET", "/v1/user", "", bearer(key)...); got.StatusCode == http.StatusTooManyRequests {
			if i < 15 {
				t.Errorf("request %d is too many", i)
			}
			return
		}
	}
	t.Error("more than thirty requests at once")
}

// TestDeckRetried has a request whose body has several members get the answer of the one before it with the same key.
func TestDeckRetried(t *testing.T) {
	s := startDecks(t, -1)
	for i := range 8 {
		send := func() *resttest.Answer {
			return s.Do("POST", "/v1/teams", fmt.Sprintf(`{"name":"Team %d","slug":"team-%[1]d","billing_period":"monthly"}`, i), "Idempotency-Key", fmt.Sprint("k", i))
		}
		first, again := send(), send()
		if first.StatusCode != http.StatusCreated || again.StatusCode != http.StatusCreated || again.Text != first.Text ||
			again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Fatalf("%s\n%s", first.Text, again.Text)
		}
	}
}
