package rest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/credential"
)

// What a deck that is shared must not give away, in its slides, its notes and its picture.
const sharedText = "CANARY"

// lent is a server where alice shares a deck by links.
type lent struct {
	*resttest.Server
	t     *testing.T
	later atomic.Int64 // that the clock is ahead
	log   bytes.Buffer
}

func lend(t *testing.T) *lent {
	t.Helper()
	l := &lent{t: t}
	logs := slog.New(slog.NewJSONHandler(&l.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	l.Server = resttest.Start(t, resttest.Config{
		Ops: decks.Ops(), Repo: func(r *storage.Repo) {
			decks.Listen(r)
			countTogether(t, r)
		},
		Storage: func(c *storage.Config) {
			c.Clock = func() time.Time { return time.Now().Add(time.Duration(l.later.Load())) }
		},
		Rest: func(c *rest.Config) { c.Limits.Rate, c.Log, c.Access = -1, logs, logs },
	})
	l.User("alice")
	l.User("bob")
	account(t, l.Server, "alice", "pro", "", 0)
	makeDeck(t, l.Server, map[string]any{"title": "Lent", "data": `<section>` + sharedText + ` <img src="files/1/dot.svg"><aside class="notes">` + sharedText + `</aside></section>`})
	expect(t, l.Do("POST", "/v1/decks/1/files?name=dot", "<svg xmlns='http://www.w3.org/2000/svg'><!--"+sharedText+"--></svg>", "as", "alice", "Content-Type", "image/svg+xml"), 201, "")
	return l
}

// countTogether has servers on one store name counters of wrong passwords in the same way.
func countTogether(t *testing.T, r *storage.Repo) {
	t.Helper()
	if err := credential.Open(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// TestSignInGuesses guesses the password of a user from one address: ten are looked at, by however many servers. A right
// password forgives those before it.
func TestSignInGuesses(t *testing.T) {
	var later atomic.Int64
	s := resttest.Start(t, resttest.Config{
		Repo: func(r *storage.Repo) { countTogether(t, r) },
		Storage: func(c *storage.Config) {
			c.Clock = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		},
	})
	s.User("bob")
	guess := func(n int) (looked int) {
		t.Helper()
		for i := range n {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+api+"/me", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.SetBasicAuth("bob", fmt.Sprint("wrong ", i))
			got := s.Send(req)
			if got.StatusCode < 400 {
				t.Fatalf("guess %d: %s", i, got.Status)
			}
			if !strings.Contains(got.Text, "too many failed attempts") {
				looked++
			}
		}
		return looked
	}
	if n := guess(9); n != 9 {
		t.Errorf("%d of 9 guesses looked at", n)
	}
	expect(t, s.Do("GET", api+"/me", "", "as", "bob"), 200, "")
	if n := guess(14); n != 10 {
		t.Errorf("%d of 14 guesses looked at after the right password, want 10", n)
	}
	later.Add(int64(4 * time.Minute)) // enough for two more
	if n := guess(5); n != 2 {
		t.Errorf("%d of 5 guesses looked at after 4 minutes, want 2", n)
	}
}

// link makes a link and returns its path.
func (l *lent) link(fields string) string {
	l.t.Helper()
	made := l.Do("POST", "/v1/decks/1/share", fields, "as", "alice")
	if made.StatusCode != http.StatusCreated {
		l.t.Fatalf("%s %s", made.Status, made.Text)
	}
	return strings.TrimPrefix(made.JSON(l.t)["data"].(map[string]any)["url"].(string), l.URL)
}

// guess sends a password to a link and returns the answer with the cookie it brings.
func (l *lent) guess(path, password string, headers ...string) (*resttest.Answer, string) {
	l.t.Helper()
	got := l.Do("POST", path, "password="+url.QueryEscape(password), append([]string{"as", "", "Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
	for _, c := range got.Cookies() {
		return got, c.Name + "=" + c.Value
	}
	return got, ""
}

// assets are the addresses behind a link.
func assets(path, pass string) []string {
	return []string{
		path, path + "/fullscreen", path + "/fullscreen?frame=inner", path + "/fullscreen?print-pdf", path + "?print-pdf", path + "/live",
		path + "/thumbnail", path + "/thumbnail?card=0", path + "/thumbnail?slide=1", path + "/files/1/dot.svg?pass=" + pass,
	}
}

// closed checks that no address behind a link gives anything away.
func (l *lent) closed(what, path, cookie string) {
	l.t.Helper()
	pass := ""
	if _, value, ok := strings.Cut(cookie, "="); ok {
		pass = value
	}
	for _, prefix := range []string{"", "/nuxeo"} {
		for _, at := range assets(prefix+path, pass) {
			for _, method := range []string{"GET", "HEAD"} {
				if method == "GET" && strings.Contains(at, "card=0") {
					continue // waits for a picture, whether there is a link or not
				}
				got := l.Do(method, at, "", "as", "", "Cookie", cookie)
				if got.StatusCode < http.StatusMultipleChoices && got.StatusCode != http.StatusNoContent || strings.Contains(got.Text, sharedText) || strings.Contains(got.Text, "Lent") ||
					strings.HasPrefix(got.Header.Get("Content-Type"), "image/") || strings.Contains(got.Header.Get("Location"), "fullscreen") {
					l.t.Errorf("%s: %s %s: %s %.200s", what, method, at, got.Status, got.Text)
				}
			}
		}
	}
}

// opened checks that every address behind a link works, which shows that closed tests something.
func (l *lent) opened(what, path, cookie string) {
	l.t.Helper()
	_, pass, _ := strings.Cut(cookie, "=")
	for _, at := range assets(path, pass) {
		method := "GET"
		if strings.HasSuffix(at, "/live") || strings.Contains(at, "/thumbnail") {
			method = "HEAD"
		}
		got := l.Do(method, at, "", "as", "", "Cookie", cookie)
		if got.StatusCode >= http.StatusBadRequest && !strings.Contains(at, "card=0") {
			l.t.Errorf("%s: %s %s: %s %.200s", what, method, at, got.Status, got.Text)
		}
		if h := got.Header; h.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(at, "/files/") && !strings.Contains(at, "/thumbnail") && !strings.Contains(h.Get("X-Robots-Tag"), "noindex") {
			l.t.Errorf("%s: %s: headers %v", what, at, h)
		}
	}
}

// TestShareEntryPoints tries every address behind links: without the password, with what opens
// another link, and after everything that ends a link.
func TestShareEntryPoints(t *testing.T) {
	l := lend(t)
	one, two, free := l.link(`{"password":"one"}`), l.link(`{"password":"two"}`), l.link(`{}`)
	_, cookie := l.guess(one, "one")
	_, other := l.guess(two, "two")
	if cookie == "" || other == "" || cookie == other {
		t.Fatalf("cookies %q %q", cookie, other)
	}
	l.opened("with the password", one, cookie)
	l.opened("without one", free, "")
	for what, wrong := range map[string]string{
		"nothing": "", "another link's cookie": other, "a torn one": cookie[:len(cookie)-1], "a longer one": cookie + "A", "no text": "catena_share=", "a key": "catena_share=" + l.Key("alice", "read_write"),
	} {
		l.closed(what, one, wrong)
	}
	l.closed("a torn token", one[:len(one)-1], cookie)
	l.closed("no token", "/share/", cookie)
	doc := func(f func(tx *storage.Tx, d *storage.Doc) error) func() {
		return func() {
			t.Helper()
			if err := l.Repo.Update(context.Background(), l.Repo.System(), func(tx *storage.Tx) error {
				d, err := tx.Doc("/decks/alice/lent")
				if err == nil {
					err = f(tx, d)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	acl := func(aces ...storage.ACE) func() {
		return doc(func(tx *storage.Tx, d *storage.Doc) error { _, err := tx.SetACL(d, "local", aces); return err })
	}
	ask := func(method, path, body string) func() {
		return func() {
			t.Helper()
			if got := l.Do(method, path, body, "as", "alice"); got.StatusCode >= 300 {
				t.Fatalf("%s %s: %s %s", method, path, got.Status, got.Text)
			}
		}
	}
	for _, end := range []struct {
		what     string
		do, undo func()
	}{
		{"the owner may no longer see it", acl(storage.ACE{User: "Everyone", Permission: "Everything"}), acl()},
		{"in the trash", ask("POST", "/v1/decks/1/trash", ""), ask("POST", "/v1/decks/1/recover", "")},
		{"no plan", func() { account(t, l.Server, "alice", "free", "", 0) }, func() { account(t, l.Server, "alice", "pro", "", 0) }},
		{"revoked", ask("DELETE", "/v1/decks/1/share/1", ""), nil},
	} {
		end.do()
		l.closed(end.what, one, cookie)
		if end.undo != nil {
			end.undo()
			l.opened("after "+end.what, one, cookie)
		} else {
			l.opened("the other link", two, other)
		}
	}
	short := l.link(`{"expires_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`)
	l.opened("before its end", short, "")
	l.later.Store(int64(time.Hour))
	l.closed("after its end", short, "")
}

// TestShareGuesses has strangers guess from many addresses at the real entry point: five wrong ones a
// minute are looked at, also in dry runs and at once, and the page says when to come back.
func TestShareGuesses(t *testing.T) {
	l := lend(t)
	path := l.link(`{"password":"right"}`)
	token := strings.TrimPrefix(path, "/share/")
	tried := 0
	for i := range 12 {
		got, cookie := l.guess(path, fmt.Sprint(i), "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i))
		switch {
		case cookie != "":
			t.Fatalf("guess %d opens", i)
		case got.StatusCode == http.StatusUnauthorized:
			tried++
		case got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "":
			t.Errorf("guess %d: %s %v", i, got.Status, got.Header)
		}
	}
	if tried != 5 {
		t.Errorf("%d guesses looked at", tried)
	}
	if got, cookie := l.guess(path, "right"); got.StatusCode != http.StatusTooManyRequests || cookie != "" {
		t.Errorf("right after too many: %s", got.Status)
	}
	l.later.Add(int64(time.Minute))
	tried = 0
	for i := range 10 {
		got := l.Do("POST", api+"/automation/Deck.OpenShare?dryRun=true", fmt.Sprintf(`{"params":{"token":%q,"password":"%d"}}`, token, i), "as", "bob")
		if got.StatusCode != http.StatusOK {
			t.Fatalf("%s %s", got.Status, got.Text)
		}
		tried += strings.Count(got.Text, "wrong_password")
	}
	if tried != 5 {
		t.Errorf("%d guesses looked at in dry runs", tried)
	}
	l.later.Add(int64(time.Minute))
	if _, cookie := l.guess(path, "right"); cookie == "" {
		t.Error("the right password does not open")
	}
}

// TestShareSecrets looks for a link's token in everything else that is answered and logged.
func TestShareSecrets(t *testing.T) {
	l := lend(t)
	path := l.link(`{"password":"right","notify_on_view":true}`)
	token := strings.TrimPrefix(path, "/share/")
	if got := l.Do("GET", "/v1/decks/1/share", "", "as", "alice"); !strings.Contains(got.Text, token) || strings.Contains(got.Text, "argon2") || strings.Contains(got.Text, "right") {
		t.Errorf("the owner's list: %s", got.Text)
	}
	_, cookie := l.guess(path, "right")
	l.opened("with the password", path, cookie)
	l.guess(path+"x", "right")
	for _, as := range []string{"alice", "bob", "Administrator"} {
		for _, at := range []string{
			"/v1/decks", "/v1/decks/1", "/v1/decks/1?include_deck_html=true", "/v1/decks/1/share/1/views", "/v1/decks/1/versions", "/v1/decks/1/exports", "/v1/decks/1/files", "/v1/notices", "/v1/user",
			"/decks/alice/lent", "/decks/alice/lent/edit", "/decks/alice/lent/fullscreen", "/decks/alice", "/ui/", api + "/path/decks/alice/lent?properties=*", api + "/path/decks/alice/lent/@audit",
			api + "/path/decks/alice/lent/@acl", api + "/query?query=SELECT+*+FROM+Deck", "/metrics", "/openapi.json",
		} {
			if got := l.Do("GET", at, "", "as", as); strings.Contains(got.Text, token) || strings.Contains(fmt.Sprint(got.Header), token) {
				t.Errorf("%s as %s has the token", at, as)
			}
		}
		for _, op := range []string{"Audit.Query", "Job.List", "Traces.Get", "Deck.ListNotices", "Webhook.List", "Repository.Verify"} {
			if got := l.Do("POST", api+"/automation/"+op, `{"params":{"query":"from LogEntry log"}}`, "as", as); strings.Contains(got.Text, token) {
				t.Errorf("%s as %s has the token: %.300s", op, as, got.Text)
			}
		}
	}
	if got := l.Do("GET", "/v1/decks/1/share", "", "as", "bob"); strings.Contains(got.Text, token) || got.StatusCode == http.StatusOK {
		t.Errorf("another's list: %s %s", got.Status, got.Text)
	}
	_, pass, _ := strings.Cut(cookie, "=")
	if logged := l.log.String(); strings.Contains(logged, token) || strings.Contains(logged, pass) || !strings.Contains(logged, "/share/") {
		t.Errorf("the log: %.2000s", logged)
	}
}
