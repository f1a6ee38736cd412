package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestRoundTripsOfMany bounds the round trips of requests that concern many documents, or read many rows of other kinds: they do
// not grow with their number. Each request is the first one of its kind, for which nothing is known of earlier ones.
func TestRoundTripsOfMany(t *testing.T) {
	w := newTrips(t)
	admin := func(method, path, body string) string {
		t.Helper()
		a := w.s.Do(method, "/nuxeo/api/v1"+path, body)
		if a.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %.300s", method, path, a.Status, a.Text)
		}
		uid, _ := a.JSON(t)["uid"].(string)
		return uid
	}
	const many = "/default-domain/workspaces/many"
	admin("POST", "/path/default-domain/workspaces", `{"entity-type":"document","type":"Workspace","name":"many"}`)
	admin("POST", "/automation/Document.AddPermission", `{"params":{"permission":"Everything","user":"bob"},"input":"`+many+`"}`)
	for i := range 10 {
		w.do("POST", "/path"+many, fmt.Sprintf(`{"entity-type":"document","type":"Folder","name":"f%d","properties":{"dc:title":"folder %d"}}`, i, i))
		var lines strings.Builder
		for j := range 20 {
			fmt.Fprintf(&lines, `{"name":"m%d","dc:title":"annual report %d","dc:description":"of the year"}`+"\n", j, j)
		}
		if a := w.s.Do("POST", fmt.Sprintf("/nuxeo/api/v1/bulk?into=%s/f%d&type=File", many, i), lines.String(), "Content-Type", "application/x-ndjson"); a.StatusCode != http.StatusOK {
			t.Fatalf("%s %.300s", a.Status, a.Text)
		}
	}
	search := func(where string) string {
		return "/search/lang/NXQL/execute?pageSize=50&n=%d&query=" + url.QueryEscape("SELECT * FROM File WHERE "+where)
	}
	for i := range 10 {
		w.s.User(fmt.Sprintf("user%d", i))
		w.do("POST", "/automation/Document.CreateVersion", fmt.Sprintf(`{"input":"%s/f1/m%d","params":{"increment":"Major"}}`, many, i))
	}
	for more := true; more; {
		var err error
		if more, err = w.s.Repo.IndexText(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const enrichers = "children,breadcrumb,permissions,acls,preview,thumbnail,tags,subscribedNotifications,subtypes," +
		"audit,collections,renditions,publications,hasContent,hasFolderishChild,firstAccessibleAncestor"
	for _, r := range []tripRequest{
		{"a search for a word", "GET", search("ecm:fulltext = 'report'"), "", 4, 5},
		{"a search for two words", "GET", search("ecm:fulltext = 'annual report'"), "", 5, 6},
		{"a search for a word without another", "GET", search("ecm:fulltext = 'annual -nothing'"), "", 5, 6},
		{"a search for a phrase", "GET", search(`ecm:fulltext = '"annual report"'`), "", 5, 6},
		{"a search for a phrase in an order", "GET", search(`ecm:fulltext = '"annual report"' ORDER BY dc:modified`), "", 7, 8},
		{"a folder with all enrichers", "GET", "/path" + many + "?n=%d&enrichers.document=" + enrichers, "", 2, 3},
		{"a page with all enrichers", "GET", "/path" + many + "/f1/@children?pageSize=50&n=%d&enrichers.document=" + enrichers, "", 4, 5},
		{"a page of versions", "GET", search("ecm:isVersion = 1"), "", 6, 7},
		{"a page of all documents", "GET", "/search/lang/NXQL/execute?pageSize=50&n=%d&query=" + url.QueryEscape("SELECT * FROM Document ORDER BY ecm:uuid DESC"), "", 7, 8},
		{"the history of a document", "GET", "/path" + many + "/f1/m1/@audit?n=%d", "", 3, 4},
		{"users", "GET", "/user/search?q=user*&n=%d", "", 4, 5},
		{"an archive of a tree", "POST", "/automation/Document.Export", `{"input":"` + many + `","params":{"exportAsTree":true,"exportAsZip":true}}`, 24, 25},
	} {
		w.bounded(r)
	}
}

// TestRoundTripsAround: a query fetches the parents of comments together, and so what proxies show; it fetches no documents that the user
// may not read.
func TestRoundTripsAround(t *testing.T) {
	w := newTrips(t)
	admin := func(path, body string, headers ...string) {
		t.Helper()
		if a := w.s.Do("POST", "/nuxeo/api/v1"+path, body, headers...); a.StatusCode >= 300 {
			t.Fatalf("%s: %s %.300s", path, a.Status, a.Text)
		}
	}
	const in = "/default-domain/workspaces"
	for _, name := range []string{"open", "closed"} {
		admin("/path"+in, `{"entity-type":"document","type":"Workspace","name":"`+name+`"}`)
		var lines strings.Builder
		for i := range 600 {
			fmt.Fprintf(&lines, `{"name":"m%d","dc:title":"report","dc:description":"of the year"}`+"\n", i)
			if name == "open" && i == 14 {
				break
			}
		}
		admin("/bulk?into="+in+"/"+name+"&type=File", lines.String(), "Content-Type", "application/x-ndjson")
	}
	admin("/path"+in, `{"entity-type":"document","type":"Section","name":"published"}`)
	admin("/automation/Document.BlockPermissionInheritance", `{"input":"`+in+`/closed"}`)
	for _, name := range []string{"open", "published"} {
		admin("/automation/Document.AddPermission", `{"params":{"permission":"Everything","user":"bob"},"input":"`+in+"/"+name+`"}`)
	}
	for i := range 15 {
		w.do("POST", fmt.Sprintf("/path%s/open/m%d/@comment", in, i), `{"entity-type":"comment","text":"a remark"}`)
		w.do("POST", "/automation/Document.PublishToSection", fmt.Sprintf(`{"input":"%s/open/m%d","params":{"target":"%s/published"}}`, in, i, in))
	}
	search := func(query string) string {
		return "/search/lang/NXQL/execute?pageSize=50&n=%d&query=" + url.QueryEscape(query)
	}
	reports := search("SELECT * FROM File WHERE dc:description LIKE '%year%' ORDER BY dc:modified DESC")
	for _, r := range []tripRequest{
		{"comments by their text", "GET", search("SELECT * FROM Comment WHERE comment:text LIKE '%remark%'"), "", 4, 5},
		{"proxies by what they show", "GET", search("SELECT * FROM File WHERE ecm:isProxy = 1 AND dc:description LIKE '%year%'"), "", 4, 5},
		{"documents beside many that may not be read", "GET", reports, "", 7, 8},
	} {
		w.bounded(r)
	}
	w.store.counted()
	w.do("GET", strings.ReplaceAll(reports, "%d", "1"), "")
	if n := w.store.fetched; n > 200 {
		t.Errorf("%d rows were fetched for 30 documents, beside 600 that may not be read", n)
	}
}
