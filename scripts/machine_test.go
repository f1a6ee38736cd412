package scripts

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/limit"
)

// runner runs source in one of the two places.
type runFunc func(h recorder, l Limits, file, source string, strict bool, in any, params map[string]any) (any, error)

func inProcess(h recorder, l Limits, file, source string, strict bool, in any, params map[string]any) (any, error) {
	limit.Fill(&l)
	p, err := compile(file, source, strict, benchNames)
	if err != nil {
		return nil, err
	}
	return newMachine(h, benchNames, &l).run(context.Background(), p, in, params)
}

// places are where scripts run; every test of the language holds in both.
var places = map[string]runFunc{"process": inProcess}

var language = []struct{ name, source, want string }{
	{"last value", `1 + 2`, `3`},
	{"run", `function run(input, params) { return params.a + 1 }`, `42`},
	{"run is an arrow", `const run = (input, params) => params.a`, `41`},
	{"async", `async function run(i, p) { const d = await Document.Get(null, {value: "/x"}); return d.title }`, `"Title of /x"`},
	{"params global", `params.a`, `41`},
	{"operation", `Document.Create(input, {type: "Folder", name: "n"}).path`, `"/in/n"`},
	{"nested name", `Document.Routing.Resume.Step(5)`, `5`},
	{"mangled name", `Log_In_Out__X_("x")`, `"x"`},
	{"global function", `Echo(null, {b: [1, {c: null}]})`, `{"b":[1,{"c":null}]}`},
	{"same object", `Document === Document && Document.Get === Document.Get`, `true`},
	{"same handle", `Document.Get(null,{value:"/x"}) === Document.Get(null,{value:"/x"})`, `true`},
	{"input handle", `input === Echo(input)`, `true`},
	{"keys", `Object.keys(Document).join()`, `"Create,Get,Routing,Save"`},
	{"unknown name", `typeof nothing`, `"undefined"`},
	{"shadow", `let Document = 3; Document`, `3`},
	{"variable", `who + ctx.who`, `"bobbob"`},
	{"set variable", `ctx.x = {a: 1}; ctx["y"] = 2; delete ctx.who; [ctx.x.a, x.a, "who" in ctx, Object.keys(ctx).join()]`, `[1,1,false,"x,y"]`},
	{"fields", `[input.id, input.uid, input.name, input.type, input.isFolder, input.state, input.facets.length]`, `["id-/in","id-/in","in","File",false,null,2]`},
	{"property", `[input["dc:title"], input.getProperty("n:number"), input["no:such"], input.getProperty("no:such")]`, `["Title of /in",7,null,null]`},
	{"set property", `input["dc:title"] = "new"; input.setProperty("dc:source", [1]); Echo(input); [input["dc:title"], input["dc:source"]]`, `["new",[1]]`},
	{"bad property", `try { input["no:such"] = 1; Echo(input); "set" } catch (e) { e.kind + " " + e.message }`, `"invalid property no:such"`},
	{"facets", `[input.hasFacet("Folderish"), input.hasFacet("X"), input.hasSchema("dublincore")]`, `[true,false,true]`},
	{"in document", `["dc:title" in input, "dc:nope" in input, "path" in input, "then" in input]`, `[true,false,true,false]`},
	{"dates", `const d = input["dc:created"]; [d instanceof Date, d.getUTCFullYear(), input.lockCreated.getTime()]`, `[true,2026,1000]`},
	{"date out", `new Date(0)`, `"1970-01-01T00:00:00Z"`},
	{"document to JSON", `JSON.parse(JSON.stringify(input)).properties["dc:title"]`, `"Title of /in"`},
	{"list", `const l = List(null, {n: 3}); [Array.isArray(l), l.length, l.size(), l.get(1).path, l.map(d => d.name).join()]`, `[true,3,3,"/d1","d0,d1,d2"]`},
	{"list back", `Echo(List(null, {n: 2}))[1].id`, `"id-/d1"`},
	{"file", `const f = input["file:content"]; [f.name, f.length, f.type, f.digest, f.text(), f.getString()]`, `["a.txt",9,"text/plain","d1","some text","some text"]`},
	{"catch", `try { Fail(null, {ref: "r"}) } catch (e) { [e instanceof Error, e.kind, e.code, e.field, e.operation, e.message] }`, `[true,"conflict","precondition_failed","ref","Fail","Fail: document r"]`},
	{"user", `[CurrentUser.name, currentUser.groups[0]]`, `["bob","members"]`},
	{"date helper", `[CurrentDate.format("yyyy-MM-dd HH:mm:ss"), CurrentDate.days(1).day, String(CurrentDate), CurrentDate.month, CurrentDate.week]`, `["2026-11-21 15:04:05",22,"TIMESTAMP '2026-11-21 15:04:05.006'",10,47]`},
	{"helpers", `Fn.escapeHtml("a")`, `"escapeHtml[a]"`},
	{"session", `Session.getDocument("/s").path`, `"/s"`},
	{"environment", `JSON.stringify(Env)`, `"{}"`},
	{"values", `const v = Value.Of(); [v.when.getTime(), v.n, v.deep[0].x, v.ok]`, `[60000,1.5,null,true]`},
	{"function out", `({a: function () {}, b: undefined})`, `{"a":null}`},
	{"copies", `const v = ctx.list ?? []; v.push(1); ctx.list = v; ctx.list.push(2); ctx.list.length`, `1`},
	{"own names", `String([Document.Get.name, console.log.name, input.toJSON.name])`, `"Document.Get,log,toJSON"`},
	{"space with the name of a global", `[Proxy.Source(5), typeof new Proxy({}, {}), Proxy.Source.name]`, `[5,"object","Proxy.Source"]`},
	{"lookahead", `/a(?=b)/.test("ab")`, `true`},
}

func TestLanguage(t *testing.T) { playAll(t, language) }

// playAll holds what scripts give, in each place that they run in.
func playAll(t *testing.T, cases []struct{ name, source, want string }) {
	t.Helper()
	for place, run := range places {
		for _, c := range cases {
			t.Run(place+"/"+c.name, func(t *testing.T) {
				h := newFakeHost()
				v, err := run(h, Limits{}, "t.js", c.source, false, h.doc("/in"), map[string]any{"a": int64(41)})
				if err != nil {
					t.Fatal(err)
				}
				got, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		}
	}
}

func TestErrors(t *testing.T) {
	cases := []struct {
		name, source string
		kind         fault.Kind
		code         string
		line         int
		message      string
	}{
		{"syntax", "let a = 1;\nlet b = ;", fault.Invalid, "script_syntax", 2, "Unexpected token ;"},
		{"thrown", "function run() {\n  f();\n}\nfunction f() {\n  throw new Error('no');\n}", fault.Invalid, "script_error", 5, "t.js:5:9: Error: no"},
		{"type error", "let x;\nx.y", fault.Invalid, "script_error", 2, "Cannot read property"},
		{"operation", "let a\n\nFail(null, {ref: 'q'})", fault.Conflict, "precondition_failed", 3, "t.js:3:5: Fail: document q"},
		{"rethrown", "try {\n Fail(null, {ref: 'q'}) } catch (e) { throw e }", fault.Conflict, "precondition_failed", 2, "Fail: document q"},
		{"cause", "try { Fail(null, {}) } catch (e) { throw new Error('outer', {cause: e}) }", fault.Conflict, "precondition_failed", 1, "outer"},
		{"async", "async function run() {\n await null;\n Fail(null, {ref: 1}) }", fault.Conflict, "precondition_failed", 3, "Fail: document 1"},
		{"pending", "async function run() { await new Promise(() => {}) }", fault.Invalid, "script_pending", 0, "never settles"},
		{"unknown", "Document.Nope(1)", fault.Invalid, "script_error", 1, "no member 'Nope'"},
		{"misspelt operation", "Document.Gte(1)", fault.Invalid, "script_error", 1, "no member 'Gte', perhaps Document.Get"},
		{"misspelt family", "Documnt.Lock(1)", fault.Invalid, "script_error", 1, "Documnt is not defined, perhaps Document"},
		{"reference", "nope(1)", fault.Invalid, "script_error", 1, "nope is not defined"},
		{"parameters", "Echo(1, 2)", fault.Invalid, "script_value", 1, "parameters must be an object"},
		{"symbol", "Symbol('x')", fault.Invalid, "script_value", 0, "a symbol cannot be returned"},
		{"map", "new Map()", fault.Invalid, "script_value", 0, "(such as a Map, Set or Promise) cannot be returned"},
		{"cycle", "const a = {}; a.a = a; a", fault.Limit, "script_output", 0, "nested more than 64"},
		{"primitive", "throw 'text'", fault.Invalid, "script_error", 1, "text"},
		{"stack", "function f() { f() }\nf()", fault.Limit, "script_stack", 1, "500 nested calls"},
	}
	for place, run := range places {
		for _, c := range cases {
			t.Run(place+"/"+c.name, func(t *testing.T) {
				v, err := run(newFakeHost(), Limits{}, "t.js", c.source, false, nil, nil)
				if err == nil {
					t.Fatalf("no error, got %v", v)
				}
				var f *fault.Error
				if !errors.As(err, &f) {
					t.Fatalf("%T has no kind: %v", err, err)
				}
				if f.Kind != c.kind || f.Code.String() != c.code || f.Line != c.line || !strings.Contains(f.Message, c.message) {
					t.Errorf("got %s %s line %d %q\nwant %s %s line %d … %s …", f.Kind, f.Code, f.Line, f.Message, c.kind, c.code, c.line, c.message)
				}
				if strings.Contains(err.Error(), "catena/") || strings.Contains(err.Error(), ".go:") {
					t.Errorf("the error shows the server's code: %v", err)
				}
			})
		}
	}
}

func TestStrict(t *testing.T) {
	for place, run := range places {
		_, err := run(newFakeHost(), Limits{}, "t.js", "function run() { undeclared = 1 }", true, nil, nil)
		if fault.Of(err) != fault.Invalid {
			t.Errorf("%s: assignment to an undeclared name: %v", place, err)
		}
		_, err = run(newFakeHost(), Limits{}, "t.js", "function run(input) { input.title = 1 }", true, newFakeHost().doc("/x"), nil)
		if fault.Of(err) != fault.Invalid {
			t.Errorf("%s: assignment to a field: %v", place, err)
		}
	}
}

func TestLimits(t *testing.T) {
	cases := []struct {
		name, source, code string
		limits             Limits
	}{
		{"time", "for (;;) {}", "script_timeout", Limits{Wall: 50 * time.Millisecond}},
		{"caught", "for (;;) { try { for (;;) {} } catch (e) {} finally { for (;;) {} } }", "script_timeout", Limits{Wall: 50 * time.Millisecond}},
		{"calls", "for (;;) { try { Noop() } catch (e) {} }", "script_calls", Limits{Calls: 10}},
		{"output", "'x'.repeat(1000)", "script_output", Limits{Output: 100}},
		{"parameters", "Echo('x'.repeat(1000))", "script_output", Limits{Output: 100}},
		{"source", strings.Repeat("[", 1000), "script_source", Limits{}},
		{"memory", "const a = []; for (;;) a.push(('abcdefgh' + a.length).repeat(1000))", "script_memory", Limits{Memory: 20 << 20}},
	}
	for place, run := range places {
		for _, c := range cases {
			t.Run(place+"/"+c.name, func(t *testing.T) {
				_, err := run(newFakeHost(), c.limits, "t.js", c.source, false, nil, nil)
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind != fault.Limit || f.Code.String() != c.code {
					t.Errorf("got %v (%T), want %s", err, err, c.code)
				}
			})
		}
	}
}

func TestConsole(t *testing.T) {
	for place, run := range places {
		h := newFakeHost()
		_, err := run(h, Limits{Log: 40}, "t.js", `console.log("a", 1, {b: [input]}); Console.warn(new Error("e")); console.info("x".repeat(100)); console.log("lost")`, false, h.doc("/d"), nil)
		if err != nil {
			t.Fatal(place, err)
		}
		got := strings.Join(h.lines, "\n")
		want := "log: a 1 {\"b\":[\"/d\"]}\nwarn: Error: e\ninfo: xxxxxxxxxxxxxx… (console limit reached: the rest of this run is not shown)"
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", place, got, want)
		}
	}
}
