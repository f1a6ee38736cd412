package main

import (
	"strings"
)

const create = "Document.Create"

// failedCreate stands in front of every message of a failed Document.Create.
const failedCreate = "Failed to invoke operation: Document.Create, "

// failedInside follows when it is the operation itself that failed.
const failedInside = failedCreate + "Failed to invoke operation Document.Create, "

func hostileBodies() []hostile {
	nested := func(open, shut string, n int) string {
		return `{"params":{"type":"File","properties":{"dc:title":` + strings.Repeat(open, n) + `1` + strings.Repeat(shut, n) + `}}}`
	}
	big := `{"params":{"type":"File","name":"` + strings.Repeat("x", 11<<20) + `"}}`
	return []hostile{
		{
			name: "truncated", op: create, body: `{"input":"` + abuseFolder + `","params":{"type":"File"`,
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 69: JSON is missing a comma or }", line: 1, column: 69,
		},
		{
			name: "trailing", op: create, body: "{\"params\":{\"type\":\"File\"}}\n}",
			status: 400, code: "malformed_json", message: failedCreate + "body: line 2, column 1: JSON has trailing data", line: 2, column: 1,
		},
		{
			name: "duplicate name", op: create, body: `{"params":{"type":"File","type":"Note"}}`,
			status: 400, code: "malformed_json", message: failedCreate + `body: line 1, column 26: JSON has the duplicate name "type"`, line: 1, column: 26,
		},
		{
			name: "escaped name twice", op: create, body: `{"params":{"type":"File","\u0074ype":"Note"}}`,
			status: 400, code: "malformed_json", message: failedCreate + `body: line 1, column 26: JSON has the duplicate name "type"`, line: 1, column: 26,
		},
		{
			name: "not UTF-8", op: create, body: "{\"params\":{\"type\":\"F\xff\"}}",
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 1: JSON is not valid UTF-8", line: 1, column: 1,
		},
		{
			name: "NaN", op: create, body: `{"params":{"type":NaN}}`,
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 19: JSON is missing a value", line: 1, column: 19,
		},
		{
			name: "comment", op: create, body: `{"params":{} /* x */}`,
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 14: JSON is missing a comma or }", line: 1, column: 14,
		},
		{
			name: "half a surrogate pair", op: create, body: `{"params":{"type":"\ud800"}}`,
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 20: JSON has an invalid escape in a string", line: 1, column: 20,
		},
		{
			name: "129 objects", op: create, body: nested(`{"a":`, "}", 127),
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 676: JSON is nested deeper than 128", line: 1, column: 676,
		},
		{
			name: "129 arrays", op: create, body: nested("[", "]", 127),
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 176: JSON is nested deeper than 128", line: 1, column: 176,
		},
		{
			name: "a million arrays", op: create, body: nested("[", "]", 1e6),
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 176: JSON is nested deeper than 128", line: 1, column: 176,
		},
		{
			name: "100,001 names", op: create, body: `{"params":{"type":"File","properties":{` + manyNames(100_001) + `}}}`,
			status: 400, code: "malformed_json", message: failedCreate + "body: line 1, column 1200014: JSON has more than 100000 names", line: 1, column: 1_200_014,
		},
		{name: "11 MiB", op: create, body: big, status: 413, code: "body_too_large", message: failedCreate + "JSON body: more than 10485760 bytes"},
		{name: "11 MiB of a document", path: "/api/v1/path" + abuseFolder, body: big, status: 413, code: "body_too_large", message: "JSON body: more than 10485760 bytes"},
		{
			name: "text", op: create, typ: "text/plain", body: `{"params":{"type":"File"}}`,
			status: 415, code: "unsupported_media_type", message: failedCreate + `content type "text/plain" is not accepted here`,
		},
		{
			name: "no content type", op: create, header: map[string]string{"Content-Type": ""}, body: `{"params":{"type":"File"}}`,
			status: 415, code: "unsupported_media_type", message: failedCreate + `content type "" is not accepted here`,
		},
		{
			name: "gzip", op: create, header: map[string]string{"Content-Encoding": "gzip"}, body: "\x1f\x8b\x08",
			status: 415, code: "unsupported_media_type", message: `content encoding "gzip" is not accepted`,
		},
		{name: "empty", op: create, typ: "application/json", status: 400, code: "body_empty", message: failedCreate + "body: is empty"},
		{name: "a list", op: create, body: `[]`, status: 400, code: "invalid", message: failedCreate + "body: must be a JSON object"},
		{name: "null", op: create, body: `null`, status: 400, code: "invalid", message: failedCreate + "body: must be a JSON object"},
		{name: "params that are a list", op: create, body: `{"input":"/","params":["File"]}`, status: 400, code: "invalid", message: failedCreate + "body: params must be an object", pointer: "#/params"},
		{name: "context that is a list", op: create, body: `{"input":"/","params":{"type":"File"},"context":[]}`, status: 400, code: "invalid", message: failedCreate + "body: context must be an object", pointer: "#/context"},
		{name: "a document that is a list", path: "/api/v1/path" + abuseFolder, body: `[1]`, status: 400, code: "invalid", message: `parameter "document": must be of type map, not list`, pointer: "#/document"},
		{name: "a document without type", path: "/api/v1/path" + abuseFolder, body: `{"entity-type":"document","name":"x"}`, status: 400, code: "invalid", message: "type: is missing", pointer: "#/type"},
		{
			name: "announced and not sent", raw: "POST /api/v1/automation/Document.Create HTTP/1.1\nHost: {host}\n{auth}\nContent-Type: application/json\nContent-Length: 1000\n\n{\"params\":{\"type\":\"File\"}}",
			status: 400, code: "body_incomplete", message: failedCreate + "body: is incomplete",
		},
		{
			name: "broken chunks", raw: "POST /api/v1/automation/Document.Create HTTP/1.1\nHost: {host}\n{auth}\nContent-Type: application/json\nTransfer-Encoding: chunked\n\nzz\n{}\n0\n\n",
			status: 400, code: "body_incomplete", message: failedCreate + "body: is incomplete",
		},
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"n`)
		for d := 100_000; d > 0; d /= 10 {
			b.WriteByte(byte('0' + i/d%10))
		}
		b.WriteString(`":1`)
	}
	return b.String()
}

func hostileParts() []hostile {
	const op = "Blob.AttachOnDocument"
	const failed = "Failed to invoke operation: Blob.AttachOnDocument, "
	const itself = "Failed to invoke operation Blob.AttachOnDocument with aliases [Blob.Attach], "
	target := `{"params":{"document":"` + abuseFolder + `/file"}}`
	one, typ := parts(target)
	two, _ := parts(target, "content")
	many, _ := parts(target, make([]string, 2000)...)
	wrong, _ := parts(`{"params":{"document":"`+abuseFolder+`/none"}}`, "content")
	broken, _ := parts(`{"params":`, "content")
	return []hostile{
		{name: "one part", op: op, typ: typ, body: one, status: 400, code: "body_incomplete", message: failed + "body: multipart contains no file"},
		{name: "no boundary", op: op, typ: "multipart/form-data", body: two, status: 400, code: "invalid", message: failed + "body: multipart has no boundary"},
		{name: "another boundary", op: op, typ: "multipart/form-data; boundary=other", body: two, status: 400, code: "body_incomplete", message: failed + "body: multipart contains no file"},
		{name: "no end", op: op, typ: typ, body: strings.TrimSuffix(two, "--frontier--\r\n"), status: 400, code: "invalid", message: failed + "blob f0.txt: content was interrupted: unexpected EOF"},
		{name: "2,000 parts", op: op, typ: typ, body: many, status: 413, code: "body_too_large", message: failed + "body: more than 1000 files"},
		{name: "no such document", op: op, typ: typ, body: wrong, status: 404, code: "notfound", message: failed + abuseFolder + "/none"},
		{name: "broken JSON", op: op, typ: typ, body: broken, status: 400, code: "malformed_json", message: failed + "body: line 1, column 11: JSON is missing a value", line: 1, column: 11},
		{name: "huge part header", op: op, typ: typ, body: strings.Replace(two, "Content-Type: text/plain", "X: "+strings.Repeat("x", 11<<20), 1), status: 400, code: "body_incomplete", message: failed + "body: multipart is malformed or incomplete"},
		{name: "nothing at all", op: op, typ: typ, status: 400, code: "body_incomplete", message: failed + "body: multipart contains no file"},
		{
			name: "two files for one property", op: op, typ: typ, body: func() string {
				b, _ := parts(`{"params":{"document":"`+abuseFolder+`/file","xpath":"no:such"}}`, "a", "b")
				return b
			}(),
			status: 400, code: "invalid", message: failed + itself + `xpath "no:such": no such property`, pointer: "#/xpath",
		},
	}
}
