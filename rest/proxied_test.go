package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/people"
)

// proxied is a server behind a proxy that takes a prefix off.
type proxied struct {
	*resttest.Server
	t      *testing.T
	public string // address of the server at the proxy
}

// behind starts a server that is reached below /behind only. Its public address ends in path.
func behind(t *testing.T, path string) *proxied {
	t.Helper()
	var inner http.Handler
	proxy := httptest.NewServer(http.StripPrefix("/behind", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inner.ServeHTTP(w, r) })))
	t.Cleanup(proxy.Close)
	p := &proxied{t: t, public: proxy.URL + "/behind"}
	p.Server = resttest.Start(t, resttest.Config{
		Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) { c.Base = p.public + path },
	})
	to, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	inner = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.SetXForwarded()
	}}
	return p
}

// browser is somebody's at a page.
type browser struct {
	p      *proxied
	client *http.Client
	at     *url.URL
	status int
	body   string
	stop   string // an address that is not followed, and was gone to in the end
}

func (p *proxied) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	b := &browser{p: p, client: &http.Client{Jar: jar}}
	b.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "client.example.org" {
			b.stop = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	return b
}

func (b *browser) send(r *http.Request, err error) *browser {
	b.p.t.Helper()
	if err != nil {
		b.p.t.Fatal(err)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.p.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.p.t.Fatal(err)
	}
	b.at, b.status, b.body = resp.Request.URL, resp.StatusCode, string(raw)
	return b
}

func (b *browser) open(address string) *browser {
	b.p.t.Helper()
	return b.send(http.NewRequest(http.MethodGet, address, nil))
}

// submit sends the form of the page that has a field, with values in place of its own.
func (b *browser) submit(field string, values ...string) *browser {
	b.p.t.Helper()
	root, err := html.Parse(strings.NewReader(b.body))
	if err != nil {
		b.p.t.Fatal(err)
	}
	for form := range root.Descendants() {
		if form.Data != "form" {
			continue
		}
		fields := url.Values{}
		for n := range form.Descendants() {
			if n.Data == "input" {
				fields.Set(attribute(n, "name"), attribute(n, "value"))
			}
			if n.Data == "button" && attribute(n, "name") == field {
				fields.Set(field, attribute(n, "value"))
			}
		}
		if !fields.Has(field) {
			continue
		}
		for i := 0; i < len(values); i += 2 {
			fields.Set(values[i], values[i+1])
		}
		to, err := b.at.Parse(attribute(form, "action"))
		if err != nil {
			b.p.t.Fatal(err)
		}
		r, err := http.NewRequest(http.MethodPost, to.String(), strings.NewReader(fields.Encode()))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", b.at.Scheme+"://"+b.at.Host)
		}
		return b.send(r, err)
	}
	b.p.t.Fatalf("%s: no form with %q: %s", b.at, field, b.body)
	return nil
}

func attribute(n *html.Node, name string) string {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return ""
	}
	return n.Attr[i].Val
}

// is checks where the browser is and what it sees, and that all the page leads to is there.
func (b *browser) is(path, text string) *browser {
	b.p.t.Helper()
	if b.status != http.StatusOK && b.status != http.StatusUnauthorized || b.at.Path != "/behind"+path || !strings.Contains(b.body, text) {
		b.p.t.Fatalf("%s: %d, want %s with %q: %s", b.at, b.status, path, text, b.body)
	}
	root, err := html.Parse(strings.NewReader(b.body))
	if err != nil {
		b.p.t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, name := range []string{"href", "src"} {
			to, err := b.at.Parse(attribute(n, name))
			if attribute(n, name) == "" || err == nil && (to.Host != b.at.Host || to.Scheme != b.at.Scheme) {
				continue
			}
			if err != nil {
				b.p.t.Errorf("%s: %v", b.at, err)
				continue
			}
			r, err := b.client.Get(to.String())
			if err != nil {
				b.p.t.Errorf("%s: %v", to, err)
				continue
			}
			_ = r.Body.Close()
			if r.StatusCode != http.StatusOK {
				b.p.t.Errorf("%s leads to %s: %s", b.at, to, r.Status)
			}
		}
	}
	return b
}

// TestProxied goes through a proxy with a prefix wherever somebody is led by an address that was told: signing in, a
// client of OAuth 2, an invitation, and a share link with a password.
func TestProxied(t *testing.T) {
	for _, path := range []string{"", "/nuxeo"} {
		p := behind(t, path)
		if err := p.Repo.Update(t.Context(), p.Repo.System(), func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: "bob", AccountType: "pro"}, resttest.Password)
		}); err != nil {
			t.Fatal(err)
		}
		key := bearer(p.Key("bob", "read_write"))
		var hidden any // the number of the last deck
		for _, deck := range []string{`{"title":"Seen","visibility":"all","data":"<section>x</section>"}`, `{"title":"Hidden","data":"<section>y</section>"}`} {
			a := p.Do("POST", "/v1/decks", deck, key...)
			if a.StatusCode != http.StatusCreated {
				t.Fatalf("%s %s", a.Status, a.Text)
			}
			hidden = a.JSON(t)["data"].(map[string]any)["id"]
		}
		const client = `{"properties":{"name":"Test","clientId":"test","redirectURIs":"https://client.example.org/back"}}`
		if a := p.Do("POST", "/api/v1/directory/oauth2Clients", client); a.StatusCode != http.StatusCreated {
			t.Fatalf("%s %s", a.Status, a.Text)
		}

		b := p.browser().open(p.public+path+"/ui/documents").is("/ui/login", "password")
		b.submit("password", "user", "bob", "password", resttest.Password)
		b.is("/ui/documents", "bob")
		b.submit("csrf").is("/ui/login", "password")

		b = p.browser().open(p.public + path + "/oauth2/authorize?response_type=code&client_id=test&state=s&redirect_uri=" + url.QueryEscape("https://client.example.org/back"))
		b.is("/ui/login", "password").submit("password", "user", "bob", "password", resttest.Password)
		b.is("/oauth2/authorize", "Test").submit("grant_access")
		back, err := url.Parse(b.stop)
		if err != nil || back.Query().Get("code") == "" || back.Query().Get("state") != "s" {
			t.Fatalf("back at %s: %d %s", b.stop, b.status, b.body)
		}
		grant := url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {"test"}, "redirect_uri": {"https://client.example.org/back"}}
		r, err := http.PostForm(p.public+path+"/oauth2/token", grant)
		if err != nil {
			t.Fatal(err)
		}
		var token struct {
			Access string `json:"access_token"`
		}
		if err := json.NewDecoder(r.Body).Decode(&token); err != nil || token.Access == "" {
			t.Fatalf("%s: %v", r.Status, err)
		}
		_ = r.Body.Close()
		if a := p.Do("GET", "/api/v1/me", "", "as", "", "Authorization", "Bearer "+token.Access); !strings.Contains(a.Text, `"id":"bob"`) {
			t.Errorf("%s %s", a.Status, a.Text)
		}

		if a := p.Do("POST", "/api/v1/automation/User.Invite", `{"input":{"entity-type":"user","properties":{"username":"leela","email":"leela@example.org"}}}`); a.StatusCode != http.StatusOK {
			t.Fatalf("%s %s", a.Status, a.Text)
		}
		b = p.browser().open(p.public + path + invited(t, p.Server))
		b.is(b.at.Path[len("/behind"):], "Welcome, leela").submit("again", "password", resttest.Password, "again", "another")
		if b.status != http.StatusBadRequest || !strings.Contains(b.body, "differ") {
			t.Errorf("%s: %d %s", b.at, b.status, b.body)
		}
		b.submit("again", "password", resttest.Password, "again", resttest.Password).is("/ui/login", "password")

		link, _ := p.Do("POST", fmt.Sprintf("/v1/decks/%v/share", hidden), `{"password":"open sesame"}`, key...).JSON(t)["data"].(map[string]any)
		b = p.browser().open(link["url"].(string))
		share := strings.TrimPrefix(link["url"].(string), p.public)
		b.is(share, "password").submit("password", "password", "wrong").is(share, "Wrong password")
		b.submit("password", "password", "open sesame").is(share, "Hidden")
		b.open(p.public+share+"/fullscreen").is(share+"/fullscreen", "<section")
		b = p.browser().open(p.public+path+"/decks/bob/seen").is(path+"/decks/bob/seen", "Seen")
		b.open(p.public+path+"/decks/bob/seen/fullscreen").is(path+"/decks/bob/seen/fullscreen", "<section")
	}
}
