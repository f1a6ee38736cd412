package main

import (
	"fmt"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestRoundTripsOfLists bounds how often the transaction of a call over many documents waits for the database: not once for each of
// them. The trees have ten folders with ten documents each, the lists fifty documents.
func TestRoundTripsOfLists(t *testing.T) {
	w := newTrips(t)
	s, store := w.s, w.store
	const api, at = "/nuxeo/api/v1", "/default-domain/workspaces"
	do := func(method, path, body string, headers ...string) *resttest.Answer {
		t.Helper()
		a := s.Do(method, api+path, body, headers...)
		if a.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %.300s", method, path, a.Status, a.Text)
		}
		return a
	}
	var lines strings.Builder
	for i := range 10 {
		fmt.Fprintf(&lines, "{\"name\":\"d%d\",\"dc:title\":\"d%d\"}\n", i, i)
	}
	tree := func(name string) (ids []string) {
		make := func(in, name string) {
			do("POST", "/path"+in, fmt.Sprintf(`{"entity-type":"document","type":"Folder","name":%q}`, name))
		}
		make(at, name)
		for i := range 10 {
			folder := fmt.Sprint(at, "/", name, "/f", i)
			make(at+"/"+name, fmt.Sprint("f", i))
			do("POST", "/bulk?type=File&into="+folder, lines.String(), "Content-Type", "application/x-ndjson")
			if i < 5 {
				for _, e := range do("GET", "/path"+folder+"/@children?pageSize=10", "").JSON(t)["entries"].([]any) {
					ids = append(ids, e.(map[string]any)["uid"].(string))
				}
			}
		}
		return ids
	}
	tree("a")
	fifty := "docs:" + strings.Join(tree("b"), ",")
	do("POST", "/path"+at, `{"entity-type":"document","type":"Folder","name":"to"}`)
	do("POST", "/path"+at, `{"entity-type":"document","type":"Collection","name":"kept"}`)
	for _, c := range []struct {
		op, input, params string
		most              int
	}{
		{"Repository.Query", "", `{"query":"SELECT * FROM File WHERE ecm:path STARTSWITH '` + at + `/a' ORDER BY dc:modified"}`, 7},
		{"Document.Trash", at + "/a", "", 7},
		{"Document.Untrash", at + "/a", "", 7},
		{"Document.Copy", at + "/a", `{"target":"` + at + `/to","name":"copy"}`, 9},
		{"Document.Export", at + "/a", `{"exportAsTree":true,"exportAsZip":true}`, 25},
		{"Document.Delete", at + "/a", "", 17},
		{"Document.Update", fifty, `{"properties":{"dc:description":"new"}}`, 6},
		{"Document.AddToCollection", fifty, `{"collection":"` + at + `/kept"}`, 6},
		{"Services.TagDocument", fifty, `{"tags":"one,two"}`, 6},
		{"Document.CreateVersion", fifty, `{"increment":"Minor"}`, 4},
		{"Document.GetLastVersion", fifty, "", 7},
		{"Document.AddPermission", fifty, `{"permission":"Read","user":"Administrator"}`, 19},
		{"Document.PublishToSection", fifty, `{"target":"/default-domain/sections"}`, 11},
		{"Document.Move", fifty, `{"target":"` + at + `/to"}`, 19},
		{"Document.Trash", fifty, "", 15},
	} {
		if c.params == "" {
			c.params = "{}"
		}
		do("GET", "/path"+at+"/to", "") // and knows the folders above from then on
		store.counted()
		do("POST", "/automation/"+c.op, fmt.Sprintf(`{"input":%q,"params":%s}`, c.input, c.params))
		trace := store.trace
		if most, _ := store.counted(); most > c.most {
			t.Errorf("%s of %.20q: %d round trips, want %d at most\n%s", c.op, c.input, most, c.most, strings.Join(trace, "\n"))
		} else {
			t.Logf("%s of %.20q: %d round trips", c.op, c.input, most)
		}
	}
}
