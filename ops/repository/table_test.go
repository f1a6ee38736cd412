package repository_test

import (
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/repository"
	"catena/ops/version"
)

// serve has files /ws/a to /ws/e with the titles A to E, of which bob may not read /ws/e.
func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, repository.Ops(nil), document.Ops, property.Ops, version.Ops)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		title := string(name[0] - 'a' + 'A')
		s.Play([]opstest.Row{{"alice", "Document.Create", "/ws", `{"type": "File", "name": "` + name + `", "properties": {"dc:title": "` + title + `", "dc:source": "s"}}`, "/ws/" + name}})
	}
	s.Play([]opstest.Row{{"alice", "Document.BlockPermissionInheritance", "/ws/e", ``, "/ws/e"}, {"", "keep", "/ws/a", "", "a"}})
	return s
}

func TestQuery(t *testing.T) {
	const files = `"query": "SELECT * FROM File WHERE ecm:isVersion = 0 ORDER BY dc:title"`
	tests := []struct{ params, want string }{
		{`{` + files + `}`, "/ws/a /ws/b /ws/c /ws/d"},
		{`{` + files + `, "pageSize": 2}`, "/ws/a /ws/b"},
		{`{` + files + `, "pageSize": 2, "currentPageIndex": 1}`, "/ws/c /ws/d"},
		{`{` + files + `, "pageSize": 2, "page": 1}`, "/ws/c /ws/d"},
		{`{` + files + `, "pageSize": 2, "currentPageIndex": 2}`, ""},
		{`{` + files + `, "pageSize": 3, "currentPageIndex": 1}`, "/ws/d"},
		{`{` + files + `, "pageSize": 0}`, "/ws/a /ws/b /ws/c /ws/d"},
		{`{` + files + `, "pageSize": -1}`, "/ws/a /ws/b /ws/c /ws/d"},
		{`{` + files + `, "maxResults": 3}`, "/ws/a /ws/b /ws/c"},
		{`{` + files + `, "maxResults": 3, "pageSize": 2, "currentPageIndex": 1}`, "/ws/c"},
		{`{` + files + `, "maxResults": -1}`, "! invalid maxResults: maxResults: must be at least 0"},
		{`{` + files + `, "currentPageIndex": -1}`, "! invalid currentPageIndex: currentPageIndex: must be at least 0"},
		{`{` + files + `, "pageSize": 1000, "currentPageIndex": 4611686018427387904}`, "! invalid currentPageIndex: …"},
		{`{` + files + `, "sortBy": "dc:title", "sortOrder": "desc"}`, "/ws/d /ws/c /ws/b /ws/a"},
		{`{` + files + `, "sortBy": "dc:title"}`, "/ws/d /ws/c /ws/b /ws/a"}, // descending unless asc
		{`{` + files + `, "sortBy": "dc:title", "sortOrder": "Asc"}`, "/ws/a /ws/b /ws/c /ws/d"},
		{`{` + files + `, "sortBy": "dc:source,dc:title", "sortOrder": "asc,asc"}`, "/ws/a /ws/b /ws/c /ws/d"},
		{`{` + files + `, "sortBy": "dc:nope"}`, `! invalid: query: unknown field "dc:nope"`},
		{`{"query": "SELECT * FROM File WHERE dc:title = ?", "queryParams": "B"}`, "/ws/b"},
		{`{"query": "SELECT * FROM File WHERE dc:title = ?", "searchTerm": "B"}`, "/ws/b"},
		{`{"query": "SELECT * FROM File WHERE dc:title = ?", "queryParams": ["B' OR dc:title = 'A"]}`, ""},
		{`{"query": "SELECT * FROM File WHERE dc:title = ? OR dc:title = ?", "queryParams": ["B"]}`, "! invalid: query: line 1, column 53: no value given for parameter ?"},
		{`{"query": "SELECT * FROM File WHERE dc:title = ?"}`, "! invalid: query: line 1, column 37: no value given for parameter ?"},
		{`{"query": "SELECT * FROM File WHERE dc:title = :t", "namedParameters": {"t": "C"}}`, "/ws/c"},
		{`{"query": "SELECT * FROM File WHERE dc:title = :t", "namedParameters": {"u": "C"}}`, "! invalid: query: line 1, column 37: no value given for parameter :t"},
		{`{"query": "SELECT * FROM File WHERE dc:title IN (:t)", "namedParameters": {"t": ["C", "A"]}}`, "/ws/a /ws/c"},
		{`{"query": "SELECT * FROM File WHERE dc:creator = :u AND dc:title = 'A'", "namedParameters": {"u": "$currentUser"}}`, ""}, // alice's
		{`{"query": "SELECT * FROM File WHERE dc:title LIKE 'A%' OR dc:title ILIKE 'b'"}`, "/ws/a /ws/b"},
		{`{"query": "SELECT * FROM File WHERE ecm:path = '/ws/e'"}`, ""}, // bob may not read it
		{`{"query": "SELECT * FROM File WHERE ecm:path STARTSWITH '/private'"}`, ""},
		{`{"query": "SELECT"}`, `! invalid: query: line 1, column 7: expected "*" or a field, found the end of the query`},
		{`{"query": ""}`, "! invalid: query: line 1, column 1: expected SELECT, found the end of the query"},
		{`{"query": "SELECT * FROM Nope"}`, `! invalid: query: line 1, column 15: unknown document type "Nope", perhaps Note`},
		{`{"query": "SELECT * FROM File WHERE nope = 1"}`, `! invalid: query: line 1, column 26: unknown field "nope"`},
		{`{"query": "SELECT * FROM File WHERE dc:title = 'A'; DELETE"}`, "! invalid: query: line 1, column 40: unexpected character ';'"},
		{`{"query": "SELECT * FROM File", "language": "CMIS"}`, `! invalid language: language "CMIS": only NXQL is supported`},
		{`{"query": "SELECT dc:title FROM File WHERE dc:title = 'A'"}`, "/ws/a"},
	}
	s := serve(t)
	for _, test := range tests {
		s.Play([]opstest.Row{{"bob", "Repository.Query", "", test.params, test.want}})
	}
}

func TestResultSets(t *testing.T) {
	tests := []struct{ params, want string }{
		{`{"query": "SELECT dc:title, dc:source FROM File WHERE ecm:isVersion = 0 ORDER BY dc:title", "pageSize": 1}`, `{"entity-type":"recordSet"…"entries":[{"dc:source":"s","dc:title":"A"}]}`},
		{`{"query": "SELECT dc:title FROM File WHERE dc:title = ?", "queryParams": "B"}`, `{"entity-type":"recordSet"…"entries":[{"dc:title":"B"}]}`},
		{`{"query": "SELECT COUNT(ecm:uuid) FROM File WHERE ecm:isVersion = 0"}`, `{"entity-type":"recordSet"…"entries":[{"COUNT(ecm:uuid)":4}]}`},
		{`{"query": "SELECT DISTINCT dc:source FROM File"}`, `{"entity-type":"recordSet"…"entries":[{"dc:source":"s"}]}`},
		{`{"query": "SELECT ecm:uuid FROM File WHERE dc:title = 'A'"}`, `{"entity-type":"recordSet"…"entries":[{"ecm:uuid":"$a"}]}`},
		{`{"query": "SELECT dc:title FROM File WHERE ecm:isVersion = 0", "pageSize": 1, "currentPageIndex": 3, "sortBy": "dc:title", "sortOrder": "asc"}`, `{"entity-type":"recordSet"…"entries":[{"dc:title":"D"}]}`},
		{`{"query": "SELECT dc:nope FROM File"}`, `! invalid: query: line 1, column 8: unknown field "dc:nope"`},
		{`{"query": "SELECT dc:title FROM File", "language": "CMIS"}`, `! invalid language: language "CMIS": only NXQL is supported`},
		{`{"query": "SELECT dc:title FROM File", "currentPageIndex": -1}`, "! invalid currentPageIndex: currentPageIndex: must be at least 0"},
		{`{}`, `! invalid missing_parameter query: parameter "query" is missing`},
	}
	s := serve(t)
	for _, test := range tests {
		s.Play([]opstest.Row{{"bob", "Repository.ResultSetQuery", "", test.params, test.want}})
	}
}

func TestProvidersByName(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Repository.PageProvider", "", `{"providerName": "advanced_document_content", "queryParams": ["$a"]}`, "/ws/d /ws/c /ws/b /ws/a /ws /default-domain/templates /default-domain/sections /default-domain/workspaces /default-domain /"},
		{"", "keep", "/ws", "", "ws"},
		{"", "Repository.PageProvider", "", `{"providerName": "advanced_document_content", "namedParameters": {"ecm_parentId": "$ws"}}`, "/ws/d /ws/c /ws/b /ws/a"},
		{"", "Repository.PageProvider", "", `{"providerName": "nope"}`, "! notfound unknown_provider: page provider nope"},
		{"", "Repository.PageProvider", "", `{"providerName": ""}`, "! notfound unknown_provider: page provider "},
		{"", "Repository.PageProvider", "", `{}`, `! invalid missing_parameter providerName: parameter "providerName" is missing`},
		{"", "Repository.PageProvider", "", `{"providerName": "advanced_document_content", "namedParameters": {"nope": "x"}}`, "/ws/d /ws/c /ws/b /ws/a /ws /default-domain/templates /default-domain/sections /default-domain/workspaces /default-domain /"},
		{"", "Repository.PageProvider", "", `{"providerName": "advanced_document_content", "quickFilters": "nope"}`, "! invalid quickFilters: quick filter nope: page provider advanced_document_content has none"},
		{"", "Repository.ReadPageProvider", "", `{"providerName": "nope"}`, "! notfound unknown_provider: page provider nope"},
		{"", "Repository.ResultSetPageProvider", "", `{}`, "! invalid providerName: providerName: is missing"},
		{"", "Repository.ResultSetPageProvider", "", `{"providerName": "nope"}`, "! notfound unknown_provider: page provider nope"},
		{"", "GetRepositories", "", ``, "default"},
		{"", "Repository.GetDocument", "", `{"value": "$a"}`, "/ws/a"},
		{"", "Repository.GetDocument", "", `{"value": "/ws/e"}`, "! notfound: /ws/e"},
		{"", "Repository.GetDocument", "", `{"value": ""}`, "! notfound: "},
		{"", "Repository.GetDocument", "", `{"value": "ws/a"}`, "! notfound: ws/a"},
		{"", "Repository.GetDocument", "", `{"value": "/ws/a/"}`, "/ws/a"},
		{"", "Repository.GetDocument", "", `{"value": "//ws//a"}`, "/ws/a"},
		{"", "Repository.GetDocument", "", `{"value": "/ws/../ws/a"}`, "! notfound: /ws/../ws/a"},
		{"", "Repository.GetDocument", "", `{"value": "/"}`, "/"},
		{"", "Repository.SaveSession", "/ws/a", ``, "/ws/a"},
		{"", "Repository.Verify", "", ``, "! notfound unknown_operation: operation Repository.Verify: does not exist, perhaps Repository.Query"}, // for administrators
		{"", "Repository.SlowQueries", "", ``, "! denied: only administrators may explain queries, not 'bob': the plan depends on documents that others may not read"},
	})
}
