package audit_test

import (
	"testing"

	"catena/ops/audit"
	"catena/ops/document"
	"catena/ops/opstest"
)

// logged has the records of the creation of /ws/a and of three events about it, which the administrator logged.
func logged(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, audit.Ops, document.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "keep", "/ws/a", "", "a"},
		{"admin", "Audit.LogEvent", "/ws/a", `{"event": "first", "category": "Mine", "comment": "one"}`, "/ws/a"},
		{"", "Audit.LogEvent", "/ws/a", `{"event": "second", "comment": "two"}`, "/ws/a"},
		{"", "Audit.LogEvent", "/ws/a", `{"event": "third", "category": "Mine"}`, "/ws/a"},
	})
	return s
}

func TestLogEvent(t *testing.T) {
	s := logged(t)
	s.Play([]opstest.Row{
		{"admin", "Audit.LogEvent", "/ws/a", `{"event": ""}`, "! invalid event: audit entry: the event is missing"},
		{"", "Audit.LogEvent", "/ws/a", `{}`, `! invalid missing_parameter event: parameter "event" is missing`},
		{"", "Audit.LogEvent", `["/ws/a", "/ws"]`, `{"event": "both"}`, "/ws/a /ws"},
		{"", "Audit.LogEvent", "", `{"event": "e"}`, "! invalid input: input: is missing, must be of type document or documents"},
		{"alice", "Audit.LogEvent", "/ws/a", `{"event": "e"}`, "! notfound unknown_operation: operation Audit.LogEvent"},
		{"", "Audit.Query", "", `{"query": "from LogEntry"}`, "! notfound unknown_operation: operation Audit.Query"}, // for administrators
		{"", "Audit.QueryWithPageProvider", "", `{}`, "! notfound unknown_operation: operation Audit.QueryWithPageProvider"},
		{"", "Event.Fire", "/ws/a", `{"name": "mine"}`, "! notfound unknown_operation: operation Event.Fire"},
		{"admin", "Event.Fire", "/ws/a", `{"name": "mine"}`, "/ws/a"},
		{"", "Event.Fire", "", `{"name": "mine"}`, ""},
		{"", "Log", "/ws/a", `{"level": "info", "message": "m"}`, "/ws/a"},
		{"", "Log", "/ws/a", `{"level": "nonsense", "message": "m"}`, "/ws/a"}, // as info
		{"", "Log", "/ws/a", `{"message": "m"}`, `! invalid missing_parameter level: parameter "level" is missing`},
	})
}

func TestQueries(t *testing.T) {
	tests := []struct{ query, more, want string }{
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate", "", `[{"eventId":"first"…{"eventId":"third"…]`},
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate desc", "", `[{"eventId":"third"…{"eventId":"first"…]`},
		{"from LogEntry log where log.eventId = 'second'", "", `[{"eventId":"second","category":"Automation"…"comment":"two"…}]`},
		{"select log from LogEntry log where log.comment = 'one'", "", `[{"eventId":"first"…}]`},
		{"from LogEntry log where log.comment like 'o%'", "", `[{"eventId":"first"…}]`},
		{"from LogEntry log where log.eventId in ('first', 'third') order by log.eventDate", "", `[{"eventId":"first"…{"eventId":"third"…}]`},
		{"from LogEntry log where log.eventId = 'nope'", "", "[]"},
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate", `, "maxResults": 1`, `[{"eventId":"first"…}]`},
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate", `, "maxResults": 1, "pageNo": 2`, `[{"eventId":"third"…}]`},
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate", `, "maxResults": 1, "pageNo": 3`, "[]"},
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate", `, "maxResults": 1, "pageNo": 0`, "! invalid pageNo: pageNo: must be between 1 and …"},
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate", `, "maxResults": 1, "pageNo": -1`, "! invalid pageNo: pageNo: must be between 1 and …"},
		{"from LogEntry log where log.category = 'Mine' order by log.eventDate", `, "maxResults": -1`, "! invalid maxResults: maxResults: must be at least 0"},
		{"from LogEntry log where log.category = 'Mine'", `, "maxResults": 1000, "pageNo": 9223372036854775807`, "! invalid pageNo: pageNo: must be between 1 and …"},
		{"from LogEntry log where log.eventId = :id", `} {"audit.query.id": "third"`, `[{"eventId":"third"…}]`},
		{"from LogEntry log where log.eventId = :id", ``, "! invalid: query: line 1, column 39: no value given for parameter :id"},
		{"from LogEntry log where log.eventDate > :d and log.category = 'Mine'", `} {"audit.query.d": "{d 2030-01-01}"`, "[]"},
		{"from LogEntry log where log.nope = 'x'", "", `! invalid query: query: line 1, column 25: no field "nope" of audit records`},
		{"from Nope", "", "! invalid query: query: must read FROM LogEntry"},
		{"delete from LogEntry", "", "! invalid query: query: must read FROM LogEntry"},
		{"", "", "! invalid query: query: must read FROM LogEntry"},
		{"from LogEntry log where", "", "! invalid: query: line 1, column 24: expected a condition, found the end of the query"},
		{"from LogEntry log where log.comment = 'it''s'", "", "[]"},
		{"from LogEntry log where log.comment is null and log.category = 'Mine'", "", `[{"eventId":"third","category":"Mine","eventDate":1735689605000,"principal":"Administrator","docUUID":"$a","docType":"File","docPath":"/ws/a","docLifeCycle":"project","repoId":"default","comment":"","source":"client"}]`},
		{"from LogEntry log where not (log.category = 'Mine') and log.docUUID = '$a' order by log.id", "", `[{"eventId":"documentCreated","category":"eventDocumentCategory","eventDate":1735689601000,"principal":"alice","docUUID":"$a","docType":"File","docPath":"/ws/a","docLifeCycle":"project","repoId":"default","comment":"","source":"server"},{"eventId":"second","category":"Automation","eventDate":1735689604000,"principal":"Administrator","docUUID":"$a","docType":"File","docPath":"/ws/a","docLifeCycle":"project","repoId":"default","comment":"two","source":"client"}]`},
	}
	s := logged(t)
	for _, test := range tests {
		s.Play([]opstest.Row{{"admin", "Audit.Query", "", `{"query": "` + test.query + `"` + test.more + `}`, test.want}})
	}
}

func TestPages(t *testing.T) {
	tests := []struct{ params, want string }{
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "sortBy": "eventDate", "sortOrder": "asc"}`, `…"eventId":"first"…"eventId":"third"…`},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "sortBy": "eventDate"}`, `…"eventId":"third"…"eventId":"first"…`},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "sortInfo": ["eventId false"]}`, `…"eventId":"third"…"eventId":"first"…`},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "sortInfo": ["eventId"]}`, `…"eventId":"first"…"eventId":"third"…`},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "pageSize": 1, "sortInfo": ["eventId"], "currentPageIndex": 1}`, `…"currentPageSize":1…"eventId":"third"…`},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "pageSize": 1, "sortInfo": ["eventId"], "page": 1}`, `…"currentPageSize":1…"eventId":"third"…`},
		{`{"query": "SELECT * FROM LogEntry WHERE category = ?", "queryParams": "Mine", "pageSize": 1, "currentPageIndex": 5}`, `…"currentPageSize":0…`},
		{`{"query": "SELECT * FROM LogEntry WHERE eventId = :e", "namedQueryParams": {"e": "second"}}`, `…"currentPageSize":1…"eventId":"second"…`},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "pageSize": -1}`, "! invalid pageSize: pageSize: must be at least 0"},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "currentPageIndex": -1}`, "! invalid currentPageIndex: currentPageIndex: must be at least 0"},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "page": -1}`, "! invalid page: page: must be at least 0"},
		{`{"query": "SELECT * FROM LogEntry WHERE category = 'Mine'", "currentPageIndex": 9223372036854775807}`, "! invalid currentPageIndex: …"},
		{`{"providerName": "nope"}`, "! notfound unknown_provider: page provider nope"},
		{`{"query": "SELECT * FROM LogEntry", "sortBy": "nope"}`, `! invalid sortBy: sortBy: audit records have no field "nope"`},
		{`{"query": "nonsense"}`, "! invalid query: query: must read FROM LogEntry"},
	}
	s := logged(t)
	for _, test := range tests {
		s.Play([]opstest.Row{{"admin", "Audit.QueryWithPageProvider", "", test.params, test.want}})
	}
}

// TestRestored: records that were read from a log are there again, once, as what a client wrote.
func TestRestored(t *testing.T) {
	s := logged(t)
	const mine = `{"query": "from LogEntry log where log.category = 'Mine' order by log.eventDate"}`
	const old = `{"eventId": "old", "category": "Past", "eventDate": 1000000000000, "principal": "eve", "docUUID": "11111111-2222-3333-4444-555555555555", "docPath": "/gone", "docType": "Note", "source": "server"}`
	s.Play([]opstest.Row{
		{"alice", "Audit.Restore", "@a.json=[]", `{}`, "! notfound unknown_operation: operation Audit.Restore"},
		{"admin", "Audit.Restore", "@a.json=[]", `{}`, `{…"restored":0,"skipped":0}}`},
		{"", "Audit.Restore", "@a.json=", `{}`, `{…"restored":0,"skipped":0}}`},
		// What is in the log already is left alone.
		{"", "Audit.Restore", `@a.json=[{"eventId":"first","category":"Mine","eventDate":"2025-01-01T00:00:03.000Z","principalName":"Administrator","docUUID":"$a","docPath":"/ws/a","comment":"one"}]`, `{}`, `{…"restored":0,"skipped":1}}`},
		// Any difference makes it another one.
		{"", "Audit.Restore", `@a.json=[{"eventId":"first","category":"Mine","eventDate":"2025-01-01T00:00:03.000Z","principalName":"alice","docUUID":"$a","docPath":"/ws/a","comment":"one"}]`, `{}`, `{…"restored":1,"skipped":0}}`},
		{"", "Audit.Query", "", mine, `[{"eventId":"first"…"principal":"Administrator"…{"eventId":"first"…"principal":"alice"…"source":"client"},{"eventId":"third"…]`},
		// One object a line, each in a transaction; a record twice in the file is one.
		{"", "Audit.Restore", "@a.jsonl=" + old + "\n" + old + "\n", `{"batchSize": 1}`, `{…"restored":1,"skipped":1}}`},
		{"", "Audit.Restore", "@a.jsonl=" + old, `{}`, `{…"restored":0,"skipped":1}}`},
		{"", "Audit.Query", "", `{"query": "from LogEntry log where log.category = 'Past'"}`, `[{"eventId":"old","category":"Past","eventDate":1000000000000,"principal":"eve","docUUID":"11111111-2222-3333-4444-555555555555","docType":"Note","docPath":"/gone","docLifeCycle":"","repoId":"default","comment":"","source":"client"}]`},
		{"", "Audit.QueryWithPageProvider", "", `{"query": "from LogEntry log where log.category = 'Past'"}`, `{…"extended":{"restoredBy":"Administrator","restoredSource":"server"}…}`},
		{"", "Audit.Query", "", `{"query": "from LogEntry log where log.eventId = 'auditRestored' order by log.id desc", "maxResults": 1}`, `[{…"comment":"0 of 1 records"…}]`},
		// A page as @audit returns it.
		{"", "Audit.Restore", `@a.json={"entity-type":"logEntries","entries":[{"entity-type":"logEntry","id":7,"eventId":"page","eventDate":"2020-02-02T02:02:02Z","principalName":"bob","extended":{"k":1}}]}`, `{}`, `{…"restored":1,"skipped":0}}`},
		{"", "Audit.QueryWithPageProvider", "", `{"query": "from LogEntry log where log.eventId = 'page'"}`, `{…"extended":{"k":1,"restoredBy":"Administrator","restoredId":7}…}`},
		{"", "Audit.Restore", "@a.json={", `{}`, `! invalid input: file "a.json": record 1: is not JSON…`},
		{"", "Audit.Restore", "@a.json=[1]", `{}`, `! invalid input: file "a.json": record 1: is not an audit record…`},
		{"", "Audit.Restore", "@a.json=[{}]", `{}`, `! invalid input: file "a.json": record 1: eventId: is missing`},
		{"", "Audit.Restore", `@a.json=[{"eventId":"x"}]`, `{}`, `! invalid input: file "a.json": record 1: eventDate: is missing`},
		{"", "Audit.Restore", `@a.json=[{"eventId":"x","eventDate":"soon"}]`, `{}`, `! invalid input: file "a.json": record 1: eventDate: "soon" is not a date`},
		{"", "Audit.Restore", `@a.json=[{"eventId":"x","eventDate":"2999-01-01T00:00:00Z"}]`, `{}`, `! invalid input: file "a.json": record 1: eventDate: 2999-01-01T00:00:00Z is in the future`},
		{"", "Audit.Restore", `@a.json=[{"eventId":"x","eventDate":1,"repoId":"other"}]`, `{}`, `! invalid input: file "a.json": record 1: repositoryId: is of repository other, not of default`},
		{"", "Audit.Restore", "@a.json=[]", `{"batchSize": 0}`, "! invalid batchSize: batchSize: 0 is not between 1 and 1000"},
		{"", "Audit.Restore", "@a.json=[]", `{"batchSize": 1001}`, "! invalid batchSize: batchSize: 1001 is not between 1 and 1000"},
		{"", "Audit.Restore", "", `{}`, "! invalid missing_parameter auditStorage: auditStorage: is missing, and there is no file as input"},
		{"", "Audit.Restore", "", `{"auditStorage": "/ws/a"}`, "! invalid auditStorage: auditStorage: document /ws/a has no file"},
		{"", "Audit.Restore", "", `{"auditStorage": "/nowhere"}`, "! notfound: /nowhere"},
	})
}
