package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/engine"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/resource"
	"catena/storage"
)

// logged has a document with five records a second apart: documentCreated, and the events a to d, of which bob logged b.
func logged(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, resource.Ops, document.Ops)
	s.Play([]opstest.Row{{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"}})
	for _, e := range []storage.Entry{
		{Event: "a", Category: "C1", Comment: "z", User: "alice"},
		{Event: "b", Category: "C2", Comment: "y", User: "bob"},
		{Event: "c", Category: "C1", Comment: "y", User: "alice"},
		{Event: "d", Category: "C2", User: "alice"},
	} {
		record(s, e)
	}
	return s
}

// record adds a record about /ws/a, a second after the one before.
func record(s *opstest.Engine, e storage.Entry) {
	s.Clock.Tick()
	s.Do(e.User, func(c *engine.Ctx) error {
		d := s.Doc(c, "/ws/a")
		e.DocID, e.DocPath, e.DocType, e.DocState = d.ID(), d.Path(), "File", "project"
		return c.Tx.As(s.System()).LogEntry(e)
	})
}

// events matches a page of the records of events.
func events(names ...string) string {
	out := fmt.Sprintf(`{"entity-type":"logEntries"…"currentPageSize":%d…`, len(names))
	for _, n := range names {
		out += fmt.Sprintf(`"eventId":%q…`, n)
	}
	return out
}

func TestAuditPages(t *testing.T) {
	const created = "documentCreated"
	tests := []struct{ params, want string }{
		{`{}`, events("d", "c", "b", "a", created)},
		{`{"pageSize": 2}`, events("d", "c")},
		{`{"pageSize": 2, "currentPageIndex": 1}`, events("b", "a")},
		{`{"pageSize": 2, "currentPageIndex": 2}`, events(created)},
		{`{"pageSize": 2, "currentPageIndex": 3}`, events()},
		{`{"pageSize": 5}`, events("d", "c", "b", "a", created)},
		{`{"pageSize": 0}`, events("d", "c", "b", "a", created)},
		{`{"pageSize": -1}`, events("d", "c", "b", "a", created)},
		{`{"pageSize": 100000}`, events("d", "c", "b", "a", created)},
		{`{"sortBy": "eventDate", "sortOrder": "asc"}`, events(created, "a", "b", "c", "d")},
		{`{"sortBy": "eventDate", "sortOrder": "ASC", "pageSize": 2}`, events(created, "a")},
		{`{"sortBy": "id", "sortOrder": "desc"}`, events("d", "c", "b", "a", created)},
		{`{"sortBy": "eventId"}`, events(created, "d", "c", "b", "a")},
		{`{"sortBy": "eventId", "sortOrder": "asc"}`, events("a", "b", "c", "d", created)},
		{`{"sortBy": "eventId", "sortOrder": "asc", "pageSize": 2, "currentPageIndex": 2}`, events(created)},
		{`{"sortBy": "eventId", "sortOrder": "asc", "pageSize": -1}`, events("a", "b", "c", "d", created)},
		{`{"sortBy": "eventId", "sortOrder": "asc", "pageSize": 3, "currentPageIndex": 9}`, events()},
		{`{"sortBy": ["category", "eventId"], "sortOrder": ["asc", "asc"]}`, events("a", "c", "b", "d", created)},
		{`{"sortBy": ["category", "eventDate"], "sortOrder": ["asc"]}`, events("c", "a", "d", "b", created)},
		{`{"sortBy": ["comment", "eventId"], "sortOrder": ["desc", "desc"]}`, events("a", "c", "b", created, "d")},
		{`{"eventId": "b"}`, events("b")},
		{`{"eventId": ["b", "d", "x"]}`, events("d", "b")},
		{`{"eventId": "B"}`, events()},
		{`{"category": "C1"}`, events("c", "a")},
		{`{"category": "C2", "eventId": ["a", "b"]}`, events("b")},
		{`{"principalName": "bob"}`, events("b")},
		{`{"principalName": ["bob", "alice"], "category": "C2"}`, events("d", "b")},
		{`{"principalName": "bob", "sortBy": "eventId"}`, events("b")},
	}
	s := logged(t)
	for _, test := range tests {
		s.Play([]opstest.Row{{"bob", "Resource.Audit", "/ws/a", test.params, test.want}})
	}
}

// TestAuditTimes: both ends of the time belong to it, as in "at or after" and "at or before".
func TestAuditTimes(t *testing.T) {
	// Event b was logged in the second 3.
	const created, at = "documentCreated", "2025-01-01T00:00:0"
	tests := []struct {
		from, to string
		want     []string
	}{
		{"", "", []string{"d", "c", "b", "a", created}},
		{at + "3Z", "", []string{"d", "c", "b"}},
		{at + "3.001Z", "", []string{"d", "c"}},
		{"", at + "3Z", []string{"b", "a", created}},
		{"", at + "2.999Z", []string{"a", created}},
		{"", at + "3.0001Z", []string{"b", "a", created}},
		{at + "2Z", at + "4Z", []string{"c", "b", "a"}},
		{at + "3Z", at + "3Z", []string{"b"}},
		{at + "4Z", at + "2Z", nil},
		{"2024-12-31T23:00:03-01:00", "2025-01-01T01:00:03+01:00", []string{"b"}},
		{"", "2024-12-31", nil},
		{"2025-01-01", "2025-01-02", []string{"d", "c", "b", "a", created}},
	}
	s := logged(t)
	for _, test := range tests {
		var params []string
		if test.from != "" {
			params = append(params, fmt.Sprintf(`"startEventDate": %q`, test.from))
		}
		if test.to != "" {
			params = append(params, fmt.Sprintf(`"endEventDate": %q`, test.to))
		}
		s.Play([]opstest.Row{{"alice", "Resource.Audit", "/ws/a", "{" + strings.Join(params, ", ") + "}", events(test.want...)}})
	}
}

func TestAuditRefuses(t *testing.T) {
	s := logged(t)
	s.Play([]opstest.Row{
		{"alice", "Resource.Audit", "/ws/a", `{"sortBy": "nope"}`, `! invalid sortBy: sortBy: audit records have no field "nope"`},
		{"", "Resource.Audit", "/ws/a", `{"sortBy": "eventid"}`, `! invalid sortBy: sortBy: audit records have no field "eventid", perhaps eventId`},
		{"", "Resource.Audit", "/ws/a", `{"sortBy": ["eventDate", "nope"]}`, `! invalid sortBy: sortBy: audit records have no field "nope"`},
		{"", "Resource.Audit", "/ws/a", `{"sortBy": ["eventId", "nope"]}`, `! invalid sortBy: sortBy: audit records have no field "nope"`},
		{"", "Resource.Audit", "/ws/a", `{"sortBy": "eventDat"}`, `! invalid sortBy: sortBy: audit records have no field "eventDat", perhaps eventDate`},
		{"", "Resource.Audit", "/ws/a", `{"startEventDate": "yesterday"}`, `! invalid startEventDate: …`},
		{"", "Resource.Audit", "/ws/a", `{"pageSize": "many"}`, `! invalid pageSize: …`},
		{"", "Resource.Audit", "/private", ``, "! notfound: /private"},
		{"", "Resource.Audit", "", ``, "! invalid input: input: is missing, must be of type document"},
		{"admin", "Resource.Audit", "/private", `{"eventId": "documentCreated"}`, events("documentCreated")},
	})
}

func TestAuditTable(t *testing.T) {
	s := logged(t)
	record(s, storage.Entry{Event: "e", Category: "C", Comment: "=1+1, \"said\"", User: "alice"})
	const head = "id,eventId,category,eventDate,logDate,principalName,docUUID,docType,docPath,docLifeCycle,repositoryId,comment⏎"
	s.Play([]opstest.Row{
		{"alice", "keep", "/ws/a", "", "a"},
		{"", "Resource.AuditTable", "/ws/a", `{"eventId": "b"}`, "id,eventId,category,eventDate,logDate,principalName,docUUID,docType,docPath,docLifeCycle,repositoryId,comment⏎16,b,C2,2025-01-01T00:00:03Z,2025-01-01T00:00:03Z,bob,$a,File,/ws/a,project,default,y⏎"},
		{"", "Resource.AuditTable", "/ws/a", `{"eventId": "x"}`, head},
		{"", "Resource.AuditTable", "/ws/a", `{"eventId": "e"}`, `…,"'=1+1, ""said"""⏎`},
		{"", "Resource.AuditTable", "/ws/a", `{"pageSize": 1, "sortBy": "eventDate", "sortOrder": "asc"}`, head + `…documentCreated…⏎`},
	})
}
