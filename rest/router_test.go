package rest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestRouter(t *testing.T) {
	table := []Route{
		{Method: "GET", Path: "/automation/:op"},
		{Method: "GET", Path: "/automation/:op/@async/:run"},
		{Method: "GET", Path: "/automation/:op/@async/:run/status"},
		{Method: "GET", Path: "/automation/traces/:trace"},
		{Method: "POST", Path: "/automation/:op"},
		{Method: "POST", Path: "/automation/login"},
		{Method: "GET", Path: "/directory/:dir"},
		{Method: "DELETE", Path: "/directory/:dir/*entry"},
		{Method: "GET", Path: "/id/:id"},
		{Method: "GET", Path: "/id/:id/*tail"},
		{Method: "GET", Path: "/path"},
		{Method: "GET", Path: "/path/*doc"},
		{Method: "GET", Path: "/user/*name"},
		{Method: "GET", Path: "/user/search"},
		{Method: "POST", Path: "/upload"},
		{Method: "GET", Path: "/v1/decks/:id"},
		{Method: "GET", Path: "/v1/decks/trashed"},
		{Method: "GET", Path: "/v1/decks/:deck/slides"},
	}
	r := newRouter(table)
	cases := []struct{ method, path, want string }{
		{"GET", "/automation/Document.Create", "/automation/:op op=Document.Create"},
		{"POST", "/automation/login", "/automation/login"},
		{"POST", "/automation/Log", "/automation/:op op=Log"},
		{"GET", "/automation/traces/1", "/automation/traces/:trace trace=1"},
		{"GET", "/automation/Log/@async/7/status", "/automation/:op/@async/:run/status op=Log run=7"},
		{"DELETE", "/directory/nature/http://address.com/", "/directory/:dir/*entry dir=nature entry=http://address.com/"},
		{"GET", "/id/5/@children/@op/X", "/id/:id/*tail id=5 tail=@children/@op/X"},
		{"GET", "/id/a%2Fb", "/id/:id id=a%2Fb"},
		{"GET", "/id/5/", "/id/:id id=5"},
		{"GET", "/id/", ""},
		{"GET", "/path", "/path"},
		{"GET", "/path/", "/path"},
		{"GET", "/path//@children", "/path/*doc doc=/@children"},
		{"GET", "/path/a%20b/c;d", "/path/*doc doc=a%20b/c;d"},
		{"GET", "/PATH/a", ""},
		{"GET", "/upload", ""},
		{"POST", "/upload/", "/upload"},
		{"GET", "/user/search", "/user/search"},
		{"GET", "/user/search/x", "/user/*name name=search/x"},
		{"GET", "/v1/decks/trashed", "/v1/decks/trashed"},
		{"GET", "/v1/decks/trashed/slides", "/v1/decks/:deck/slides deck=trashed"},
		{"GET", "/v1/decks/12", "/v1/decks/:id id=12"},
		{"GET", "/nope", ""},
	}
	for _, c := range cases {
		var ps Segments
		got := ""
		if rt := r.find(c.method, c.path, &ps); rt != nil {
			got = rt.Path
			for _, p := range ps.list[:ps.n] {
				got += fmt.Sprintf(" %s=%s", p.name, p.value)
			}
		}
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.method, c.path, got, c.want)
		}
	}
	if got, want := r.allowed("/automation/login"), []string{"GET", "POST", "HEAD"}; !reflect.DeepEqual(got, want) {
		t.Errorf("allowed: got %v, want %v", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("two rows for one address are accepted")
		}
	}()
	newRouter([]Route{{Method: "GET", Path: "/a/:b"}, {Method: "GET", Path: "/a/:c"}})
}

func TestLocate(t *testing.T) {
	cases := []struct {
		path string
		want Location
	}{
		{"/api/v1/path/a", Location{API: true, Path: "/path/a"}},
		{"/nuxeo/api/v1/path/a", Location{API: true, Path: "/path/a"}},
		{"/nuxeo/site/api/v1/me", Location{API: true, Path: "/me"}},
		{"/site/automation/Log", Location{API: true, Path: "/automation/Log"}},
		{"/nuxeo/site/automation", Location{API: true, Path: "/automation"}},
		{"/api/v1/repo/default/path//a", Location{API: true, Path: "/path//a", Repo: "default"}},
		{"/api/v1/repo/x%20y/query", Location{API: true, Path: "/query", Repo: "x%20y"}},
		{"/nuxeo/json/cmis", Location{Path: "/json/cmis"}},
		{"/nuxeox/json/cmis", Location{Path: "/nuxeox/json/cmis"}},
		{"/api/v10/x", Location{Path: "/api/v10/x"}},
		{"/v1/decks", Location{Path: "/v1/decks"}},
	}
	for _, c := range cases {
		if got := Locate("/nuxeo", c.path); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.path, got, c.want)
		}
	}
}

func TestSplitHops(t *testing.T) {
	cases := []struct {
		in, path string
		hops     []Hop
		fails    bool
	}{
		{in: "ws/doc%20with%20@%20and%20@", path: "ws/doc with @ and @"},
		{in: "@children", path: "", hops: []Hop{{"children", ""}}},
		{in: "/@children", path: "", hops: []Hop{{"children", ""}}},
		{in: "a/@blob/files:files/0/file/@convert", path: "a", hops: []Hop{{"blob", "files:files/0/file"}, {"convert", ""}}},
		{in: "a/%40acl", path: "a/@acl"},
		{in: "a/b@acl", path: "a/b", hops: []Hop{{"acl", ""}}},
		{in: "a/b@acl/", path: "a/b", hops: []Hop{{"acl", ""}}},
		{in: "a@bo/Adapter", path: "a", hops: []Hop{{"bo", "Adapter"}}},
		{in: "a@audit/@op/X", path: "a", hops: []Hop{{"audit", ""}, {"op", "X"}}},
		{in: "a@aclx", path: "a@aclx"},
		{in: "a%40acl", path: "a@acl"},
		{in: "a/@children/@op/Document.Query/", path: "a", hops: []Hop{{"children", ""}, {"op", "Document.Query"}}},
		{in: "%5B%5D%3B%23%24%2C%26%3F%3D%2B+", path: "[];#$,&?=++"},
		{in: "%E3%83%9F%E3%82%AB", path: "ミカ"},
		{in: "a%2525", path: "a%25"},
		{in: "a/../b", fails: true},
		{in: "a/%2e%2E/b", fails: true},
		{in: "a%2f..%2fb", fails: true},
		{in: "a/.", fails: true},
		{in: "a%00b", fails: true},
		{in: "a%ff", fails: true},
		{in: "a/@blob/../x", fails: true},
	}
	for _, c := range cases {
		path, hops, err := SplitHops(c.in)
		if (err != nil) != c.fails {
			t.Errorf("%s: error %v", c.in, err)
		} else if path != c.path || !c.fails && !reflect.DeepEqual(hops, c.hops) {
			t.Errorf("%s: got %q %v, want %q %v", c.in, path, hops, c.path, c.hops)
		}
	}
}

func FuzzSplitHops(f *testing.F) {
	f.Add("a/@blob/files:files/0/file/@convert")
	f.Add("%2e%2e/%00/@/@@")
	f.Fuzz(func(t *testing.T, s string) {
		path, hops, err := SplitHops(s)
		if err != nil {
			return
		}
		for _, text := range append([]string{path}, texts(hops)...) {
			if dotted(text) || strings.Contains(text, "\x00") {
				t.Errorf("%q yields %q", s, text)
			}
		}
	})
}

func texts(hops []Hop) []string {
	var out []string
	for _, h := range hops {
		out = append(out, h.Name, h.Args)
	}
	return out
}

func BenchmarkFind(b *testing.B) {
	r := newRouter([]Route{
		{Method: "GET", Path: "/automation"},
		{Method: "GET", Path: "/automation/:op"},
		{Method: "POST", Path: "/automation/:op"},
		{Method: "POST", Path: "/automation/:op/@async"},
		{Method: "GET", Path: "/automation/:op/@async/:run"},
		{Method: "GET", Path: "/automation/doc"},
		{Method: "POST", Path: "/upload/:batch/execute/:op"},
		{Method: "GET", Path: "/path"},
		{Method: "GET", Path: "/path/*doc"},
	})
	b.ReportAllocs()
	for b.Loop() {
		var ps Segments
		if r.find("POST", "/automation/Document.Create", &ps) == nil {
			b.Fatal("not found")
		}
	}
}
