package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"net/textproto"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

func TestControls(t *testing.T) {
	cases := []struct {
		name    string
		headers map[string][]string
		query   string
		want    controls
	}{
		{
			"union of two headers",
			map[string][]string{"X-NXproperties": {"*"}, "X-NXDocumentProperties": {"dublincore"}},
			"",
			controls{properties: []string{"*", "dublincore"}},
		},
		{
			"neutral names",
			map[string][]string{"X-Platform-Properties": {"a, b"}, "X-Platform-enrichers.document": {"acls"}},
			"properties=b,c",
			controls{properties: []string{"a", "b", "c"}, enrichers: map[string][]string{"document": {"acls"}}},
		},
		{
			"hyphen, blank after comma",
			map[string][]string{"enrichers-document": {"permissions, hasFolderishChild"}},
			"",
			controls{enrichers: map[string][]string{"document": {"permissions", "hasFolderishChild"}}},
		},
		{
			"category",
			map[string][]string{"X-NXContext-Category": {"thumbnail"}, "X-NXenrichers.document": {"acls"}},
			"",
			controls{enrichers: map[string][]string{"document": {"acls", "thumbnail"}}},
		},
		{
			"repeated parameter", nil, "fetch-group=memberUsers&fetch-group=memberGroups",
			controls{fetch: map[string][]string{"group": {"memberUsers", "memberGroups"}}},
		},
		{
			"case of a header is found again",
			map[string][]string{"translate-directoryEntry": {"label"}, "depth": {"max"}},
			"",
			controls{translate: map[string][]string{"directoryEntry": {"label"}}, depth: "max"},
		},
		{"others are left alone", map[string][]string{"X-NXRepository": {"default"}, "Accept": {"*/*"}}, "pageSize=1&fetchx=2", controls{}},
	}
	for _, c := range cases {
		h := http.Header{}
		for k, v := range c.headers {
			h[http.CanonicalHeaderKey(k)] = v
		}
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got := readControls(h, q)
		sortControls(&got)
		sortControls(&c.want)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// sortControls makes the order of headers irrelevant.
func sortControls(c *controls) {
	slices.Sort(c.properties)
	for _, m := range []map[string][]string{c.enrichers, c.fetch, c.translate} {
		for _, v := range m {
			slices.Sort(v)
		}
	}
}

func TestCheckJSON(t *testing.T) {
	good := []string{
		`{}`, ` [1, 2.5e-3, -0, true, false, null, "x\u00e9\n\ud83d\ude00"] `, `{"a":{"a":[{"a":1}]}}`, `"x"`,
		strings.Repeat("[", 128) + strings.Repeat("]", 128),
	}
	for _, s := range good {
		if err := CheckJSON([]byte(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		if !json.Valid([]byte(s)) {
			t.Errorf("%s: the test is wrong", s)
		}
	}
	bad := []string{
		``, `{`, `[1,]`, `{"a":1,}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{a:1}`, `[01]`, `[1.]`, `[.5]`, `[1e]`, `"a`, "\"\n\"",
		`"\x"`, `"\u12"`, `"\ud83d"`, `"\ude00"`, "\"\xff\"", `{} {}`, `nul`, `[1 2]`, `{"a" 1}`,
		strings.Repeat("[", 129) + strings.Repeat("]", 129), strings.Repeat(`{"a":`, 100_000), strings.Repeat("[", 5_000_000),
		`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"b":1}`,
	}
	for _, s := range bad {
		err := CheckJSON([]byte(s))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Line == 0 || f.Column == 0 {
			t.Errorf("%.40s: got %v", s, err)
		}
	}
}

func FuzzCheckJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,-2.5e3,"\u00e9"],"b":{"c":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if CheckJSON(data) != nil {
			return
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatalf("%q: accepted, but %v", data, err)
		}
		object, ok := v.(map[string]any)
		if !ok {
			return
		}
		got := map[string]any{}
		err := Members(data, func(name string, raw json.RawMessage) error {
			var m any
			err := json.Unmarshal(raw, &m)
			got[name] = m
			return err
		})
		if err != nil || !reflect.DeepEqual(got, object) {
			t.Fatalf("%q: got %v (%v), want %v", data, got, err, object)
		}
	})
}

func TestProblem(t *testing.T) {
	inner := fault.NotFound.Errorf("/foo")
	resolved := &engine.Error{Op: "Repository.GetDocument", Stage: "input", Err: inner}
	stale := &engine.Error{
		Op: "Document.Update", Aliases: []string{"A", "B"}, Stage: "run",
		Err: fault.Conflict.Errorf("5f, Invalid change token"),
	}
	cases := []struct {
		err              error
		invoked          string
		status           int
		message, code    string
		detail           string // if it is not the message
		retryable, first bool
	}{
		{err: inner, status: 404, message: "/foo", code: "notfound", detail: "/foo (not found)"},
		{err: resolved, status: 404, message: "/foo", code: "notfound", detail: "Repository.GetDocument: /foo (not found)"},
		{
			err: resolved, invoked: "Repository.GetDocument", status: 404, code: "notfound", detail: "Repository.GetDocument: /foo (not found)",
			message: "Failed to invoke operation: Repository.GetDocument, /foo",
		},
		{
			err: stale, invoked: "Document.Update", status: 409, code: "conflict", retryable: true,
			message: "Failed to invoke operation: Document.Update, Failed to invoke operation Document.Update with aliases [A, B], 5f, Invalid change token",
			detail:  "Document.Update: 5f, Invalid change token",
		},
		{err: errors.New("secret"), invoked: "X", status: 500, message: "Internal Server Error", code: "internal"},
		{err: fault.Denied.Errorf("no").WithCode(fault.CodeNotSignedIn), status: 401, message: "no", code: fault.CodeNotSignedIn.String()},
		{err: fault.Denied.Errorf("no"), status: 403, message: "no", code: "denied"},
		{err: fault.Exists.Errorf("x"), status: 409, message: "x", code: "exists"},
		{err: fault.Limit.Errorf("x"), status: 422, message: "x", code: "limit"},
		{err: TooLarge("JSON body", 3), status: 413, message: "JSON body: more than 3 bytes", code: fault.CodeBodyTooLarge.String()},
		{err: fault.Unavailable.Errorf("x"), status: 503, message: "x", code: "unavailable", retryable: true},
		{err: fault.Unavailable.Errorf("log: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), status: 507, message: "log: write x: " + syscall.ENOSPC.Error(), code: "disk_full", retryable: true},
		{err: fault.Conflict.Errorf("x").WithCode(fault.CodePreconditionFailed), status: 412, message: "x", code: fault.CodePreconditionFailed.String()},
		{err: fault.Invalid.Errorf("x").WithCode(fault.CodeIdempotencyMismatch), status: 422, message: "x", code: "idempotency_mismatch"},
		{err: fault.Invalid.Errorf("content type %q is not accepted here", "text/x").WithCode(fault.CodeUnsupportedMediaType), status: 415, message: `content type "text/x" is not accepted here`, code: fault.CodeUnsupportedMediaType.String()},
	}
	for _, c := range cases {
		p := problemOf(c.err, Message(c.err, c.invoked))
		if p.Status != c.status || p.Message != c.message || p.Code != c.code || p.Retryable != c.retryable || p.Detail != cmp.Or(c.detail, p.Message) {
			t.Errorf("%v: got %+v", c.err, p)
		}
	}
	joined := fault.Wrap(errors.Join(
		fault.Invalid.Errorf("b").In("params/b"), fault.Invalid.Errorf("c").At(2, 7)), "chain")
	want := []point{{Pointer: "#/params~1b", Detail: "b"}, {Detail: "c", Line: 2, Column: 7}}
	if got := problemOf(joined, "x").Errors; !reflect.DeepEqual(got, want) {
		t.Errorf("joined: got %+v, want %+v", got, want)
	}
}

func TestValidationReport(t *testing.T) {
	err := fault.Invalid.Errorf("document /a: %w", engine.Violations{
		{Schema: "checked", Path: "vs:list/0/text", Constraint: "NotNullConstraint", Message: "property vs:list/0/text: a value is required"},
	}).WithCode(fault.CodeValidation)
	body, fail := json.Marshal(problemOf(err, err.Error()))
	if fail != nil {
		t.Fatal(fail)
	}
	want := `"has_error":true,"number":1,"violations":[{"messageKey":"label.schema.constraint.violation.NotNullConstraint.checked.list.text",` +
		`"message":"property vs:list/0/text: a value is required","invalid_value":null,` +
		`"constraint":{"entity-type":"validation_constraint","name":"NotNullConstraint","parameters":{}},` +
		`"path":[{"field_name":"vs:list","is_list_item":false},{"field_name":"0","is_list_item":true,"index":0},{"field_name":"text","is_list_item":false}]}]}`
	if !strings.HasPrefix(string(body), `{"entity-type":"validation_report","status":422,`) || !strings.HasSuffix(string(body), want) {
		t.Errorf("got %s", body)
	}
}

func TestPartName(t *testing.T) {
	cases := []struct{ disposition, field, filename string }{
		{`form-data; name="input"; filename="café.txt"`, "input", "café.txt"},
		{`form-data; name="input"; filename*=UTF-8''caf%C3%A9.txt`, "input", "café.txt"},
		{`form-data; name="f"; filename="=?utf-8?B?Y2Fmw6kudHh0?="`, "f", "café.txt"},
		{"form-data; name=\"f\"; filename=\"caf\xe9.txt\"", "f", "café.txt"},
		{`attachment; filename=../../etc/passwd`, "", "passwd"},
		{`attachment; filename="C:\\temp\\a b.txt"`, "", "a b.txt"},
		{`form-data; name=f; filename=ミカ.txt`, "f", "ミカ.txt"},
	}
	for _, c := range cases {
		field, filename, err := partName(textproto.MIMEHeader{"Content-Disposition": {c.disposition}})
		if err != nil || field != c.field || filename != c.filename {
			t.Errorf("%s: got %q %q %v", c.disposition, field, filename, err)
		}
	}
}

func TestByteRange(t *testing.T) {
	now := time.Date(2024, 5, 2, 10, 15, 30, 0, time.UTC)
	cases := []struct {
		header, cond string
		start, n     int64
		ok           bool
	}{
		{header: "bytes=0-3", start: 0, n: 4, ok: true},
		{header: "bytes=5-", start: 5, n: 5, ok: true},
		{header: "bytes=-3", start: 7, n: 3, ok: true},
		{header: "bytes=-30", start: 0, n: 10, ok: true},
		{header: "bytes=8-99", start: 8, n: 2, ok: true},
		{header: "bytes=0-3", cond: `"d"`, start: 0, n: 4, ok: true},
		{header: "bytes=0-3", cond: now.Format(http.TimeFormat), start: 0, n: 4, ok: true},
		{header: "bytes=0-3", cond: `"other"`},
		{header: "bytes=0-1,4-5"},
		{header: "bytes=10-"},
		{header: "bytes=3-1"},
		{header: "bytes=-0"},
		{header: "bytes=x-y"},
		{header: "items=0-3"},
	}
	for _, c := range cases {
		start, n, ok := byteRange(http.Header{"Range": {c.header}, "If-Range": {c.cond}}, `"d"`, now, 10)
		if start != c.start || n != c.n || ok != c.ok {
			t.Errorf("%s %s: got %d %d %v", c.header, c.cond, start, n, ok)
		}
	}
}

func TestDisposition(t *testing.T) {
	cases := []struct{ name, want string }{
		{"a.txt", "attachment; filename=a.txt"},
		{"café.txt", "attachment; filename*=UTF-8''caf%C3%A9.txt"},
		{"a b+c\"\r\n.txt", "attachment; filename*=UTF-8''a%20b%2Bc%22%0D%0A.txt"},
		{"", "attachment"},
	}
	for _, c := range cases {
		if got := Disposition(c.name, false); got != c.want {
			t.Errorf("%q: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestServes(t *testing.T) {
	s := &Handler{hosts: map[string]bool{"localhost": true, "docs.example.org": true}}
	cases := []struct {
		host string
		want bool
	}{
		{"localhost:8080", true},
		{"LOCALHOST", true},
		{"127.0.0.1:80", true},
		{"[::1]:8080", true},
		{"[::1]", true},
		{"docs.example.org", true},
		{"evil.example", false},
		{"evil.example:8080", false},
		{"localhost.evil.example", false},
		{"", false},
	}
	for _, c := range cases {
		if got := s.serves(c.host); got != c.want {
			t.Errorf("%q: got %v", c.host, got)
		}
	}
}

// TestMaxStale reads the directive of RFC 9111, among others and in several lines; what is no number of seconds accepts nothing.
func TestMaxStale(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  time.Duration
	}{
		{nil, 0},
		{[]string{"no-cache"}, 0},
		{[]string{"max-stale=5"}, 5 * time.Second},
		{[]string{"no-transform , Max-Stale=5 , max-age=0"}, 5 * time.Second},
		{[]string{"no-transform", `max-stale="7"`}, 7 * time.Second},
		{[]string{"max-stale"}, math.MaxInt64},
		{[]string{"max-stale=-1"}, 0},
		{[]string{"max-stale=soon"}, 0},
		{[]string{"max-stale=99999999999999999999"}, 0},
		{[]string{"max-staleness=5", "=,,;"}, 0},
	} {
		if got := maxStale(http.Header{"Cache-Control": c.lines}); got != c.want {
			t.Errorf("%q: %s, want %s", c.lines, got, c.want)
		}
	}
}
