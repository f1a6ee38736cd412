package scripts

import (
	"strings"
	"testing"
)

// TestSpread finds the calls whose parameters are passed as arguments: where the names can mean nothing but an operation.
func TestSpread(t *testing.T) {
	for source, want := range map[string]int{
		`Document.Save(input, {a: 1})`:                              1,
		`Document.Save(input, {"a-b": 1, c: [2], d})`:               1,
		`Document.Routing.Resume.Step(null, {a: {b: 1}})`:           1,
		`function run(x) { return () => Document.Save(x, {a: 1}) }`: 1,
		`Document.Save(Document.Get(null, {value: "/a"}), {a: 1})`:  2,
		`Document.Save(input)`:                                      0,
		`Document.Save(input, {})`:                                  0,
		`Document.Save(input, p)`:                                   0,
		`Document.Save(...input, {a: 1})`:                           0,
		`Document.Save(input, {a: 1}, 2)`:                           0,
		`Document.Save(input, {...p})`:                              0,
		`Document.Save(input, {[a]: 1})`:                            0,
		`Document.Save(input, {a() {}})`:                            0,
		`Document.Save(input, {get a() { return 1 }})`:              0,
		`Document.Save(input, {a: 1, a: 2})`:                        0,
		`Document.Save(input, {__proto__: p})`:                      0,
		`Document.Save(input, {7: 1})`:                              0,
		`Document.Save.call(null, {a: 1})`:                          0,
		`Document.Nope(input, {a: 1})`:                              0,
		`JSON.stringify(input, {a: 1})`:                             0,
		`Proxy.Source(input, {a: 1})`:                               0, // the language has a Proxy, too
		`Echo(input, {a: 1})`:                                       0,
		`Document?.Save(input, {a: 1})`:                             0,
		`let Document = x; Document.Save(input, {a: 1})`:            0,
		`function f(Document) { Document.Save(input, {a: 1}) }`:     0,
		`const {Document} = x; Document.Save(input, {a: 1})`:        0,
		`f({Document}); Document.Save(input, {a: 1})`:               0,
		`class Document {}; Document.Save(input, {a: 1})`:           0,
		`try { } catch (Document) { Document.Save(input, {a: 1}) }`: 0,
		`with (x) { Document.Save(input, {a: 1}) }`:                 0,
		`eval(x); Document.Save(input, {a: 1})`:                     0,
		`import { a } from "m"; Document.Save(input, {a: 1})`:       0,
	} {
		tree, err := parse("t.js", source)
		if err != nil {
			t.Fatal(source, err)
		}
		if got := spread(tree, benchNames); len(got.calls) != want {
			t.Errorf("%s: %d calls, want %d", source, len(got.calls), want)
		}
	}
}

// TestLiterals passes parameters in ways that give the same as if each were an object.
func TestLiterals(t *testing.T) {
	playAll(t, []struct{ name, source, want string }{
		{"values", `Document.Save(null, {a: 1, b: "é\u{1F600}", c: 1.5, d: true, e: null, f: [1, {g: 2}], h: new Date(0), i: 2**53, j: -0.25})`, `{"a":1,"b":"é😀","c":1.5,"d":true,"e":null,"f":[1,{"g":2}],"h":"1970-01-01T00:00:00Z","i":9007199254740992,"j":-0.25}`},
		{"left out", `Document.Save(null, {a: undefined, b: () => 1, "c": 2})`, `{"b":null,"c":2}`},
		{"short", `const b = 2; Document.Save(null, {b})`, `{"b":2}`},
		{"document", `Document.Save(null, {d: input}).d === input`, `true`},
		{"order", `const s = []; const f = x => { s.push(x); return x }; Document.Save(f(null), {a: f(1), b: f(2)}); s`, `[null,1,2]`},
		{"getter calls", `const o = {get x() { return Document.Save(null, {y: 3}).y }}; Document.Save(null, {a: {get b() { return o.x }}, c: 4})`, `{"a":{"b":3},"c":4}`},
		{"other place", `const save = Document.Save; [Document.Save(null, {a: 1}).a, save(null, {a: 2}).a, [3].map(a => Document.Save(null, {a}).a)[0], Document.Save.call(null, null, {a: 4}).a]`, `[1,2,3,4]`},
		{"replaced", `try { Object.defineProperty(globalThis, "Document", {value: {Save: (i, p) => p}}) } catch (e) {} ; Document.Save(null, {a: 1})`, `{"a":1}`},
		{"assigned", `globalThis.Document = {Save: (i, p) => 7}; Document.Save(null, {a: 1})`, `{"a":1}`},
		{"error", `try { Document.Save(null, {a: Symbol()}) } catch (e) { e.message }`, `"script: a symbol cannot be returned from a script"`},
		{"loop", `let n = 0; for (let i = 0; i < 300; i++) n += Document.Save(null, {i, s: "x" + i}).i; n`, `44850`},
	})
	for place, run := range places {
		for source, want := range map[string]string{
			`function run() { Test.Noop(null, {a: Symbol()}) }`:                                                                          "t.js:1:27: a symbol cannot",
			`function run() { for (let i = 0; ; i++) Test.Noop(i, {a: "` + strings.Repeat("x", 60) + `"}) }`:                             "more than 50 calls",
			`function run() { Test.Noop(null, {a: "x".repeat(3000)}) }`:                                                                  "a value of more than 2048 bytes",
			`function run() { Test.Noop("x".repeat(3000), {a: 1}) }`:                                                                     "a value of more than 2048 bytes",
			"function run() {\n  Test.Noop(1, {a: 1})\n  f(5)\n}\nfunction f(n) {\n  if (n) return f(n - 1)\n  Fail(null, {ref: 'q'}) }": "t.js:7:7: Fail: document q",
		} {
			if _, err := run(newFakeHost(), Limits{Calls: 50, Output: 2048}, "t.js", source, true, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v, want %s", place, source, err, want)
			}
		}
	}
}
