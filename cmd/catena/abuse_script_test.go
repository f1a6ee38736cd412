package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// bombs are scripts that would take a server down, and the codes they may end with.
var bombs = []struct{ name, source, codes string }{
	{"loop", "for (;;) {}", "script_timeout"},
	{"caught loop", "while (true) { try { throw 1 } catch (e) { continue } finally { continue } }", "script_timeout"},
	{"recursion", "function f() { return 1 + f() } f()", "script_stack"},
	{"native recursion", "function f() { [2, 1].sort(f) } f()", "script_stack script_timeout"},
	{"yield recursion", "function* f() { yield* f() } [...f()]", "script_stack script_timeout script_memory"},
	{"JSON depth", `JSON.parse("[".repeat(5e6))`, "script_stack script_memory script_timeout script_crash"},
	{"doubling", "let s = 'x'; for (;;) s += s", "script_memory script_timeout script_crash"},
	{"sparse sort", "new Array(4294967295).sort()", "script_memory script_timeout script_crash"},
	{"ArrayBuffer", "new ArrayBuffer(8e9)", "script_memory script_crash"},
	{"power", "7n ** 20000000n; 1", "script_timeout script_memory script_source"},
	{"backreference", `/^(a+)+\1$/.test('a'.repeat(40) + 'b')`, "script_timeout"},
	{"brackets", strings.Repeat("[", 1e6), "script_source"},
	{"brackets below the limit", strings.Repeat("[", 200_000), "script_source"},
	{"arrows", "(a=" + strings.Repeat("(a=", 30) + "1" + strings.Repeat(")=>1", 30) + ")=>1", "script_source"},
	{"compiled brackets", "eval('['.repeat(1e6))", "script_stack script_memory script_timeout script_crash"},
	{"never settled", "(async () => { await new Promise(() => {}) })()", "script_pending"},
	{"never settled, returned", "async function run() { await new Promise(() => {}) }", "script_pending"},
	{"microtasks", "const f = () => Promise.resolve().then(f); f()", "script_timeout script_memory"},
	{"100,000 calls", "for (let i = 0; i < 100000; i++) Document.Create('" + abuseFolder + "', {type: 'File', name: 'n' + i})", "script_calls script_timeout events"},
	{"100,000 small calls", "for (let i = 0; i < 100000; i++) Context.SetVar(null, {name: 'x', value: i})", "script_calls script_timeout operations"},
	{"console", "for (;;) console.log('x'.repeat(1000))", "script_timeout script_output"},
	{"result", "'x'.repeat(1e7)", "script_output"},
	{"parameter", "Context.SetVar(null, {name: 'x', value: 'x'.repeat(1e7)})", "script_output"},
	{"syntax", "let a = ;", "script_syntax"},
	{"throw", "throw new Error('no')", "script_error"},
}

// scripts runs the bombs, each after it has created a document.
func (a *abused) scripts(t *testing.T) {
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) { a.explode(t, b.source, b.codes) })
	}
}

// explode runs a bomb and, beside it, somebody else's harmless calls.
func (a *abused) explode(t *testing.T, source, codes string) {
	t.Helper()
	source = "Document.Create('" + abuseFolder + "', {type: 'File', name: 'left'});\n" + source
	body, err := json.Marshal(map[string]any{"params": map[string]any{"script": source}})
	if err != nil {
		t.Fatal(err)
	}
	type outcome struct {
		resp *http.Response
		body string
	}
	done := make(chan outcome, 1)
	started := time.Now()
	go func() {
		defer close(done)
		resp, text := a.send(t, hostile{op: "RunScript", body: string(body)})
		done <- outcome{resp, text}
	}()
	var slowest time.Duration
	for {
		select {
		case o, ok := <-done:
			if !ok {
				return // what was wrong is said
			}
			a.exploded(t, o.resp, o.body, codes, time.Since(started), slowest)
			a.unharmed(t)
			return
		case <-time.After(20 * time.Millisecond):
		}
		one := time.Now()
		a.must(t, "Context.FetchDocument", `{"input":"`+abuseFolder+`"}`)
		slowest = max(slowest, time.Since(one))
	}
}

func (a *abused) exploded(t *testing.T, resp *http.Response, body, codes string, took, slowest time.Duration) {
	t.Helper()
	var r refusal
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%d: %v: %.300s", resp.StatusCode, err, body)
	}
	want := http.StatusUnprocessableEntity
	if strings.Contains("script_syntax script_error script_pending", r.Code) {
		want = http.StatusBadRequest
	}
	if r.Code == "" || !strings.Contains(" "+codes+" ", " "+r.Code+" ") || resp.StatusCode != want {
		t.Errorf("got %d %s %.300q, want one of %s", resp.StatusCode, r.Code, r.Message, codes)
	}
	if took > 15*time.Second {
		t.Errorf("took %s", took)
	}
	if slowest > 5*time.Second {
		t.Errorf("others waited %s", slowest)
	}
	t.Logf("%s in %s, others within %s: %.150s", r.Code, took.Round(time.Millisecond), slowest.Round(time.Millisecond), r.Message)
}
