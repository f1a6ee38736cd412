package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestDirectories checks the addresses of directories and what can be asked of their entries.
func TestDirectories(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	for _, x := range []struct {
		method, path, body string
		status             int
		want               string // part of the answer
		headers            []string
	}{
		{"GET", "/directory", "", 200, `{"entity-type":"directory","idField":"id","name":"nature","parent":null,"schema":"vocabulary"}`, nil},
		{"GET", "/directory/nature", "", 200, `"entity-type":"directoryEntries"`, nil},
		{"GET", "/directory/nature/?pageSize=2&currentPageIndex=1&unknown=1", "", 200, `"currentPageSize":2,"currentPageIndex":1`, nil},
		{"GET", "/directory/nature?currentPageIndex=9", "", 200, `"entries":[]`, nil},
		{"GET", "/directory/nope", "", 404, "", nil},
		{"GET", "/repo/default/directory/nature/article", "", 200, `{"entity-type":"directoryEntry","directoryName":"nature","id":"article","properties":{"id":"article","label":"label.directories.nature.article","obsolete":0,"ordering":10000000}}`, nil},
		{"HEAD", "/directory/nature/article", "", 200, "", nil},
		{"PATCH", "/directory/nature/article", "", 405, "", nil},
		{"GET", "/directory/nature/article", "", 200, `"label":"Article"`, []string{"translate-directoryEntry", "label"}},
		{"GET", "/directory/nature/memo", "", 200, `"label":"Mémo"`, []string{"X-NXtranslate.directoryEntry", "label", "Accept-Language", "fr-FR"}},
		{"GET", "/directory/country/France?fetch.directoryEntry=parent&translate.directoryEntry=label", "", 200, `"parent":{"entity-type":"directoryEntry","directoryName":"continent","id":"europe","properties":{"id":"europe","label":"Europe"`, nil},
		{"POST", "/directory/nature", `{"entity-type":"directoryEntry","directoryName":"nature","properties":{"id":"http://address.com/","label":"Foo"}}`, 201, `"label":"Foo"`, nil},
		{"POST", "/directory/nature", `{"entity-type":"directoryEntry","directoryName":"nature","properties":{"id":"article"}}`, 409, "", nil},
		{"POST", "/directory/nature/", `{"properties":{"id":"bare"}}`, 201, `"label":null`, nil},
		{"GET", "/directory/nature/http://address.com/", "", 200, `"id":"http://address.com/"`, nil},
		{"PUT", "/directory/nature/http://address.com/", `{"entity-type":"directoryEntry","properties":{"id":"http://address.com/","ordering":"4"}}`, 200, `"label":"Foo","obsolete":0,"ordering":4`, nil},
		{"PUT", "/directory/nature/bare", `{"entity-type":"directoryEntry","properties":{"label":"x"}}`, 400, "", nil},
		{"PUT", "/directory/nature/nobody", `{"properties":{"id":"nobody"}}`, 404, "", nil},
		{"DELETE", "/directory/nature/http://address.com/", "", 204, "", nil},
		{"DELETE", "/directory/nature/http://address.com/", "", 404, "", nil},
		{"DELETE", "/directory/continent/europe", "", 409, "", nil},
		{"POST", "/directory/nature", `{"properties":{"id":"x"}}`, 403, "", []string{"as", "bob"}},
		{"DELETE", "/directory/nature/article", "", 403, "", []string{"as", "bob"}},
		{"GET", "/directory/nature/article", "", 200, "", []string{"as", "bob"}},
		{"GET", "/directory/nature", "", 401, "", []string{"as", ""}},
		{"GET", "/directory/oauth2Clients", "", 200, `"entries":[]`, []string{"as", "bob"}},
		{"POST", "/directory/oauth2Tokens", `{"properties":{"serviceName":"s","creationDate":"2011-10-23T12:00:00.00Z"}}`, 201, `"id":"1","properties":{"id":1,`, nil},
		{"PUT", "/directory/oauth2Tokens/1", `{"id":"1","properties":{"id":"1","creationDate":"2012-10-23"}}`, 200, `"creationDate":"2012-10-23T00:00:00.000Z"`, nil},
	} {
		a := s.Do(x.method, "/nuxeo/api/v1"+x.path, x.body, x.headers...)
		if a.StatusCode != x.status || !strings.Contains(a.Text, x.want) {
			t.Errorf("%s %s: %d %s, want %d %s", x.method, x.path, a.StatusCode, a.Text, x.status, x.want)
		}
	}
}

// TestReferences checks that references among properties are resolved and taken back.
func TestReferences(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	create := s.Do("POST", "/api/v1/path/", `{"entity-type":"document","type":"File","name":"a","properties":{"dc:nature":"article","dc:subjects":["art/music","nonsense"],"dc:coverage":"europe/France","dc:contributors":["bob"]}}`)
	if create.StatusCode != http.StatusCreated {
		t.Fatal(create.Text)
	}
	a := s.Do("GET", "/api/v1/path/a", "", "properties", "*", "fetch-document", "properties", "translate-directoryEntry", "label")
	for _, want := range []string{
		`"dc:nature":{"entity-type":"directoryEntry","directoryName":"nature","id":"article","properties":{"id":"article","label":"Article"`,
		`"dc:coverage":{"entity-type":"directoryEntry","directoryName":"l10ncoverage","id":"europe/France","properties":{"id":"France"`,
		`"dc:creator":{"entity-type":"user","id":"Administrator"`,
		`,"nonsense"]`,
	} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("%s\nholds no %s", a.Text, want)
		}
	}
	only := s.Do("GET", "/api/v1/path/a", "", "properties", "*", "fetch-document", "dc:nat")
	if !strings.Contains(only.Text, `"dc:creator":"Administrator"`) || !strings.Contains(only.Text, `"dc:nature":{`) {
		t.Errorf("by prefix: %s", only.Text)
	}
	saved := s.Do("PUT", "/api/v1/path/a", a.Text, "properties", "*")
	for _, want := range []string{`"dc:nature":"article"`, `"dc:subjects":["art/music","nonsense"]`, `"dc:coverage":"europe/France"`} {
		if !strings.Contains(saved.Text, want) {
			t.Errorf("%s\nholds no %s", saved.Text, want)
		}
	}
}
