package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"catena/rest/resttest"
)

// links are the addresses on this server that answers name, with the answer that named each first.
type links struct {
	base  string
	found map[string]string
}

var (
	linkHeader  = regexp.MustCompile(`<([^>]+)>; *rel=`)
	linkMember  = regexp.MustCompile(`(?i)(?:^|[a-z_])(?:url|uri)$|^(?:href|icon|iconExpanded|bigIcon|Location|data)$`)
	linkElement = map[string]string{"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}
)

// add notes an address that an answer to a request names: an absolute one of this server, or a path.
func (l *links) add(address string, shot string) {
	address, _, _ = strings.Cut(address, "#")
	path, own := strings.CutPrefix(address, l.base)
	switch {
	case own && path == "":
		path = "/"
	case !own && (!strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//")), strings.ContainsAny(path, "{}<> \n"):
		return
	}
	if l.found[path] == "" {
		l.found[path] = shot
	}
}

// read notes the addresses in an answer: in its headers, the elements of a page, and the members of JSON.
func (l *links) read(shot string, a *resttest.Answer) {
	for _, name := range []string{"Location", "Content-Location"} {
		if at := a.Header.Get(name); at != "" {
			l.add(at, shot+", header "+name)
		}
	}
	for _, text := range a.Header.Values("Link") {
		for _, m := range linkHeader.FindAllStringSubmatch(text, -1) {
			l.add(m[1], shot+", header Link")
		}
	}
	switch typ, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); {
	case typ == "text/html":
		l.page(shot, a.Text)
	case strings.HasSuffix(typ, "json"):
		var v any
		if json.Unmarshal([]byte(a.Text), &v) == nil {
			l.value(shot, "", v)
		}
	case strings.HasSuffix(typ, "xml"), typ == "text/plain":
		for _, m := range regexp.MustCompile(regexp.QuoteMeta(l.base)+`[^\s"'<>\\)\]]*`).FindAllString(a.Text, -1) {
			l.add(html.UnescapeString(m), shot)
		}
	}
}

func (l *links) page(shot, text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		for _, a := range t.Attr {
			if linkElement[t.Data] == a.Key {
				l.add(a.Val, shot+", <"+t.Data+">")
			}
		}
	}
}

func (l *links) value(shot, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			l.value(shot, key, item)
		}
	case []any:
		for _, item := range v {
			l.value(shot, name, item)
		}
	case string:
		if linkMember.MatchString(name) || strings.HasPrefix(v, l.base+"/") {
			l.add(v, shot+", "+name)
		}
	}
}

// unfollowed are links that lead nowhere here, and why.
var unfollowed = []struct {
	path *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`/api/v1/conversions/[^/]+/result$`), "there is no result before the conversion has ended, and nothing carries it out here"},
	{regexp.MustCompile(`/api/v1/task/[^/]+/(start_review|cancel|reject|validate)$`), "the action of a task is a PUT"},
	{regexp.MustCompile(`^/(docs|site/userInvitation/enterpassword)/none$|/none$`), "an address that was asked for and does not exist, to which signing in leads back"},
}

// TestLinksLead follows every link that answers name: those to all addresses, adapters, operations and tools that read, with
// all enrichers, and to what creates something. Each leads somewhere.
func TestLinksLead(t *testing.T) {
	e := newEverything(t, "Administrator", "/default-domain/workspaces")
	e.fill("Linked")
	l := &links{e.URL, map[string]string{}}
	ask := func(s shot, headers ...string) *resttest.Answer {
		a := e.send(s, headers...)
		l.read(s.name, a)
		return a
	}
	everything := []string{"enrichers.document", "*", "enrichers-document", "*", "fetch-document", "properties", "properties", "*", "enrichers-blob", "appLinks,preview"}
	for _, s := range slices.Concat(e.addresses(), e.operations(), e.tools(), e.related()) {
		if e.reading(s) && !streams(s) {
			ask(s, everything...)
		}
	}
	deck := fmt.Sprintf("/v1/decks/%v", e.deck)
	for _, s := range []shot{
		postShot("a deck", "/v1/decks", `{"title":"Second","data":"<section>a</section>","visibility":"all"}`),
		postShot("an export", deck+"/exports", `{"format":"zip"}`), postShot("a link", deck+"/share", `{"name":"another"}`),
		postShot("a version", deck+"/versions", ``), postShot("a slide", deck+"/slides", `{"html":"<section>b</section>"}`),
		{name: "a file", method: "POST", path: deck + "/files?name=a", typ: "image/svg+xml", body: "<svg xmlns='http://www.w3.org/2000/svg'/>"},
		postShot("a team", "/v1/teams", `{"name":"Links"}`), postShot("a webhook of decks", "/v1/webhooks", `{"url":"https://hooks.example.org/y","events":["deck.created"]}`),
		postShot("a document", api+"/path"+e.folder, `{"entity-type":"document","type":"File","name":"made","properties":{"dc:title":"made"}}`),
		postShot("a call in the background", api+"/automation/Document.GetChildren/@async", `{"input":"doc:/"}`),
		postShot("a conversion", api+"/id/"+e.id+"/@convert?async=true&type=text/html", ``),
		postShot("a bulk command", api+"/search/bulk/csvExport?query=SELECT+*+FROM+Note", `{}`),
		postShot("a load", api+"/bulk", `{}`), postShot("an upload", api+"/upload", ``), postShot("a user", api+"/user", `{"entity-type":"user","id":"linked","properties":{"username":"linked","password":"some password"}}`),
		getShot("decks, page by page", "/v1/decks?page=1&per_page=1"), getShot("a public deck", "/decks/Administrator/second"),
		getShot("oEmbed", "/oembed?url="+url.QueryEscape(e.URL+"/decks/Administrator/second")),
		getShot("a query, page by page", api+"/search/lang/NXQL/execute?query=SELECT+*+FROM+Document&pageSize=2"),
	} {
		ask(s, everything...)
	}
	// A deck in the trash: its thumbnail is shown in the list of the trash.
	binned := e.as("POST", "/v1/decks", `{"title":"Binned","data":"<section>gone</section>"}`).JSON(t)["data"].(map[string]any)
	e.as("POST", fmt.Sprintf("/v1/decks/%v/trash", binned["id"]), "")
	trash := ask(getShot("the trash", "/v1/decks/trashed"))
	if !strings.Contains(trash.Text, "thumbnail_url") {
		t.Errorf("the trash: %s %.300s", trash.Status, trash.Text)
	}
	if len(l.found) < 200 {
		t.Errorf("only %d links", len(l.found))
	}
	e.follow(l, 2)
}

func isUnfollowed(path string) bool {
	for _, u := range unfollowed {
		if u.path.MatchString(path) {
			return true
		}
	}
	return false
}

// follow requests every address found, and those that pages and answers there name in turn.
func (e *everything) follow(l *links, depth int) {
	e.t.Helper()
	done := map[string]bool{}
	for range depth {
		for _, path := range slices.Sorted(maps.Keys(l.found)) {
			if done[path] || isUnfollowed(path) || strings.Contains(l.found[path], "next=") {
				continue
			}
			done[path] = true
			if strings.HasSuffix(path, "/live") || strings.HasSuffix(path, "/events") {
				continue // does not end
			}
			a := e.Do(http.MethodGet, path, "", "Accept", "*/*")
			if a.StatusCode >= http.StatusBadRequest {
				e.t.Errorf("%s (in %s): %s %.200s", path, l.found[path], a.Status, a.Text)
				continue
			}
			l.read(path, a)
		}
	}
}
