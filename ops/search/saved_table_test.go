package search_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/repository"
	"catena/ops/resource"
	"catena/ops/search"
)

func TestSavedSearchesByUser(t *testing.T) {
	s := opstest.Serve(t, search.Ops(nil), document.Ops)
	const gone = "! notfound: $saved"
	s.Play([]opstest.Row{
		{"alice", "SavedSearch.Create", "", `{"search": {"title": "Mine", "query": "SELECT * FROM Note"}}`, `{…"query":"SELECT * FROM Note"…"title":"Mine"…}`},
		{"", "keep", "", "id", "saved"},
		{"", "SavedSearch.Read", "", `{"id": "$saved"}`, `{…"id":"$saved"…"query":"SELECT * FROM Note"…}`},
		{"", "SavedSearch.Create", "", `{"search": {"title": "", "query": "SELECT * FROM Note"}}`, "! invalid title: title: is missing"},
		{"", "SavedSearch.Create", "", `{"search": {"title": 7, "query": "SELECT * FROM Note"}}`, "! invalid title: title: …"},
		{"", "SavedSearch.Create", "", `{"search": {"query": "SELECT * FROM Note"}}`, "! invalid title: title: is missing"},
		{"", "SavedSearch.Create", "", `{"search": {"title": "None"}}`, "! invalid query: query: query or pageProviderName is required"},
		{"", "SavedSearch.Create", "", `{"search": {"title": "None", "query": ""}}`, "! invalid query: query: query or pageProviderName is required"},
		{"", "SavedSearch.Create", "", `{"search": {"title": "None", "query": null}}`, "! invalid query: query: query or pageProviderName is required"},
		{"", "SavedSearch.Create", "", `{"search": {"title": "None", "query": "", "pageProviderName": ""}}`, "! invalid query: query: query or pageProviderName is required"},
		{"", "SavedSearch.Create", "", `{"search": {"title": "None", "query": ["a"]}}`, "! invalid query: query: must be a string"},
		{"", "SavedSearch.Create", "", `{}`, `! invalid missing_parameter search: parameter "search" is missing`},
		{"", "SavedSearch.Create", "", `{"search": []}`, `! invalid search: …`},
		{"bob", "SavedSearch.Read", "", `{"id": "$saved"}`, gone},
		{"", "SavedSearch.Update", "", `{"id": "$saved", "search": {"title": "Stolen"}}`, gone},
		{"", "SavedSearch.Execute", "", `{"id": "$saved"}`, gone},
		{"", "SavedSearch.Delete", "", `{"id": "$saved"}`, gone},
		{"", "SavedSearch.List", "", `{}`, `{…"entries":[]…"resultsCount":0…}`},
		{"admin", "SavedSearch.Read", "", `{"id": "$saved"}`, `{…"title":"Mine"…}`},
		{"alice", "SavedSearch.Update", "", `{"id": "$saved", "search": {"title": "Ünï 日本"}}`, `{…"query":"SELECT * FROM Note"…"title":"Ünï 日本"…}`}, // what is left out stays
		{"", "SavedSearch.Update", "", `{"id": "$saved", "search": {}}`, `{…"title":"Ünï 日本"…}`},
		{"", "SavedSearch.Update", "", `{"id": "$saved", "search": {"query": {}}}`, "! invalid query: query: must be a string"},
		{"", "SavedSearch.Update", "", `{"id": "nope", "search": {"title": "x"}}`, "! notfound: nope"},
		{"", "SavedSearch.Delete", "", `{"id": "$saved"}`, ""},
		{"", "SavedSearch.Delete", "", `{"id": "$saved"}`, gone},
		{"", "SavedSearch.Read", "", `{"id": ""}`, "! notfound: …"},
		// A document that is no saved search is none, whoever may change it.
		{"", "Document.Create", "/ws", `{"type": "Note", "name": "note"}`, "/ws/note"},
		{"", "keep", "", "", "note"},
		{"", "SavedSearch.Read", "", `{"id": "$note"}`, "! notfound: $note"},
		{"", "SavedSearch.Delete", "", `{"id": "$note"}`, "! notfound: $note"},
		{"", "see", "/ws/note", "type", "Note"},
	})
}

func TestSavedSearchesThatAreRun(t *testing.T) {
	s := opstest.Serve(t, search.Ops(repository.Lists(nil)), document.Ops, resource.Ops, repository.Ops(nil))
	for _, name := range []string{"a", "b", "c"} {
		s.Play([]opstest.Row{{"alice", "Document.Create", "/ws", fmt.Sprintf(`{"type": "Note", "name": %q, "properties": {"dc:title": %q}}`, name, name), "/ws/" + name}})
	}
	const order = `"query": "SELECT * FROM Note WHERE ecm:isVersion = 0 AND ecm:path STARTSWITH '/ws'", "sortBy": "dc:title", "sortOrder": "desc", "pageSize": "2"`
	execute := func(more string) string { return `{"id": "$saved"` + more + `}` }
	s.Play([]opstest.Row{
		{"admin", "Document.Create", "/private", `{"type": "Note", "name": "p"}`, "/private/p"},
		{"alice", "SavedSearch.Create", "", `{"search": {"title": "Notes", ` + order + `}}`, `{…}`},
		{"", "keep", "", "id", "saved"},
		{"", "SavedSearch.Execute", "", execute(""), "/ws/c /ws/b"},
		{"", "SavedSearch.Execute", "", execute(`, "currentPageIndex": "1"`), "/ws/a"},
		{"", "SavedSearch.Execute", "", execute(`, "currentPageIndex": "2"`), ""},
		{"", "SavedSearch.Execute", "", execute(`, "pageSize": "1", "currentPageIndex": "2"`), "/ws/a"},
		{"", "SavedSearch.Execute", "", execute(`, "pageSize": "3"`), "/ws/c /ws/b /ws/a"},
		{"", "SavedSearch.Execute", "", execute(`, "pageSize": "3", "sortOrder": "asc"`), "/ws/a /ws/b /ws/c"},
		{"", "SavedSearch.Execute", "", execute(`, "pageSize": "3", "sortOrder": "ASC"`), "/ws/a /ws/b /ws/c"},
		{"", "SavedSearch.Execute", "", execute(`, "pageSize": "x"`), "! invalid pageSize: …"},
		{"", "SavedSearch.Execute", "", execute(`, "currentPageIndex": "x"`), "! invalid currentPageIndex: …"},
		{"", "SavedSearch.Execute", "", execute(`, "currentPageIndex": "9223372036854775807"`), "! invalid currentPageIndex: …"},
		{"", "SavedSearch.Execute", "", execute(`, "sortBy": "dc:nope"`), `! invalid: query: unknown field "dc:nope"`},
		{"", "SavedSearch.Update", "", `{"id": "$saved", "search": {"query": "SELECT * FROM"}}`, `{…}`}, // told when it is run
		{"", "SavedSearch.Execute", "", execute(""), "! invalid: query: line 1, column 14: expected a document type, found the end of the query"},
		{"", "SavedSearch.Update", "", `{"id": "$saved", "search": {"query": "SELECT * FROM Note WHERE dc:title = 'nobody'"}}`, `{…}`},
		{"", "SavedSearch.Execute", "", execute(""), ""},
		{"", "SavedSearch.Update", "", `{"id": "$saved", "search": {"query": "SELECT * FROM Note WHERE ecm:isVersion = 0"}}`, `{…}`},
		{"", "SavedSearch.Execute", "", execute(`, "pageSize": "50"`), "/ws/c /ws/b /ws/a"}, // what alice may not read is not there
		// Lists of the provider that are not given are empty, and no condition.
		{
			"", "SavedSearch.Create", "", `{"search": {"title": "Form", "pageProviderName": "default_search", "params": {"dc_title": "b", "ecm_tags": null, "dc_nature": ["memo"]}}}`,
			`{…"params":{"dc_coverage":[],"dc_creator":[],"dc_nature":["memo"],"dc_subjects":[],"dc_title":"b","ecm_collections":[],"ecm_path":[],"ecm_tags":[]}…}`,
		},
		{"", "keep", "", "id", "form"},
		{"", "SavedSearch.Update", "", `{"id": "$form", "search": {"params": {"dc_title": "b", "dc_nature": [], "ecm_tags": []}}}`, `{…"ecm_tags":[]…}`},
		{"", "SavedSearch.Execute", "", `{"id": "$form"}`, "/ws/b"},
		{"", "SavedSearch.Update", "", `{"id": "$form", "search": {"params": null}}`, `{…"ecm_collections":[]…}`},
		{"", "SavedSearch.Update", "", `{"id": "$form", "search": {"pageProviderName": "nope"}}`, `{…"params":null…}`},
	})
}

func TestAggregatedFiles(t *testing.T) {
	s := opstest.Serve(t, search.Ops(nil), document.Ops)
	for i, nature := range []string{"memo", "memo", "report"} {
		s.Play([]opstest.Row{{"alice", "Document.Create", "/ws", fmt.Sprintf(`{"type": "File", "name": "n%d", "properties": {"dc:nature": %q, "dc:title": "n%d"}}`, i, nature, i), fmt.Sprint("/ws/n", i)}})
	}
	files := func(aggs string) string {
		return `{"query": {"term": {"ecm:primaryType": "File"}}, "aggs": ` + aggs + `}`
	}
	terms := func(more string) string { return files(`{"n": {"terms": {"field": "dc:nature"` + more + `}}}`) }
	s.Play([]opstest.Row{
		{"admin", "Document.Create", "/private", `{"type": "File", "name": "p", "properties": {"dc:nature": "secret"}}`, "/private/p"},
		{"bob", "Search.Aggregate", "", terms(""), `{…"n":{…{"doc_count":2,"key":"memo"},{"doc_count":1,"key":"report"}…}`},
		{"", "Search.Aggregate", "", terms(`, "size": 1`), `{…"n":{…"buckets":[{"doc_count":2,"key":"memo"}]…"sum_other_doc_count":1…}`},
		{"", "Search.Aggregate", "", terms(`, "order": {"_count": "asc"}`), `{…"n":{…"buckets":[{"doc_count":1,"key":"report"},{"doc_count":2,"key":"memo"}]…}`},
		{"", "Search.Aggregate", "", terms(`, "order": {"_key": "desc"}`), `{…"n":{…"buckets":[{"doc_count":1,"key":"report"},{"doc_count":2,"key":"memo"}]…}`},
		{"", "Search.Aggregate", "", terms(`, "size": 0`), "! invalid aggs: …size: must be between 1 and 1000…"},
		{"", "Search.Aggregate", "", terms(`, "size": -1`), "! invalid aggs: …size: must be between 1 and…"},
		{"", "Search.Aggregate", "", terms(`, "order": {"title": "asc"}`), "! invalid aggs: …order: must name one of _count and _key"},
		{"", "Search.Aggregate", "", files(`{"n": {"terms": {}}}`), "! invalid aggs: …terms: field: is missing"},
		{"", "Search.Aggregate", "", files(`{"n": {"median": {"field": "dc:nature"}}}`), "! invalid aggs: …median: is not supported; must be terms, …"},
		{"", "Search.Aggregate", "", files(`{"n": {"value_count": {"field": "dc:nature"}}}`), `{…"n":{"value":3}…}`},
		{"", "Search.Aggregate", "", files(`{"n": {"cardinality": {"field": "dc:nature"}}}`), `{…"n":{"value":2}…}`},
		{"", "Search.Aggregate", "", files(`{"n": {"date_histogram": {"field": "dc:created", "interval": "eon"}}}`), `! invalid aggs: …interval: "eon": must be one of …`},
		{"", "Search.Aggregate", "", files(`{"n": {"range": {"field": "dc:created"}}}`), "! invalid aggs: …ranges: is missing"},
		{"", "Search.Aggregate", "", `{"query": {"nope": {}}}`, "! invalid query: query: nope: is not supported; must be bool, exists, match_all, range, term or terms"},
		{"", "Search.Aggregate", "", `{"query": {"term": {}, "exists": {}}}`, "! invalid query: query: must be an object with one member"},
		{"", "Search.Aggregate", "", `{"query": {"term": 5}}`, "! invalid query: query: term: must be an object"},
		{"", "Search.Aggregate", "", `{"query": {"term": {"dc:title": "a", "dc:nature": "b"}}}`, "! invalid query: query: term: must name one field"},
		{"", "Search.Aggregate", "", `{"query": {"bool": {"perhaps": []}}}`, "! invalid query: query: bool: perhaps: is not supported"},
		{"", "Search.Aggregate", "", `{"query": {"exists": {"field": "dc:nature"}}}`, `{…"total":{…"value":3}…}`},
		{"", "Search.Aggregate", "", `{"query": {"term": {"dc:nature": "secret"}}}`, `{…"total":{…"value":0}…}`},
		{"admin", "Search.Aggregate", "", `{"query": {"term": {"dc:nature": "secret"}}}`, `{…"total":{…"value":1}…}`},
		{"bob", "Search.Aggregate", "", `{"index": "audit"}`, "! denied: audit records: can be searched only by administrators"},
	})
}

// Conditions may be nested so far and no further.
func TestNestedConditions(t *testing.T) {
	s := opstest.Serve(t, search.Ops(nil))
	nested := func(n int) string {
		return `{"query": ` + strings.Repeat(`{"bool": {"must": `, n) + `{"match_all": {}}` + strings.Repeat(`}}`, n) + `}`
	}
	s.Play([]opstest.Row{
		{"bob", "Search.Aggregate", "", nested(1), `{…}`},
		{"", "Search.Aggregate", "", nested(30), "! limit query: query: more than …"},
		{"", "Elasticsearch.WaitForIndexing", "", `{}`, "true"},
		{"", "Elasticsearch.WaitForIndexing", "", `{"timeoutSecond": -1, "refresh": true}`, "true"},
		{"", "Elasticsearch.WaitForIndexing", "", `{"timeoutSecond": "soon"}`, "! invalid timeoutSecond: …"},
	})
}
