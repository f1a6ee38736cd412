package directory_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/directory"
	"catena/ops/opstest"
)

const (
	readOnly = "! denied: directory nature: 'alice' may not change it"
	unknown  = "! notfound: directory nope: does not exist"
)

func entry(id, more string) string {
	return fmt.Sprintf(`{"entity-type": "directoryEntry", "directoryName": "nature", "properties": {"id": %q, "label": "L"%s}}`, id, more)
}

func TestEntriesOneByOne(t *testing.T) {
	s := opstest.Serve(t, directory.Ops)
	s.Play([]opstest.Row{
		{"alice", "Directory.Create", "", `{"directory": "nature", "entry": ` + entry("x", "") + `}`, readOnly},
		{"", "Directory.Delete", "", `{"directory": "nature", "id": "memo"}`, readOnly},
		{"", "Directory.Update", "", `{"directory": "nature", "id": "memo", "entry": ` + entry("memo", "") + `}`, readOnly},
		{"", "Directory.CreateVocabularyEntry", "", `{"vocabularyName": "nature", "id": "x"}`, readOnly},
		{"", "Directory.Read", "", `{"directory": "nature", "id": "memo"}`, `{…"directoryName":"nature"…"id":"memo"…}`},
		{"", "Directory.Read", "", `{"directory": "nature", "id": "Memo"}`, "! notfound: directory nature: entry Memo does not exist"},
		{"", "Directory.Read", "", `{"directory": "nature", "id": ""}`, "! notfound: directory nature: entry  does not exist"},
		{"", "Directory.Read", "", `{"directory": "nope", "id": "memo"}`, unknown},
		{"", "Directory.Read", "", `{"directory": "nature"}`, `! invalid missing_parameter id: parameter "id" is missing`},
		{"admin", "Directory.Create", "", `{"directory": "nature", "entry": ` + entry("x", "") + `}`, `{…"id":"x"…}`},
		{"", "Directory.Create", "", `{"directory": "nature", "entry": ` + entry("x", "") + `}`, "! exists: directory nature: entry x already exists"},
		{"", "Directory.Create", "", `{"directory": "nature", "entry": ` + entry("", "") + `}`, "! invalid id: directory nature: an entry must have a value for id"},
		{"", "Directory.Create", "", `{"directory": "nature", "entry": ` + entry("y", `, "nope": 1`) + `}`, `{…"id":"y","properties":{"id":"y","label":"L","obsolete":0,"ordering":10000000}}`},
		{"", "Directory.Create", "", `{"directory": "nature", "entry": ` + entry("w", `, "ordering": "first"`) + `}`, "! invalid…ordering…"},
		{"", "Directory.Create", "", `{"directory": "nope", "entry": ` + entry("y", "") + `}`, unknown},
		{"", "Directory.Create", "", `{"directory": "nature", "entry": {"entity-type": "user"}}`, `! invalid entity-type: entity-type: must be directoryEntry, not "user"`},
		{"", "Directory.Create", "", `{"directory": "nature", "entry": {"properties": []}}`, "! invalid properties: properties: must be an object"},
		{"", "Directory.Update", "", `{"directory": "nature", "id": "x", "entry": {"properties": {"id": "x", "label": "日本"}}}`, `{…"label":"日本"…}`},
		{"", "Directory.Update", "", `{"directory": "nature", "id": "x", "entry": {"properties": {"label": "Χ"}}}`, "! invalid entry: directory nature: the entry has neither id nor a value for id"},
		{"", "Directory.Update", "", `{"directory": "nature", "id": "x", "entry": {"properties": {"id": "memo", "label": "Χ"}}}`, "! invalid entry: directory nature: entry x cannot be renamed to memo"},
		{"", "Directory.Update", "", `{"directory": "nature", "entry": {"id": "x", "properties": {"label": "日本"}}}`, `{…"id":"x"…"label":"日本"…}`},
		{"", "Directory.Update", "", `{"directory": "nature", "entry": {"properties": {"label": "M"}}}`, "! invalid entry: directory nature: the entry has neither id nor a value for id"},
		{"", "Directory.Update", "", `{"directory": "nature", "id": "nope", "entry": {"properties": {"id": "nope", "label": "M"}}}`, "! notfound: directory nature: entry nope does not exist"},
		{"alice", "Directory.Read", "", `{"directory": "nature", "id": "x"}`, `{…"label":"日本"…}`},
		{"admin", "Directory.Delete", "", `{"directory": "nature", "id": "x"}`, ""},
		{"", "Directory.Delete", "", `{"directory": "nature", "id": "x"}`, "! notfound: directory nature: entry x does not exist"},
		{"", "Directory.CreateVocabularyEntry", "", `{"vocabularyName": "nature", "id": "v", "ordering": -1}`, ""},
		{"", "Directory.Read", "", `{"directory": "nature", "id": "v"}`, `{…"label":"v"…"ordering":-1…}`}, // the id by default
		{"", "Directory.CreateVocabularyEntry", "", `{"vocabularyName": "nope", "id": "v"}`, unknown},
	})
}

func TestEntriesOfLists(t *testing.T) {
	s := opstest.Serve(t, directory.Ops)
	list := func(entries string) string { return fmt.Sprintf(`{"directoryName": "nature", "entries": %q}`, entries) }
	const notList = "! invalid entries: entries: must be a JSON array"
	s.Play([]opstest.Row{
		{"alice", "Directory.CreateEntries", "", list(`[{"id": "x", "label": "X"}]`), readOnly},
		{"", "Directory.UpdateEntries", "", list(`[{"id": "memo", "label": "X"}]`), readOnly},
		{"", "Directory.DeleteEntries", "", list(`["memo"]`), readOnly},
		{"", "Directory.ReadEntries", "", list(`["nope", "memo", "nope"]`), `[{…"id":"memo"…}]`}, // unknown ones are passed over
		{"", "Directory.ReadEntries", "", list(`[]`), `[]`},
		{"", "Directory.ReadEntries", "", list(`["nope"]`), `[]`},
		{"", "Directory.ReadEntries", "", list(`"memo"`), notList},
		{"", "Directory.ReadEntries", "", list(``), notList},
		{"", "Directory.ReadEntries", "", list(`[`), notList},
		{"", "Directory.ReadEntries", "", list(`null`), notList},
		{"", "Directory.ReadEntries", "", list(`["memo"] []`), notList},
		{"admin", "Directory.CreateEntries", "", list(`[{"id": "x", "label": "X"}, {"id": "y", "label": "Y"}]`), `["x","y"]`},
		{"", "Directory.CreateEntries", "", list(`[{"id": "z", "label": "Z"}, {"id": "x", "label": "X"}]`), "! exists: directory nature: entry x already exists"},
		{"", "Directory.ReadEntries", "", list(`["z"]`), `[]`}, // all or none
		{"", "Directory.CreateEntries", "", list(`[5]`), "! invalid entries: entries: must be a JSON array"},
		{"", "Directory.CreateEntries", "", list(`{}`), notList},
		{"", "Directory.UpdateEntries", "", list(`[{"id": "x", "label": "ü"}, {"id": "nope", "label": "N"}, {"label": "N"}]`), `["x"]`},
		{"", "Directory.ReadEntries", "", list(`["x", "nope"]`), `[{…"label":"ü"…}]`},
		{"", "Directory.DeleteEntries", "", list(`["x", "nope"]`), `["x","nope"]`},
		{"", "Directory.ReadEntries", "", list(`["x"]`), `[]`},
		{"", "Directory.DeleteEntries", "", `{"directoryName": "nature", "entries": "[\"y\"]", "markObsolete": true}`, `["y"]`},
		{"", "Directory.ReadEntries", "", list(`["y"]`), `[{…"obsolete":1…}]`}, // it is still there
	})
	long := "[" + strings.TrimSuffix(strings.Repeat(`"x",`, 200_001), ",") + "]"
	s.Play([]opstest.Row{{"admin", "Directory.ReadEntries", "", list(long), "! limit entries: entries: 200001, limit …"}})
}

func TestPagesOfEntries(t *testing.T) {
	s := opstest.Serve(t, directory.Ops)
	for _, id := range []string{"zz1", "zz2", "zz3"} {
		s.Play([]opstest.Row{{"admin", "Directory.CreateVocabularyEntry", "", fmt.Sprintf(`{"vocabularyName": "nature", "id": %q, "label": "Zett", "ordering": 7}`, id), ""}})
	}
	page := func(more string) string { return `{"directory": "nature", "filters": {"label": "Zett"}` + more + `}` }
	s.Play([]opstest.Row{
		{"alice", "Directory.Page", "", page(`, "sortBy": ["id"]`), `{…"id":"zz1"…"id":"zz2"…"id":"zz3"…}`},
		{"", "Directory.Page", "", page(`, "sortBy": ["id"], "sortOrder": ["desc"]`), `{…"id":"zz3"…"id":"zz2"…"id":"zz1"…}`},
		{"", "Directory.Page", "", page(`, "sortBy": ["ordering", "id"], "sortOrder": ["asc", "desc"]`), `{…"id":"zz3"…"id":"zz2"…"id":"zz1"…}`},
		{"", "Directory.Page", "", page(`, "pageSize": 2`), `{…"currentPageSize":2,…"isNextPageAvailable":true…}`},
		{"", "Directory.Page", "", page(`, "pageSize": 2, "currentPageIndex": 1`), `{…"currentPageSize":1,…"isNextPageAvailable":false…}`},
		{"", "Directory.Page", "", page(`, "pageSize": 3`), `{…"currentPageSize":3,…"isNextPageAvailable":false…}`},
		{"", "Directory.Page", "", page(`, "pageSize": 2, "currentPageIndex": 2`), `{…"currentPageSize":0,…}`},
		{"", "Directory.Page", "", page(`, "pageSize": 2, "offset": 2`), `{…"currentPageSize":1,…}`},
		{"", "Directory.Page", "", page(`, "offset": 3`), `{…"currentPageSize":0,…}`},
		{"", "Directory.Page", "", page(`, "pageSize": -1`), "! invalid pageSize: pageSize: must be at least 0"},
		{"", "Directory.Page", "", page(`, "currentPageIndex": -1`), "! invalid currentPageIndex: currentPageIndex: must be at least 0"},
		{"", "Directory.Page", "", page(`, "offset": -1`), "! invalid offset: offset: must be at least 0"},
		{"", "Directory.Page", "", page(`, "currentPageIndex": 9223372036854775807`), "! invalid currentPageIndex…"},
		{"", "Directory.Page", "", page(`, "sortBy": ["nope"]`), "! invalid…nope…"},
		{"", "Directory.Page", "", `{"directory": "nature", "filters": {"nope": "1"}}`, "! invalid…nope…"},
		{"", "Directory.Page", "", `{"directory": "nature", "filters": {"label": "nobody's"}}`, `{…"currentPageSize":0,…}`},
		{"", "Directory.Page", "", `{"directory": "nope"}`, unknown},
		{"", "Directory.Projection", "/ws", `{"directoryName": "nature", "columnName": "labl", "variableName": "x"}`, `! invalid columnName: columnName: directory nature has no field "labl", perhaps label`},
		{"", "Directory.Projection", "/ws", `{"directoryName": "nature", "columnName": "id", "variableName": "x", "filters": {"nope": 1}}`, `! invalid filters: filters: directory nature has no field "nope"`},
		{"", "Directory.Projection", "/ws", `{"directoryName": "nature", "columnName": "id", "variableName": "x", "fulltextFields": ["nope"]}`, `! invalid fulltextFields: fulltextFields: directory nature has no field "nope"`},
		{"", "Directory.Projection", "/ws", `{"directoryName": "nature", "columnName": "id", "variableName": "x", "filters": {"id": "memo"}}`, "/ws"},
		{"", "Directory.Projection", "", `{"directoryName": "nope", "columnName": "id", "variableName": "x"}`, unknown},
		{"", "Directory.Projection", "", `{"directoryName": "nature", "columnName": "id", "variableName": ""}`, `! invalid variableName: variable "": cannot be set`},
		{"", "Directory.Projection", "", `{"directoryName": "nature", "columnName": "id", "variableName": "x"}`, ""},
		{"", "Directory.Entries", "", `{"directoryName": "nature"}`, "! notfound unknown_operation: operation Directory.Entries: does not exist, perhaps Directory.ReadEntries"}, // for administrators
		{"admin", "Directory.Entries", "", `{"directoryName": "nature"}`, `[{…"id":"zz1"…}]`},
		{"", "Directory.Entries", "", `{"directoryName": "nope"}`, unknown},
	})
}
