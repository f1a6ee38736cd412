package mcp

import "testing"

func TestShortenDocs(t *testing.T) {
	const doc = `{"entity-type":"document","repository":"default","uid":"1","path":"/a","type":"File","state":"project","parentRef":"0","title":"A","properties":{"dc:title":"A","dc:source":null,"file:content":{"name":"a.txt"}},"facets":["Versionable"]}`
	for _, c := range []struct {
		name, body string
		properties []string
		want       string
	}{
		{"a document", doc, nil, `{"entity-type":"document","uid":"1","path":"/a","type":"File","title":"A","state":"project"}`},
		{"with properties", doc, []string{"dc:source", "file:content", "no:such"}, `{"entity-type":"document","uid":"1","path":"/a","type":"File","title":"A","state":"project","properties":{"dc:source":null,"file:content":{"name":"a.txt"}}}`},
		{"whole", doc, []string{"*"}, doc},
		{"a page", `{"entity-type":"documents","isPaginable":true,"resultsCount":1,"pageSize":2,"maxPageSize":1000,"currentPageIndex":0,"isNextPageAvailable":false,"entries":[` + doc + `]}`, nil, `{"entity-type":"documents","resultsCount":1,"currentPageIndex":0,"pageSize":2,"isNextPageAvailable":false,"entries":[{"uid":"1","path":"/a","type":"File","title":"A","state":"project"}]}`},
		{"a page that is too long", `{"entity-type":"documents","entries":[` + doc + `,` + doc + `,` + doc + `]}`, nil, `{"entity-type":"documents","entries":[{"uid":"1","path":"/a","type":"File","title":"A","state":"project"},{"uid":"1","path":"/a","type":"File","title":"A","state":"project"},null]}`},
		{"a list of values", `{"entity-type":"list","value":[1]}`, nil, `[1]`},
		{"a wrapped value", `{"entity-type":"object","value":{"entity-type":"document"}}`, []string{"*"}, `{"entity-type":"document"}`},
		{"a wrapped nothing", `{"entity-type":"object","value":null}`, nil, `null`},
		{"a value of its own", `{"entity-type":"vocabularyEntry","value":"x"}`, nil, `{"entity-type":"vocabularyEntry","value":"x"}`},
		{"no document", `{"entity-type":"user","id":"bob"}`, nil, `{"entity-type":"user","id":"bob"}`},
		{"a text", `"x"`, nil, `"x"`},
		{"a list", `[1]`, nil, `[1]`},
	} {
		if got := string(shortenDocs([]byte(c.body), c.properties, 100)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}
