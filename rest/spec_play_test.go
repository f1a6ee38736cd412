package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/decks"
	"catena/decks/export"
	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/outbox"
	"catena/storage/people"
)

// described is a server at an instant, with people of every kind of account that the
// specification describes, and their keys.
type described struct {
	*resttest.Server
	t    *testing.T
	keys map[string]string
	skip atomic.Int64 // how far the clock was moved on
}

// users are the users of the specification by name, and what their accounts are. Those of the team are in team 1.
var users = map[string]people.User{
	"lead": {
		FirstName: "Ada", LastName: "Lovelace", Email: "ada@example.org", Description: "Counts.", ThumbnailURL: "https://example.org/ada.png",
		WebsiteURL: "https://example.org/", TwitterHandle: "ada",
	},
	"admin": {TeamRole: "admin"}, "member": {TeamRole: "member"},
	"free": {}, "lite": {AccountType: "lite"}, "pro": {AccountType: "pro"},
}

func describe(t *testing.T, change ...func(*storage.Config)) *described {
	t.Helper()
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		t.Fatal(err)
	}
	s := &described{t: t, keys: map[string]string{}}
	clock := func() time.Time { return at.Add(time.Duration(s.skip.Load())) }
	s.Server = resttest.Start(t, resttest.Config{
		Ops: decks.Ops(), Repo: decks.Listen,
		Storage: func(c *storage.Config) {
			c.Clock, c.Owners = clock, slices.Concat(c.Owners, decks.Owners)
			for _, f := range change {
				f(c)
			}
		},
		Engine: func(c *engine.Config) { c.Clock = clock },
		Rest:   func(c *rest.Config) { c.Limits.Rate = -1 },
	})
	err = s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		for name, u := range users {
			u.Username = name
			if err := people.SaveUser(tx, &u, resttest.Password); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.must(s.Do("POST", "/v1/teams", `{"name":"Analysts","slug":"analysts","owner":"lead","billing_period":"yearly","thumbnail_url":"https://example.org/team.png"}`))
	for _, name := range []string{"admin", "member"} {
		s.must(s.Do("PUT", "/v1/teams/1/members/"+name, `{"role":"`+name+`"}`))
	}
	for name := range users {
		s.keys[name], s.keys[name+"/read"] = s.Key(name, "read_write"), s.Key(name, "read_only")
	}
	return s
}

func (s *described) must(a *resttest.Answer) *resttest.Answer {
	s.t.Helper()
	if a.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s %s", a.Request.Method, a.Request.URL.Path, a.Status, a.Text)
	}
	return a
}

// ask sends a request for a user; a revision stands behind a colon, a key that only reads
// behind a slash.
func (s *described) ask(who, method, path, body string, more ...string) *resttest.Answer {
	s.t.Helper()
	name, revision, _ := strings.Cut(who, ":")
	headers := []string{"as", ""}
	if name != "" {
		headers = bearer(s.keys[name])
	}
	if revision != "" {
		headers = append(headers, "Deck-Revision", revision)
	}
	return s.Do(method, path, body, append(headers, more...)...)
}

// data asks for something that is there.
func (s *described) data(who, method, path, body string) map[string]any {
	s.t.Helper()
	m, _ := s.must(s.ask(who, method, path, body)).JSON(s.t)["data"].(map[string]any)
	return m
}

// set writes properties of a deck that the service does not let anybody write.
func (s *described) set(deck string, props storage.Props) {
	s.t.Helper()
	err := s.Repo.Update(s.t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref("/decks/" + deck))
		if err != nil {
			return err
		}
		for name, v := range props {
			if err := d.Set("deck:"+name, v); err != nil {
				return err
			}
		}
		_, err = tx.Save(d, storage.SaveOptions{})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// fill makes what the columns of the tables describe: of each resource one with everything,
// and one with nothing.
func (s *described) fill() {
	s.t.Helper()
	html := jsonOf(s.t, `<section>a<aside class="notes">Aside.</aside></section><section data-notes="Said.">b</section>`)
	s.data("lead", "POST", "/v1/decks", `{"title":"All of it","description":"Every field.","width":1280,"height":720,"visibility":"team","data":`+html+`}`)
	s.set("lead/all-of-it", storage.Props{
		"margin": 0.1, "transition": "zoom", "background_transition": "fade", "rtl": true, "loop": true,
		"theme_font": "merriweather", "theme_color": "black-mint", "language": "ar", "embed_origins": "https://example.org", "css": "h1 { color: red }",
	})
	s.data("lead", "POST", "/v1/decks", ``)
	s.data("lead", "POST", "/v1/decks", `{"title":"Gone","description":"Was here."}`)
	s.data("lead", "POST", "/v1/decks", `{}`)
	for _, deck := range []string{"4", "3"} {
		s.must(s.ask("lead", "POST", "/v1/decks/"+deck+"/trash", ""))
	}
	link := s.data("lead", "POST", "/v1/decks/1/share", `{"name":"Board","password":"open sesame","expires_at":"2026-02-03T06:05:06+01:00","notify_on_view":true}`)
	s.data("lead", "POST", "/v1/decks/1/share", `{}`)
	for range 2 {
		s.must(s.view(link, "open sesame"))
	}
	s.data("lead", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
	s.work(&export.Worker{}, 1, 1)
	s.data("lead", "POST", "/v1/decks/1/exports", `{"format":"pdf"}`)
}

// view opens a link as a viewer does, who enters its password first if it has one.
func (s *described) view(link map[string]any, password string) *resttest.Answer {
	s.t.Helper()
	path, viewer := strings.TrimPrefix(link["url"].(string), s.URL), []string{"as", "", "User-Agent", "Mozilla/5.0"}
	if password == "" {
		return s.Do("GET", path, "", viewer...)
	}
	form := append(slices.Clip(viewer), "Content-Type", "application/x-www-form-urlencoded", "Origin", s.URL)
	for _, c := range s.Do("POST", path, url.Values{"password": {password}}.Encode(), form...).Cookies() {
		viewer = append(viewer, "Cookie", c.Name+"="+c.Value)
	}
	return s.Do("GET", path, "", viewer...)
}

// work has a worker make an export, and returns how that ended.
func (s *described) work(w *export.Worker, deck, id any) map[string]any {
	s.t.Helper()
	return s.workFor("lead", w, deck, id)
}

// workFor has a worker make somebody's export.
func (s *described) workFor(who string, w *export.Worker, deck, id any) (e map[string]any) {
	s.t.Helper()
	s.workUntil(w, fmt.Sprintf("export %v", id), func() bool {
		e = s.data(who, "GET", fmt.Sprintf("/v1/decks/%v/exports/%v", deck, id), "")
		return e["status"] != "pending"
	})
	return e
}

// workUntil does jobs until something is done.
func (s *described) workUntil(w *export.Worker, what string, isDone func() bool) {
	s.t.Helper()
	w.Repo, w.Log = s.Repo, slog.New(slog.DiscardHandler)
	ctx, stop := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, s.Repo, w.Jobs()) }()
	defer func() { stop(); <-done }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if isDone() {
			return
		}
	}
	s.t.Fatalf("%s does not end", what)
}

// like reports whether a value is what a table says.
func (s *described) like(want string, got any) bool {
	const number = 424242
	want = strings.NewReplacer("{base}", s.URL, "{now}", instant, "0…", fmt.Sprint(number)).Replace(want)
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		s.t.Fatalf("%v: %s", err, want)
	}
	pattern := strings.NewReplacer(fmt.Sprint(number), `[1-9]\d*`, "…", `[^"]+`).Replace(regexp.QuoteMeta(jsonOf(s.t, v)))
	return regexp.MustCompile("^" + pattern + "$").MatchString(jsonOf(s.t, got))
}

var isInstant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

// typed reports whether a value is of a type of the tables.
func typed(typ string, v any) bool {
	word, _, _ := strings.Cut(typ, " ")
	if may, ok := strings.CutSuffix(word, "?"); ok {
		if v == nil {
			return true
		}
		word = may
	}
	text, isText := v.(string)
	switch word {
	case "integer":
		n, ok := v.(float64)
		return ok && n == float64(int64(n))
	case "number":
		_, ok := v.(float64)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "object":
		_, ok := v.(map[string]any)
		return ok
	case "timestamp":
		return isText && isInstant.MatchString(text)
	}
	return isText && (!strings.Contains(typ, "URL") || text == "" || strings.HasPrefix(text, "http"))
}

// holds compares an object with a table: it has the fields of the revision, no others, and
// of the right types. With a column it compares the values, too.
func (s *described) holds(what, resource, revision string, html bool, v any, column func(specField) string) {
	s.t.Helper()
	got, ok := v.(map[string]any)
	if !ok {
		s.t.Errorf("%s: %T is no %s", what, v, resource)
		return
	}
	left := map[string]bool{}
	for name := range got {
		left[name] = true
	}
	for _, f := range fieldsOf(resource) {
		value, there := got[f.name]
		delete(left, f.name)
		switch {
		case there != f.has(revision, html):
			s.t.Errorf("%s: %s of %s is there: %t", what, f.name, resource, there)
		case !there:
		case !typed(f.typ, value):
			s.t.Errorf("%s: %s of %s is %v, no %s", what, f.name, resource, value, f.typ)
		case column != nil && !s.like(column(f), value):
			s.t.Errorf("%s: %s of %s is %s, want %s", what, f.name, resource, jsonOf(s.t, value), column(f))
		}
	}
	for name := range left {
		s.t.Errorf("%s: %s has %s, which is nowhere described", what, resource, name)
	}
}

func full(f specField) string { return f.full }
func bare(f specField) string { return f.bare }

// place is an endpoint's address for a deck and what it has.
func place(path string, deck, link, export any) string {
	child := link
	if strings.Contains(path, "/exports") {
		child = export
	}
	if strings.Contains(path, ":deck_id") {
		return strings.NewReplacer(":deck_id", fmt.Sprint(deck), ":id", fmt.Sprint(child)).Replace(path)
	}
	return strings.ReplaceAll(path, ":id", fmt.Sprint(deck))
}

// bodyOf is a body that an endpoint takes.
func bodyOf(method, path string) string {
	switch {
	case method == "POST" && strings.HasSuffix(path, "/exports"):
		return `{"format":"zip"}`
	case method == "POST" && (strings.HasSuffix(path, "/decks") || strings.HasSuffix(path, "/share")), method == "PATCH":
		return `{}`
	}
	return ""
}

// status returns the status of an answer and, if it is a refusal, its code.
func status(a *resttest.Answer) string {
	var p struct{ Code string }
	_ = json.Unmarshal([]byte(a.Text), &p) // what is no problem has no code
	if a.StatusCode < http.StatusBadRequest {
		return strconv.Itoa(a.StatusCode)
	}
	return fmt.Sprintf("%d %s", a.StatusCode, p.Code)
}
