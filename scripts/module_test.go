package scripts

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"catena/engine"
	"catena/engine/library"
	"catena/storage/fault"
)

// TestModuleText reads imports and exports of texts, and leaves everything else at its place.
func TestModuleText(t *testing.T) {
	show := func(m *moduleText) string {
		var parts []string
		for _, d := range m.imports {
			text := d.from
			for _, n := range d.names {
				text += " " + n.name + ">" + n.local + n.as
			}
			parts = append(parts, text)
		}
		for _, e := range m.exports {
			parts = append(parts, strings.TrimSpace("export "+e.name+"="+e.local+" "+e.kind+" "+e.params))
		}
		return strings.Join(parts, "; ")
	}
	for source, want := range map[string]string{
		`let a = 1`:                                                               "",
		`import { total } from "billing"`:                                         "billing total>total",
		`import{a as b,default as c}from'm/n';b()`:                                "m/n a>b default>c",
		`import "once";`:                                                          "once",
		`import all from "m"; import * as n from "m"`:                             "m default>all; m *>n",
		`import d, { a } from "m" // why`:                                         "m default>d a>a",
		`import d, * as n from "m"`:                                               "m default>d *>n",
		"import {\n  a, // one\n  b,\n} from \"m\"":                               "m a>a b>b",
		`import { as } from "m"`:                                                  "m as>as",
		`export function f(a, b) { return a }`:                                    "export f=f function a, b",
		`export async function* g({ a }, b = 1) {}`:                               "export g=g function ...all",
		`export class C extends D {}`:                                             "export C=C class",
		`export const rate = 19`:                                                  "export rate=rate const",
		`const a = 1, b = 2; export { a, b as c, a as default }`:                  "export a=a; export c=b; export default=a",
		`export default function () {}`:                                           "export default=$default function",
		`export default function named(x) {}`:                                     "export default=named function x",
		`export default class extends C {}`:                                       "export default=$default class",
		`export default 1 + 2`:                                                    "export default=$default",
		`export { a, b as c } from "m"`:                                           "m a>a b>c",
		`export * from "m"; export * as n from "m"`:                               "m *>*; m *>n",
		`const s = "import { a } from 'm'"; f(/export/, ` + "`export ${s}`" + `)`: "",
		`o.import = 1; o.export(); importer(); { let exports = 2 }`:               "",
	} {
		m, err := splitModule(source)
		if err != nil || show(m) != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", source, show(m), err, want)
			continue
		}
		if len(m.code) != len(source) || strings.Count(m.code, "\n") != strings.Count(source, "\n") || strings.Contains(m.code, "import {") && !strings.Contains(source, `"import`) {
			t.Errorf("%q became %q", source, m.code)
		}
	}
}

// TestModuleMistakes names what is wrong in imports and exports, with its place.
func TestModuleMistakes(t *testing.T) {
	for source, want := range map[string]string{
		`import("m")`:                          "1:1: import: write import",
		"\n  import.meta":                      "2:3: import: write import",
		`import { a } "m"`:                     `1:13: from "module" is missing`,
		`import { a from "m"`:                  "1:12: the braces are not closed",
		`import { , } from "m"`:                "1:10: a name is missing",
		`import a from m`:                      "1:15: the name of a module is missing",
		`import a, from "m"`:                   "1:10: import: a name, *, or { is missing",
		`import * from "m"`:                    "1:8: import: as is missing",
		`import { a } from "m" f()`:            "1:22: a line break or ; is missing",
		`export let a = 1`:                     "1:1: export let: what changes later",
		`export var a = 1`:                     "1:1: export var: what changes later",
		`export const { a } = b`:               "1:1: export: a function, class or const with a name",
		`export 1`:                             "1:1: export: a function, class or const with a name",
		`export default const a = 1`:           "1:8: export default: a value is missing, not const",
		"export\ndefault 1":                    "1:1: export default must be on one line",
		"let a;\nexport const b = 1, c = 2":    "2:8: export const: one name each",
		`export const a = 1; export default }`: "1:36: Unexpected token }",
		`export {a} } f() {`:                   "m.js:1:14: Unexpected identifier",
		`import { a } from "m"; const a = 1`:   "already been declared",
	} {
		_, err := parseModule("m.js", source)
		if err == nil {
			_, _, err = compileModule("m.js", source)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", source, err, want)
		}
	}
	for source, want := range map[string]string{
		"let a = 1\nexport { a }":                      "2:1: export: only modules export",
		"import { a } from \"m\"\nlet a = 1":           "1:10: Identifier 'a' has already been declared",
		"import { a, b as a } from \"m\"":              "1:13: Identifier 'a' has already been declared",
		"import { run } from \"m\"\nfunction run() {}": "1:10: Identifier 'run' has already been declared",
	} {
		if _, err := compile("s.js", source, true, benchNames); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", source, err, want)
		}
	}
	if _, err := compile("s.js", "import { a } from \"m\"\nfunction f() { const a = 1; return a }\nlet { b: c } = {}", true, benchNames); err != nil {
		t.Errorf("a name within a function: %v", err)
	}
}

// shelf is a world with modules.
func shelf(t *testing.T) *world {
	w := newWorld(t, Options{})
	w.must2(w.e.Swap(func(s *engine.Set) (*engine.Set, error) { return s.With(w.r.Modules().Ops()) }))
	return w
}

func (w *world) must2(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) module(name, code string) {
	w.t.Helper()
	w.must("Module.Save", nil, map[string]any{"source": "/** @module " + name + " */\n" + code, "name": name + ".js"})
}

func (w *world) refuses(op, source, want string) {
	w.t.Helper()
	_, err := w.call(op, nil, map[string]any{"source": source, "name": "x.js"})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
		w.t.Errorf("%s %q\ngot  %v\nwant %s", op, source, err, want)
	}
}

// TestModules has scripts import from modules in every way, in the versions that are deployed when they run.
func TestModules(t *testing.T) {
	w := shelf(t)
	w.module("money", "export const rate = 19;\nexport default function (n) { return n + ' EUR' }\n")
	w.module("billing", "import format, { rate } from 'money'\nconst rows = [];\nexport function total(list) { return list.reduce((a, b) => a + b, 0) * (100 + rate) / 100 }\nexport class Line { constructor(n) { this.n = n } get text() { return format(this.n) } }\nexport { rate as tax, rows }\nexport * from 'money'\nexport function folder(name) { return Document.Create('/ws', {type: 'Folder', name}).path }\n")
	w.must("Script.Save", nil, map[string]any{"name": "uses.js", "source": "/**\n * @operation Test.Uses\n * @description Uses modules.\n * @output object\n */\nimport money, * as m from 'money'\nimport { total, Line, tax, rate, rows, folder } from \"billing\"\nfunction run(input, params) {\n  rows.push(1); return [total([100]), new Line(3).text, tax, rate, m.rate, money(1), rows.length, Object.keys(m).join(), folder('f' + rows.length)]\n}\n"})
	got, err := json.Marshal(w.must("Test.Uses", nil, nil))
	if want := `[119,"3 EUR",19,19,19,"1 EUR",1,"rate,default","/ws/f1"]`; err != nil || string(got) != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
	// Every run has modules of its own, and the next one has the next version.
	w.module("money", "export const rate = 7;\nexport default n => n + ' CHF';\n")
	got, err = json.Marshal(w.must("Test.Uses", nil, nil))
	if err != nil || !strings.HasPrefix(string(got), `[107,"3 CHF",7,7,7,"1 CHF",1,`) {
		t.Errorf("the next version: %s %v", got, err)
	}
	r, err := w.e.Run(t.Context(), engine.Call{Op: "Test.Uses", As: w.e.System(), EntryPoint: engine.REST, Trace: true})
	w.must2(err)
	if said := r.Trace.Console; len(said) != 2 || said[0] != "imports module money, version 2" || said[1] != "imports module billing, version 1" {
		t.Errorf("the run says %q", said)
	}
	outline := w.must("Module.Outline", nil, nil).([]moduleShown)
	for i := range outline {
		outline[i].Time = time.Time{}
	}
	got, err = json.Marshal(outline)
	w.must2(err)
	if want := `[{"name":"billing","version":1,"author":"` + outline[0].Author + `","time":"0001-01-01T00:00:00Z","exports":[{"name":"Line","kind":"class"},{"name":"folder","kind":"function","params":"name"},{"name":"rate"},` +
		`{"name":"rows"},{"name":"tax"},{"name":"total","kind":"function","params":"list"}],"usedBy":[{"kind":"script","name":"Test.Uses","names":["Line","folder","rate","rows","tax","total"]}]},` +
		`{"name":"money","version":2,"author":"` + outline[0].Author + `","time":"0001-01-01T00:00:00Z","exports":[{"name":"default"},{"name":"rate","kind":"const"}],` +
		`"usedBy":[{"kind":"script","name":"Test.Uses","names":["*","default"]},{"kind":"module","name":"billing","names":["*","default","rate"]}]}]`; string(got) != want {
		t.Errorf("outline\n%s\nwant\n%s", got, want)
	}
	types, err := w.must("Script.Types", nil, nil).(*engine.Blob).Bytes(1 << 30)
	w.must2(err)
	for _, want := range []string{"declare module \"billing\" {\n", "  export function total(list?: any): any;\n", "  export class Line {\n", "  export const tax: any;\n", "  export const rate: any;\n", "declare module \"money\" {\n  const value: any;\n  export default value;\n"} {
		if !strings.Contains(string(types), want) {
			t.Errorf("the typings lack %q", want)
		}
	}
}

// TestModuleChecks refuses texts whose imports cannot be right, and modules that others would miss something of.
func TestModuleChecks(t *testing.T) {
	w := shelf(t)
	w.module("money", "export const rate = 19;\n")
	w.module("billing", "import { rate } from 'money'\nexport function total(n) { return n * rate }\n")
	const head = "/**\n * @operation Test.Uses\n * @description Uses.\n */\n"
	w.must("Script.Save", nil, map[string]any{"source": head + "import { total } from 'billing'\nfunction run() { total(1) }\n"})
	for _, c := range []struct{ op, source, want string }{
		{"Script.Save", head + "import { totl } from 'billing'\nfunction run() {}\n", "x.js:5:10: module \"billing\" does not export totl, perhaps total"},
		{"Script.Save", head + "import { total } from 'biling'\nfunction run() {}\n", "x.js:5:23: unknown module \"biling\", perhaps billing"},
		{"Script.Save", head + "import total from 'billing'\nfunction run() {}\n", "x.js:5:8: module \"billing\" does not export default"},
		{"Script.Save", head + "import { total } from 'billing'\nfunction run() { totl(1) }\n", "unknown operation or function totl"},
		{"Module.Save", "export const a = 1\n", "x.js:1:1: a module must begin with a comment /** … @module name … */"},
		{"Module.Save", "/**\n * @module 7up\n */\n", "x.js:2:12: name 7up: must begin with a letter"},
		{"Module.Save", "/** @module a */\nexport function f() { return Document.Creat('/', {}) }\n", "x.js:2:30: unknown operation Document.Creat, perhaps Document.Create"},
		{"Module.Save", "/** @module a */\nexport function f() { return Document.Create('/', {typ: 'File'}) }\n", "perhaps type"},
		{"Module.Save", "/** @module a */\nimport { b } from 'a'\nexport const b = 1\n", "unknown module \"a\""},
		{"Module.Save", "/** @module a */\nexport let b = 1\n", "x.js:2:1: export let: what changes later"},
		{"Module.Save", "/** @module money */\nimport { total } from 'billing'\nexport const rate = total(1)\n", "x.js:2:23: module \"money\" imports itself"},
		{"Module.Save", "/** @module money */\nexport const rates = 19\n", "export rate is missing: module billing imports it"},
		{"Module.Save", "/** @module billing */\nexport const totals = 19\n", "export total is missing: script Test.Uses imports it"},
	} {
		w.refuses(c.op, c.source, c.want)
	}
	problems := w.must("Module.Check", nil, map[string]any{"source": "/** @module a */\nimport { rat } from 'money'\n", "name": "a.js"}).([]library.Problem)
	if len(problems) != 1 || problems[0].Line != 2 || problems[0].Column != 10 || problems[0].Nearest != "rate" {
		t.Errorf("%+v", problems)
	}
	w.must("Module.Delete", nil, map[string]any{"name": "money"})
	if _, err := w.call("Test.Uses", nil, nil); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), `modules/billing:2:22: unknown module "money"`) {
		t.Errorf("a module that is gone: %v", err)
	}
	w.must("Module.Restore", nil, map[string]any{"name": "money", "version": 1})
	w.must("Test.Uses", nil, nil)
}

// TestModuleLimits: what a module does is bounded as what a script does, and its errors name it and its line.
func TestModuleLimits(t *testing.T) {
	w := shelf(t)
	w.module("deep", "export function fail() {\n  throw new Error('no luck')\n}\nexport async function later() {\n  await null\n  throw new Error('later')\n}\nexport function missing() {\n  return Document.GetChild('/ws', {name: 'none'})\n}\nexport const strict = (function () { return this === undefined })();\n")
	w.module("outer", "import { fail } from 'deep'\nexport function fails() {\n  fail()\n}\n")
	w.module("endless", "while (true) {}\n")
	w.module("big", "/* "+strings.Repeat("x", 100_000)+" */\n")
	w.module("big2", "import 'big'\n/* "+strings.Repeat("x", 100_000)+" */\n")
	w.module("big3", "import 'big2'\n/* "+strings.Repeat("x", 100_000)+" */\n")
	w.r.limits.Wall = DefaultLimits.Wall / 20
	for _, c := range []struct {
		name, script, want string
		stack              []string
	}{
		{"thrown", "import { fails } from 'outer'\n\nfails()", "modules/deep:3:9: Error: no luck", []string{"fail modules/deep:3", "fails modules/outer:4", "<anonymous> script:3"}},
		{"rejected", "import { later } from 'deep'\nawait later()", "modules/deep:7:9: Error: later", nil},
		{"an operation", "import { missing } from 'deep'\nmissing()", "modules/deep:10:", []string{"missing modules/deep:10", "<anonymous> script:2"}},
		{"endless", "import 'endless'", "ran longer than", nil},
		{"large", "import 'big3'", "at most 262144 are allowed", nil},
		{"assigned", "import { strict } from 'deep'\n'use strict'\nfunction run() { 'use strict'; strict = 1 }", "script:3:", nil},
		{"unknown", "import { a } from 'none'", "script:1:19: unknown module \"none\"", nil},
		{"lacking", "import { faill } from 'deep'", "script:1:10: module \"deep\" does not export faill, perhaps fail", nil},
	} {
		_, err := w.call("RunScript", nil, map[string]any{"script": c.script})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
			continue
		}
		var failed *Error
		if c.stack == nil || !errors.As(err, &failed) {
			continue
		}
		var got []string
		for _, f := range failed.Stack {
			got = append(got, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
		}
		if !slices.Equal(got, c.stack) {
			t.Errorf("%s: stack %q, want %q", c.name, got, c.stack)
		}
	}
	// Nothing of a run stays for the next one.
	w.module("state", "export const seen = [];\n")
	for range 2 {
		w.must("RunScript", nil, map[string]any{"script": "import { seen } from 'state'\nif (seen.length) throw 1\nseen.push(1)"})
	}
}

// TestModuleFiles deploys the modules of a folder in an order in which each finds what it imports, and another server follows.
func TestModuleFiles(t *testing.T) {
	w := shelf(t)
	dir := fstest.MapFS{
		"a.js":   {Data: []byte("/** @module a */\nimport { b } from 'z'\nexport const c = b\n")},
		"z.js":   {Data: []byte("/** @module z */\nexport const b = 1\n")},
		"no.txt": {Data: []byte("?")},
	}
	changed, err := w.r.Modules().Sync(t.Context(), w.e, dir)
	if err != nil || !slices.Equal(changed, []string{"z", "a"}) {
		t.Errorf("%q %v", changed, err)
	}
	other := New(Options{Worker: self()})
	defer other.Close()
	for _, load := range []func() error{
		func() error { return other.Modules().Load(t.Context(), w.e) },
		func() error {
			w.module("z", "export const b = 2\n")
			return other.Modules().Refresh(t.Context(), w.e)
		},
	} {
		w.must2(load())
		if all := other.deployedModules(); len(all) != 2 || all["z"].Version.Version != w.r.deployedModules()["z"].Version.Version {
			t.Errorf("the other server has %v", all)
		}
	}
}

// FuzzModuleText never moves anything, whatever the text is.
func FuzzModuleText(f *testing.F) {
	for _, seed := range []string{`import { a as b } from "m"`, "export default class {}", "export * from 'm'", "import a, {", "export\n{a", "`${import}`/export/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		m, err := splitModule(source)
		if err != nil {
			return
		}
		if len(m.code) != len(source) || strings.Count(m.code, "\n") != strings.Count(source, "\n") {
			t.Errorf("%q became %q", source, m.code)
		}
	})
}
