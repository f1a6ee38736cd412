package main

import (
	"strings"
)

func hostileAddresses() []hostile {
	const path = "/api/v1/path"
	raw := func(line string) string { return line + " HTTP/1.1\nHost: {host}\n{auth}\nConnection: close\n\n" }
	deep := strings.Repeat("/x", 1000)
	long := strings.Repeat("é", 150)
	return []hostile{
		{name: "dots", method: "GET", path: path + abuseFolder + "/../../..", status: 400, code: "invalid", message: `address: "default-domain/workspaces/abused/../../.." has a segment . or ..`},
		{name: "encoded dots", method: "GET", path: path + abuseFolder + "/%2e%2e/file", status: 400, code: "invalid", message: `address: … has a segment . or ..`},
		{name: "encoded slash and dots", method: "GET", path: path + abuseFolder + "%2f..%2ffile", status: 400, code: "invalid", message: `address: … has a segment . or ..`},
		{name: "zero byte", method: "GET", path: path + abuseFolder + "/a%00b", status: 400, code: "invalid", message: `address: … is not text`},
		{name: "not UTF-8", method: "GET", path: path + abuseFolder + "/%ff", status: 400, code: "invalid", message: `address: … is not text`},
		{name: "broken percent", raw: raw("GET " + path + "/%zz"), status: 400, message: ""},
		{name: "no request", raw: "HELO there\n\n", status: 400},
		{name: "two lengths", raw: "POST /api/v1/automation/Document.Create HTTP/1.1\nHost: {host}\n{auth}\nContent-Length: 4\nContent-Length: 5\n\n{}  x", status: 400},
		{name: "length below zero", raw: "POST /api/v1/automation/Document.Create HTTP/1.1\nHost: {host}\n{auth}\nContent-Length: -1\n\n{}", status: 400},
		{name: "no host", raw: "GET /api/v1/automation HTTP/1.1\n\n", status: 400},
		{name: "two hosts", raw: "GET /api/v1/automation HTTP/1.1\nHost: {host}\nHost: other\n\n", status: 400},
		{name: "1,000 names", method: "GET", path: path + deep, status: 404, code: "notfound", message: deep},
		{name: "1,000 names of a folder", op: create, params: `{"type":"Folder","name":"` + deep[1:] + `"}`, status: 422, code: "limit", message: failedInside + "name: 1999 bytes, limit 255", pointer: "#/name"},
		{name: "a name of 300 bytes", op: create, params: `{"type":"File","name":"` + long + `"}`, status: 422, code: "limit", message: failedInside + "name: 300 bytes, limit 255", pointer: "#/name"},
		{name: "an address of 300 bytes", method: "GET", path: path + "/" + strings.Repeat("x", 300), status: 404, code: "notfound", message: "/" + strings.Repeat("x", 300)},
		{name: "a name of dots", op: create, params: `{"type":"File","name":".."}`, status: 400, code: "invalid", message: failedInside + `name "..": is not allowed`, pointer: "#/name"},
		{name: "a name with a zero byte", op: create, params: `{"type":"File","name":"a\u0000b"}`, status: 400, code: "invalid", message: failedInside + `name "a\x00b": control characters are not allowed`, pointer: "#/name"},
		{name: "no such address", method: "GET", path: "/api/v1/nothing/here", status: 404, code: "notfound", message: "Type not found: nothing"},
		{name: "no such page", method: "GET", path: "/nothing", status: 404, code: "notfound", message: "address /nothing"},
		{name: "no such adapter", method: "GET", path: path + abuseFolder + "/@nothing", status: 404, code: "notfound", message: "adapter @nothing"},
		{name: "no such repository", method: "GET", path: "/api/v1/repo/other/path/", status: 404, code: "notfound", message: "repository other"},
		{name: "no such document", method: "GET", path: path + abuseFolder + "/none", status: 404, code: "notfound", message: abuseFolder + "/none"},
		{name: "no such identifier", method: "GET", path: "/api/v1/id/5f0c1f3e-0000-4000-8000-000000000000", status: 404, code: "notfound", message: "5f0c1f3e-0000-4000-8000-000000000000"},
		{name: "identifier that is none", method: "DELETE", path: "/api/v1/id/..%2f..", status: 400, code: "invalid", message: `address: "..%2f.." has a segment . or ..`},
		{name: "delete nothing", method: "DELETE", path: path + abuseFolder + "/none", status: 404, code: "notfound", message: abuseFolder + "/none"},
		{name: "delete the root", method: "DELETE", path: path + "/", status: 409, code: "conflict", message: "document /: the root cannot be removed"},
		{
			name: "wrong method", method: "DELETE", path: "/api/v1/automation", status: 405, code: "method_not_allowed", message: "method DELETE is not allowed here",
			answer: map[string]string{"Allow": "GET, HEAD, OPTIONS"},
		},
		{
			name: "wrong method of a document", method: "PATCH", path: path + abuseFolder, body: "{}", status: 405, code: "method_not_allowed", message: "method PATCH is not allowed here",
			answer: map[string]string{"Allow": "…GET…"},
		},
		{
			name: "no method there is", method: "BREW", path: "/api/v1/automation", status: 405, code: "method_not_allowed", message: "method BREW is not allowed here",
			answer: map[string]string{"Allow": "GET, HEAD, OPTIONS"},
		},
		{name: "no such property", method: "GET", path: path + abuseFolder + "/file/@blob/no:such", status: 404, code: "notfound", message: "document …: there is no file at no:such"},
		{name: "bad xpath", method: "GET", path: path + abuseFolder + "/file/@blob/files:files%5B%5B", status: 404, code: "notfound", message: "document …: there is no file at files:files[["},
	}
}

func hostileHeaders() []hostile {
	const file = "/api/v1/path" + abuseFolder + "/file"
	const blob = file + "/@blob/file:content"
	ranged := func(name, value string) hostile {
		return hostile{name: "range " + name, method: "GET", path: blob, header: map[string]string{"Range": value}, status: 200, answer: map[string]string{"Content-Length": "10"}}
	}
	update := `{"entity-type":"document","properties":{"dc:title":"changed"}}`
	return []hostile{
		{name: "huge", method: "GET", path: file, header: map[string]string{"X-Filler": strings.Repeat("x", 60<<10)}, status: 431},
		{name: "5,000 headers", raw: "GET /api/v1/automation HTTP/1.1\nHost: {host}\n{auth}\n" + strings.Repeat("X-Some: filler\n", 5000) + "\n", status: 431},
		ranged("nonsense", "bytes=x-y"),
		ranged("backwards", "bytes=8-3"),
		ranged("beyond the end", "bytes=10-20"),
		ranged("below zero", "bytes=--5"),
		ranged("of several", "bytes=0-0,2-2,4-4"),
		ranged("of 1,000", "bytes="+strings.Repeat("0-,", 1000)+"0-"),
		ranged("overflow", "bytes=99999999999999999999-"),
		{name: "stale If-Match", method: "PUT", path: file, header: map[string]string{"If-Match": `"0-0.x"`}, body: update, status: 412, code: "precondition_failed", message: "document has changed: no entity tag of If-Match matches"},
		{name: "stale change token", method: "PUT", path: file, body: `{"entity-type":"document","changeToken":"99-0","properties":{"dc:title":"changed"}}`, status: 409, code: "conflict", message: "…, Invalid change token"},
		{name: "stale delete", method: "DELETE", path: file, header: map[string]string{"If-Match": `"0-0.x"`}, status: 412, code: "precondition_failed", message: "document has changed: no entity tag of If-Match matches"},
		{name: "another host", method: "GET", path: file, header: map[string]string{"Host": "evil.example"}, status: 421, code: "host_not_allowed", message: `host "evil.example" is not served here`},
		{name: "a host like ours", method: "GET", path: file, header: map[string]string{"Host": "localhost.evil.example:80"}, status: 421, code: "host_not_allowed", message: `host "localhost.evil.example:80" is not served here`},
		{name: "another origin", op: create, params: `{"type":"File"}`, header: map[string]string{"Origin": "https://evil.example"}, status: 403, code: "cross_origin", message: "request comes from another website"},
		{name: "another site", method: "DELETE", path: file, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403, code: "cross_origin", message: "request comes from another website"},
		{name: "origin null", method: "PUT", path: file, body: update, header: map[string]string{"Origin": "null"}, status: 403, code: "cross_origin", message: "request comes from another website"},
		{
			name: "no sign-in", method: "GET", path: file, header: map[string]string{"Authorization": ""}, status: 401, code: "not_signed_in", message: "sign-in: user and password or a key are required",
			answer: map[string]string{"WWW-Authenticate": "Basic …"},
		},
		{name: "broken sign-in", method: "GET", path: file, header: map[string]string{"Authorization": "Basic !!!"}, status: 401, code: "not_signed_in", message: "sign-in: malformed Authorization header"},
		{name: "another way to sign in", method: "GET", path: file, header: map[string]string{"Authorization": "Negotiate abc"}, status: 401, code: "not_signed_in", message: "sign-in: user and password or a key are required"},
		{name: "no key", method: "GET", path: file, header: map[string]string{"Authorization": "Bearer " + strings.Repeat("k", 8000)}, status: 401, code: "not_signed_in", message: "sign-in: refused"},
		{
			name: "nonsense of controls", method: "GET", path: file, status: 200,
			header: map[string]string{"X-NXproperties": strings.Repeat("*,", 5000), "X-NXenrichers.document": strings.Repeat("acls,", 2000), "X-NXDepth": "-7", "Accept-Language": ";;;q="},
		},
		{name: "timeout that is none", op: create, params: `{}`, header: map[string]string{"Nuxeo-Transaction-Timeout": "-99999999999999999999"}, status: 400, code: "missing_parameter", message: failedCreate + `parameter "type" is missing`, pointer: "#/type"},
		{name: "request id with a line", method: "GET", path: file, header: map[string]string{"X-Request-Id": "a b\tc"}, status: 200, answer: map[string]string{"X-Request-Id": "…"}},
		{name: "traceparent that is none", method: "GET", path: file, header: map[string]string{"Traceparent": "00-ZZ-1-1"}, status: 200},
	}
}
