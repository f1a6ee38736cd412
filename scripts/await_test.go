package scripts

import (
	"errors"
	"fmt"
	"testing"

	"catena/storage/fault"
)

// TestAwait holds what a script that awaits outside its functions gives: the value of its
// last expression, or what run returns.
func TestAwait(t *testing.T) {
	cases := []struct{ name, source, want string }{
		{"value", `const d = await Document.Get(null, {value: "/x"}); d.title`, `"Title of /x"`},
		{"only", `await 1 + await 2`, `3`},
		{"in brackets", `await (async () => 5)()`, `5`},
		{"in a list", `await [1, 2]`, `[1,2]`},
		{"all", `(await Promise.all([1, Promise.resolve(2), (async () => 3)()])).join()`, `"1,2,3"`},
		{"order", "const seen = []; const p = (async () => { seen.push(1); await null; seen.push(3) })(); seen.push(2); await p; seen", `[1,2,3]`},
		{"in blocks", "let n = 0; for (const x of [1, 2]) { if (x) { n += await x } }", `3`},
		{"in a template", "`a${await 1}b`", `"a1b"`},
		{"nothing", `let a = await 1`, `null`},
		{"before a declaration", "await 1; 4; let a = 5; function f() {}", `4`},
		{"caught", `try { await Promise.reject(new Error("no")) } catch (e) { e.message }`, `"no"`},
		{"operation caught", `try { await Fail(null, {ref: "r"}) } catch (e) { [e.kind, e.operation] }`, `["conflict","Fail"]`},
		{"run", "const n = await 20;\nasync function run(input, params) { return n + await params.a }", `61`},
		{"run is an arrow", "const n = await 1; const run = (i, p) => n + p.a", `42`},
		{"directive", "'use strict'; await 1; (function () { return this === undefined })()", `true`},
		{"sloppy", "await 1; (function () { return this === undefined })()", `false`},
		{"functions first", "f(await 3); function f(x) { return x * 2 }", `6`},
		{"comment at the end", "await 7 // last", `7`},
		{"first line of a command", "#!/usr/bin/env catena\nawait 8", `8`},
		{"shadow", `let Document = await 3; Document`, `3`},
		{"variable", `ctx.n = await 2; n + 1`, `3`},
		{"a name of its own", `var await = 4; await + 1`, `5`},
		{"a name of its own, called", `function await(x) { return x + 1 } await(1)`, `2`},
		{"only in functions", `async function f() { return await 9 } f()`, `9`},
		{"a word in a text", `"await " + 1`, `"await 1"`},
		{"text of a function", "await 1; String(function f() { return 1 })", `"function f() { return 1 }"`},
		{"this", `await 1; this === globalThis`, `true`},
		{"class", `class A { n = 1; static s = 2; m() { return this.n } } await new A().m() + A.s`, `3`},
	}
	playAll(t, cases)
}

// TestAwaitErrors holds the places of errors, first lines among them.
func TestAwaitErrors(t *testing.T) {
	cases := []struct{ name, source, want string }{
		{"syntax on the first line", "await 1; let b = ;", "invalid script_syntax 1:18 Unexpected token ;"},
		{"syntax below", "await 1;\n  let b = ;", "invalid script_syntax 2:11 Unexpected token ;"},
		{"end is missing", "await 1;\nif (a) {", "invalid script_syntax 2:9 Unexpected end of input"},
		{"bracket too many", "await 1;\n}", "invalid script_syntax 2:2 Unexpected token }"},
		{"bracket that closes the function", "await 1 }; async () => { 2", "invalid script_syntax 1:7 Unexpected number"},
		{"declared twice", "await 1; let a; let a", "invalid script_syntax 1:21 Identifier 'a' has already been declared"},
		{"return", "await 1;\n if (a) return 2", "invalid script_syntax 2:9 Illegal return statement"},
		{"for await", "await 1;\nfor await (const x of [1]) {}", "invalid script_syntax 2:5 for await is not supported: use for with await in its body"},
		{"for await in a function", "async function f(l) {\n  for  await (const x of l) {}\n}", "invalid script_syntax 2:8 for await is not supported: use for with await in its body"},
		{"asynchronous generator", "1;\nasync function* f() { yield 1 }", "invalid script_syntax 2:1 asynchronous generators are not supported: return a list"},
		{"field of a document", "const d = Document.Get(null, {value: '/x'});\nd.title = 'x'", "invalid script_error 2:3 TypeError: title: cannot be set; properties of a document have names such as doc[\"dc:title\"]"},
		{"in a function that does not", "await 1;\nfunction f() { await 2 }", "invalid script_syntax 2:22 Unexpected number"},
		{"operation on the first line", "await 1; Fail(null, {ref: 'q'})", "conflict precondition_failed 1:14 Fail: document q"},
		{"operation before any await", "Fail(null, {ref: 'q'}); await 1", "conflict precondition_failed 1:5 Fail: document q"},
		{"operation below", "let a\nawait 1\n\n  Fail(null, {ref: 'q'})", "conflict precondition_failed 4:7 Fail: document q"},
		{"thrown in a function", "function f() {\n  throw new Error('no');\n}\nawait 1; f()", "invalid script_error 2:9 Error: no"},
		{"thrown later", "async function f() {\n  await 1;\n  throw new Error('no');\n}\nawait f()", "invalid script_error 3:9 Error: no"},
		{"a message like a place", "await 1; throw new Error('t.js:9:9')", "invalid script_error 1:16 Error: t.js:9:9"},
		{"reference", "await 1; nope(1)", "invalid script_error 1:14 ReferenceError: nope is not defined"},
		{"in run", "const n = await 1;\nfunction run() { throw new Error('no') }", "invalid script_error 2:24 Error: no"},
		{"in run later", "const n = await 1;\nasync function run() { await 1; throw new Error('no') }", "invalid script_error 2:39 Error: no"},
		{"run is no function", "const run = await 3", "invalid script_error 0:0 run: not a function"},
		{"pending", "await new Promise(() => {}); 1", "invalid script_pending 0:0 script: awaits a promise that never settles"},
		{"pending before run", "await new Promise(() => {}); function run() {}", "invalid script_pending 0:0 script: awaits a promise that never settles"},
		{"stack", "await 1; function f() { f() }\nf()", "limit script_stack 1:26 script: more than 500 nested calls"},
		{"constant", "await 1; 2n ** 200000n", "limit script_source 1:0 script: a power or shift by more than 100000"},
		{"nested", "await 1; " + nest(300), "limit script_source 1:0 script: line 1: nested more than 256 deep"},
	}
	for place, run := range places {
		for _, c := range cases {
			t.Run(place+"/"+c.name, func(t *testing.T) {
				_, err := run(newFakeHost(), Limits{}, "t.js", c.source, false, nil, nil)
				if got := placed(err); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		}
	}
}

// TestAwaitLimits breaks limits after an await, where the runtime could take a breach for
// a refused promise, and where the script could catch it.
func TestAwaitLimits(t *testing.T) {
	cases := []struct {
		source, want string
		limits       Limits
	}{
		{"await 1; for (;;) {}", "limit script_timeout", Limits{Wall: 1 << 26}},
		{"for (;;) await 1", "limit script_timeout", Limits{Wall: 1 << 26}},
		{"for (;;) { try { await Noop() } catch (e) {} }", "limit script_calls", Limits{Calls: 10}},
		{"for (;;) await Noop()", "limit script_calls", Limits{Calls: 10}},
		{"await 1; const a = []; for (;;) a.push(('abcdefgh' + a.length).repeat(1000))", "limit script_memory", Limits{Memory: 20 << 20}},
		{"await 1; 'x'.repeat(1000)", "limit script_output", Limits{Output: 100}},
	}
	for place, run := range places {
		for _, c := range cases {
			t.Run(place+"/"+c.source, func(t *testing.T) {
				_, err := run(newFakeHost(), c.limits, "t.js", c.source, false, nil, nil)
				var f *fault.Error
				if !errors.As(err, &f) || f.Kind.String()+" "+f.Code.String() != c.want {
					t.Errorf("got %v, want %s", err, c.want)
				}
			})
		}
	}
}

// TestAwaitStack holds the stack of a failure after an await, from the innermost line.
func TestAwaitStack(t *testing.T) {
	for place, run := range places {
		_, err := run(newFakeHost(), Limits{}, "t.js", "await 1; outer()\nfunction outer() {\n inner() }\nfunction inner() { Fail(null, {ref: 'q'}) }", false, nil, nil)
		var at *Error
		if !errors.As(err, &at) {
			t.Fatalf("%s: %v", place, err)
		}
		want := "at inner (t.js:4:24)\nat outer (t.js:3:7)\nat t.js:1:15\n"
		if got := at.Trace(); got != want {
			t.Errorf("%s: got\n%swant\n%s", place, got, want)
		}
	}
}

// placed is an error with its kind, code and place.
func placed(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	var at *Error
	message := f.Message
	if errors.As(err, &at) {
		message = at.Err.Error()
	}
	return fmt.Sprintf("%s %s %d:%d %s", f.Kind, f.Code, f.Line, f.Column, message)
}

func nest(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = '['
	}
	return string(text)
}
