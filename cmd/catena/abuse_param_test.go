package main

import (
	"encoding/json"
	"strconv"
	"strings"
)

func hostileParams() []hostile {
	const setProperty, getChildren = "Document.SetProperty", "Document.GetChildren"
	wrong := func(op, params, pointer, message string) hostile {
		return hostile{
			name: op + " " + params, op: op, params: params, status: 400, code: "invalid", pointer: pointer,
			message: "Failed to invoke operation: " + op + ", " + message,
		}
	}
	missing := func(op, params, name string) hostile {
		h := wrong(op, params, "#/"+name, `parameter "`+name+`" is missing`)
		h.code = "missing_parameter"
		return h
	}
	xpath := func(x, message string) hostile {
		b, _ := json.Marshal(x)
		h := wrong(setProperty, `{"xpath":`+string(b)+`,"value":"x"}`, "#/xpath", "Failed to invoke operation Document.SetProperty, xpath "+message)
		h.name = "xpath " + strconv.Itoa(len(x)) + " " + x[:min(len(x), 20)]
		return h
	}
	return []hostile{
		missing(create, `{}`, "type"),
		missing(create, `{"type":null}`, "type"),
		missing("Context.SetVar", `{"value":1}`, "name"),
		wrong(create, `{"type":["File"]}`, "#/type", `parameter "type": must be of type string, not list`),
		wrong(create, `{"type":{}}`, "#/type", `parameter "type": must be of type string, not map`),
		wrong(create, `{"type":"File","properties":[1]}`, "#/properties", `parameter "properties": must be of type properties, not list`),
		wrong(create, `{"type":"File","properties":1}`, "#/properties", `parameter "properties": must be of type properties, not long`),
		wrong("Document.AddPermission", `{"permission":"Read","users":["Administrator"],"begin":"soon"}`, "#/begin", `parameter "begin": must be of type date, not text "soon"`),
		wrong("Document.AddPermission", `{"permission":"Read","users":["Administrator"],"notify":"perhaps"}`, "#/notify", `parameter "notify": must be of type boolean, not text "perhaps"`),
		wrong("Document.AddPermission", `{"permission":"Read","users":["Administrator"],"notify":[]}`, "#/notify", `parameter "notify": must be of type boolean, not list`),
		wrong("Repository.Query", `{"query":"SELECT * FROM Document","pageSize":"many"}`, "#/pageSize", `parameter "pageSize": must be of type integer, not text "many"`),
		wrong("Repository.Query", `{"query":"SELECT * FROM Document","pageSize":1.5}`, "#/pageSize", `parameter "pageSize": must be of type integer, not float`),
		wrong("Repository.Query", `{"query":"SELECT * FROM Document","pageSize":99999999999999999999}`, "#/pageSize", `parameter "pageSize": must be of type integer, not float`),
		wrong("Repository.Query", `{"query":"SELECT * FROM Document","pageSize":{}}`, "#/pageSize", `parameter "pageSize": must be of type integer, not map`),
		wrong("Repository.Query", `{"query":"SELECT * FROM Document","queryParams":{"a":1}}`, "#/queryParams", `parameter "queryParams": must be of type stringlist, not map`),
		wrong("Document.Move", `{"target":{"a":1}}`, "#/target", `parameter "target": must be of type document, not map`),
		wrong("Document.Move", `{"target":7}`, "#/target", `parameter "target": must be of type document, not long`),
		wrong("Key.Create", `{"user":"Administrator","scope":"everything"}`, "#/scope", `parameter "scope": "everything" is not one of read_only, read_write`),
		{name: "unknown type", op: create, params: `{"type":"Nope"}`, status: 400, code: "invalid", message: failedInside + "Type: Nope does not exist, perhaps Note", pointer: "#/type"},
		{name: "unknown property", op: create, params: `{"type":"File","name":"x","properties":{"no:such":1}}`, status: 400, code: "invalid", message: failedInside + `xpath "no:such": no such property`, pointer: "#/no:such"},
		{name: "value of another type", op: create, params: `{"type":"File","name":"x","properties":{"dc:created":"never"}}`, status: 400, code: "invalid", message: failedInside + `property dc:created: must be of type date, not "never"`, pointer: "#/dc:created"},
		{name: "list for a text", op: create, params: `{"type":"File","name":"x","properties":{"dc:title":["a"]}}`, status: 400, code: "invalid", message: failedInside + "property dc:title: must be of type string, not a list", pointer: "#/dc:title"},
		{name: "unknown operation", op: "Document.Creat", params: `{}`, status: 404, code: "unknown_operation", message: "operation Document.Creat: does not exist, perhaps Document.Create"},
		{name: "operation of 4,000 bytes", op: strings.Repeat("x", 4000), params: `{}`, status: 404, code: "unknown_operation", message: "operation " + strings.Repeat("x", 1000) + "…"},
		{name: "unknown parameter", op: "Document.GetChildren", params: `{"unknown":{"a":[1,2,3]}}`, status: 200},
		{name: "input that is not there", op: create, body: `{"input":"/none","params":{"type":"File"}}`, status: 404, code: "notfound", message: failedCreate + "/none"},
		{name: "input of another kind", op: create, body: `{"input":7,"params":{"type":"File"}}`, status: 400, code: "invalid", message: failedCreate + "input: must be of type document or documents, not long", pointer: "#/input"},
		{name: "no input", op: create, body: `{"params":{"type":"File"}}`, status: 400, code: "invalid", message: failedCreate + "input: is missing, must be of type document or documents", pointer: "#/input"},
		{name: "10,000 inputs that are not there", op: getChildren, body: `{"input":[` + strings.Repeat(`"/none",`, 10_000) + `"/none"]}`, status: 404, code: "notfound", message: "Failed to invoke operation: Document.GetChildren, /none"},
		{name: "into a file of a folder", path: "/api/v1/path" + abuseFolder + "/none", body: `{"entity-type":"document","type":"File","name":"x"}`, status: 404, code: "notfound", message: abuseFolder + "/none"},
		{
			name: "into itself", op: "Document.Move", body: `{"input":"/default-domain","params":{"target":"` + abuseFolder + `"}}`, status: 409, code: "conflict",
			message: "Failed to invoke operation: Document.Move, Failed to invoke operation Document.Move, document /default-domain: cannot move a node under itself",
		},
		{
			name: "copied to nowhere", op: "Document.Copy", body: `{"input":"/default-domain","params":{"target":"` + abuseFolder + `/none"}}`, status: 404, code: "notfound",
			message: "Failed to invoke operation: Document.Copy, " + abuseFolder + "/none",
		},
		{name: "expression from outside", op: create, params: `{"type":"expr:Fn.nothing()"}`, status: 400, code: "invalid", message: failedInside + "Type: expr:Fn.nothing() does not exist", pointer: "#/type"},
		xpath("no:such", `"no:such": no such property`),
		xpath("dc:title[", `"dc:title[": malformed step "title["`),
		xpath("dc:title/", `"dc:title/": malformed step ""`),
		xpath("files:files/-5/file", `"files:files/-5/file": malformed step "-5"`),
		xpath("files:files/99999999999999999999/file", `"files:files/99999999999999999999/file": malformed step "99999999999999999999"`),
		xpath("files:files/1000000000/file", `"files:files/1000000000/file": malformed step "1000000000"`),
		xpath("//", `"//": malformed step ""`),
		xpath("dc:title\x00", `"dc:title\x00": malformed step "title\x00"`),
		xpath(strings.Repeat("a/", 100_000), `"…": longer than 512 bytes`),
	}
}

func hostileQueries() []hostile {
	const where = "SELECT * FROM Document WHERE "
	query := func(name, text string, line, column int, message string) hostile {
		b, _ := json.Marshal(text)
		return hostile{
			name: name, op: "Repository.Query", params: `{"query":` + string(b) + `}`, status: 400, code: "invalid",
			message: "Failed to invoke operation: Repository.Query, Failed to invoke operation Repository.Query with aliases [Document.Query], query: " + message, line: line, column: column,
		}
	}
	return []hostile{
		query("empty", "", 1, 1, "line 1, column 1: expected SELECT, found the end of the query"),
		query("no query", "DROP TABLE Document", 1, 1, `line 1, column 1: expected SELECT, found "DROP"`),
		query("half", "SELECT * FROM", 1, 14, "line 1, column 14: expected a document type, found the end of the query"),
		query("second line", "SELECT * FROM Document\nWHERE dc:title = = 'x'", 2, 18, `line 2, column 18: expected a value (text in quotes, number, TRUE, FALSE, DATE, TIMESTAMP, NOW() or a parameter), found "="`),
		query("text without end", "SELECT * FROM Document WHERE dc:title = 'x", 1, 41, "line 1, column 41: text without a closing '"),
		query("unknown type", "SELECT * FROM Nope", 1, 15, `line 1, column 15: unknown document type "Nope"…`),
		query("unknown property", "SELECT * FROM Document WHERE no:such = 1", 1, 30, `line 1, column 30: unknown field "no:such"`),
		query("bad date", "SELECT * FROM Document WHERE dc:created > DATE 'never'", 1, 48, `line 1, column 48: malformed date "never" after DATE`),
		query("zero byte", "SELECT * FROM Document WHERE dc:title = 'x' \x00", 1, 45, `line 1, column 45: unexpected character '\x00'`),
		query("a million brackets", where+strings.Repeat("(", 1e6)+"1=1", 1, 1, "1000032 bytes, limit 65536"),
		query("100,000 conditions", where+"dc:title = 'x'"+strings.Repeat(" OR dc:title = 'x'", 1e5), 1, 1, "1800043 bytes, limit 65536"),
		query("60,000 brackets", where+strings.Repeat("(", 60_000)+"1=1", 1, 94, "line 1, column 94: nested deeper than 64 levels"),
		query("15,000 NOT", where+strings.Repeat("NOT ", 15_000)+"dc:title = 'x'", 1, 286, "line 1, column 286: nested deeper than 64 levels"),
		query("3,000 conditions", where+"no:such = 'x'"+strings.Repeat(" OR dc:title = 'x'", 3000), 1, 36029, "line 1, column 36029: more than 2000 comparisons"),
		query("15,000 items", where+"dc:title IN ('x'"+strings.Repeat(",'x'", 15_000)+")", 1, 40043, "line 1, column 40043: more than 10000 values in IN"),
		{
			name: "through an address", method: "GET", path: "/api/v1/query?query=SELECT+*+FROM+Document+WHERE", status: 400, code: "invalid",
			message: "query: line 1, column 29: expected a condition, found the end of the query", line: 1, column: 29,
		},
		{name: "page that is none", method: "GET", path: "/api/v1/query?query=SELECT+*+FROM+Document&currentPageIndex=x", status: 400, code: "invalid", message: `parameter "currentPageIndex": must be of type integer, not text "x"`, pointer: "#/currentPageIndex"},
		{name: "no such provider", method: "GET", path: "/api/v1/search/pp/nothing/execute", status: 404, code: "unknown_provider", message: "page provider nothing"},
	}
}
