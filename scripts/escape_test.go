package scripts

import (
	"context"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// payloads try to reach something outside the script in the ways that broke other
// sandboxes. Each gives "safe", throws, or is caught here.
var payloads = []string{
	`this.constructor.constructor("return process")()`,
	`globalThis.constructor.constructor("return this")().process`,
	`(function(){}).constructor("return require('fs')")()`,
	`(() => {}).constructor("return globalThis.process")()`,
	`(async () => {}).constructor("return process")()`,
	`(function*(){}).constructor("return process")().next().value`,
	`Object.getPrototypeOf(function*(){}).constructor("return process")().next().value`,
	`[].constructor.constructor("return process")()`,
	`"".sub.constructor("return process")()`,
	`Reflect.construct(Function, ["return process"])()`,
	`Reflect.apply(Function, null, ["return process"])()`,
	`new Proxy(Function, {}).constructor("return process")()`,
	`eval("process")`,
	`(0, eval)("process")`,
	`globalThis["ev" + "al"]("process")`,
	"`${globalThis.process}`.constructor.constructor('return process')()",
	`require("fs")`, `module.exports`, `exports`, `process.env`, `process.mainModule.require("child_process")`, `Deno.run`, `Bun.spawn`,
	`fetch("http://127.0.0.1/")`, `new XMLHttpRequest()`, `new WebSocket("ws://127.0.0.1")`, `importScripts("x")`, `Java.type("java.lang.Runtime")`,
	`Packages.java.lang.System`, `java.lang.Runtime.getRuntime()`, `std.loadFile("/etc/passwd")`, `os.getenv("HOME")`, `load("/etc/passwd")`,
	`console.log.constructor("return process")()`,
	`console._stdout`, `console.log.caller`, `console.log.arguments`,
	`Document.Create.constructor("return process")()`,
	`Document.constructor.constructor("return process")()`,
	`input.constructor.constructor("return process")()`,
	`input.toJSON.constructor("return process")()`,
	`input.__proto__.constructor.constructor("return process")()`,
	`ctx.constructor.constructor("return process")()`,
	`ctx.__proto__.__proto__`,
	`CurrentUser.constructor.constructor("return process")()`,
	`Session.getDocument.constructor("return process")()`,
	`try { Fail(null, {}) } catch (e) { e.constructor.constructor("return process")() }`,
	`try { Fail(null, {}) } catch (e) { e.value }`,
	`try { Fail(null, {}) } catch (e) { e.value.Error() }`,
	`try { null.x } catch (e) { e.constructor.constructor("return process")() }`,
	`Error.prepareStackTrace = (e, s) => s[0].getThis(); typeof new Error().stack === "string" ? null : 1`,
	`Error.captureStackTrace({}).x`,
	`arguments.callee.caller`,
	`(function f() { return f.caller })()`,
	`Promise.resolve().constructor.constructor("return process")()`,
	`Symbol.iterator.constructor.constructor("return process")()`,
	`input.Export()`, `input.d`, `input.m`, `input.vm`, `input.host`, `input.ID()`, `input["ID"]()`, `input.Get("dc:title")`, `ctx.Vars`, `Document.m`, `Document.s.op`,
	`Document.Get(null, {value: "/x"}).d.props`,
	`input["file:content"].f.body`,
	`input["file:content"].Open()`,
	`CurrentDate.constructor.constructor("return process")()`,
	`globalThis.__proto__.Get("x")`,
	`Object.getPrototypeOf(globalThis).names`,
	`Object.getOwnPropertyDescriptor(globalThis, "vm").value`,
	`//# sourceMappingURL=file:///etc/passwd` + "\nprocess",
	`with ({}) { process }`,
	`delete globalThis.Object; Object`,
	`import("fs").x`,
}

// TestEscapes runs every payload in both places: nothing but plain values comes out, and
// never anything that only the server has.
func TestEscapes(t *testing.T) {
	for place, run := range places {
		for _, p := range payloads {
			h := newFakeHost()
			v, err := run(h, Limits{}, "escape.js", p, false, h.doc("/in"), nil)
			if err != nil {
				if text := err.Error(); strings.Contains(text, "catena/") || strings.Contains(text, ".go:") || strings.Contains(text, "root:") {
					t.Errorf("%s: %s: the error shows the server: %v", place, p, err)
				}
				continue
			}
			if v != nil && !reflect.DeepEqual(v, map[string]any{}) {
				t.Errorf("%s: %s: gave %#v", place, p, v)
			}
		}
	}
}

// TestReach walks over everything a script can reach from its globals and its handles:
// no value of Go is among it but those the runtime itself is made of.
func TestReach(t *testing.T) {
	l := DefaultLimits
	h := newFakeHost()
	m := newMachine(h, newNames(fakeOps, fakeReads...), &l)
	m.input = h.doc("/in")
	_ = m.vm.GlobalObject().GetOwnPropertyNames() // makes the runtime list its own globals
	m.program = &program{file: "t.js"}
	_, err := m.vm.RunString(`
		var seen = [globalThis, Document, Document.Create, Document.Routing, Echo, Session, CurrentUser, CurrentDate, Env, Fn, console, Console, ctx, params,
			input, input["file:content"], input.facets, List(null, {n: 2}), Value.Of(), input["dc:created"], Promise.resolve(1), function* () {}, async () => {}, Object.getPrototypeOf(globalThis)];
		try { Fail(null, {}) } catch (e) { seen.push(e) }
		try { null.x } catch (e) { seen.push(e) }
		try { console.log.call() ; new Document.Create() } catch (e) { seen.push(e) }`)
	if err != nil {
		t.Fatal(err)
	}
	w := reach{t: t, m: m, seen: map[*goja.Object]bool{}}
	w.value("seen", m.vm.Get("seen"), 0)
	if len(w.seen) < 500 {
		t.Errorf("walked over %d objects only", len(w.seen))
	}
}

type reach struct {
	t    *testing.T
	m    *machine
	seen map[*goja.Object]bool
}

var harmless = map[reflect.Type]bool{
	typeDocument: true, typeFile: true, typeContext: true, typeTime: true, typePromise: true, typePlain: true,
	reflect.TypeFor[*scope](): true, reflect.TypeFor[*documentShape](): true, reflect.TypeFor[*namespace](): true,
	reflect.TypeFor[[]any](): true, reflect.TypeFor[[][2]any](): true, reflect.TypeFor[func(goja.FunctionCall) goja.Value](): true,
	reflect.TypeFor[func(goja.ConstructorCall) *goja.Object](): true, reflect.TypeFor[string](): true, reflect.TypeFor[bool](): true, reflect.TypeFor[int64](): true, reflect.TypeFor[float64](): true,
	reflect.TypeFor[*big.Int](): true, reflect.TypeFor[goja.ArrayBuffer](): true, reflect.TypeFor[goja.Proxy](): true,
}

func (w *reach) value(path string, v goja.Value, depth int) {
	obj, ok := v.(*goja.Object)
	if !ok {
		if s, isText := v.(goja.String); isText && (strings.Contains(s.String(), "catena/") || strings.Contains(s.String(), ".go:")) {
			w.t.Errorf("%s: shows the server: %s", path, s)
		}
		return
	}
	if w.seen[obj] || depth > 1000 {
		return
	}
	w.seen[obj] = true
	if typ := obj.ExportType(); typ != nil && !harmless[typ] {
		w.t.Errorf("%s: a value of Go, %s (%s)", path, typ, obj.ClassName())
	}
	if ex := w.m.vm.Try(func() {
		for _, k := range obj.GetOwnPropertyNames() {
			_ = w.m.vm.Try(func() { w.value(path+"."+k, obj.Get(k), depth+1) })
		}
		for _, s := range obj.Symbols() {
			_ = w.m.vm.Try(func() { w.value(path+"["+s.String()+"]", obj.GetSymbol(s), depth+1) })
		}
	}); ex != nil {
		w.t.Logf("%s: %v", path, ex)
	}
	if proto := obj.Prototype(); proto != nil {
		w.value(path+".__proto__", proto, depth+1)
	}
}

// TestIsolation shows that a worker keeps nothing of a run for the next one.
func TestIsolation(t *testing.T) {
	r := New(Options{Worker: self(), Limits: Limits{Spares: 1}})
	defer r.Close()
	n := newNames(fakeOps, fakeReads...)
	run := func(user, source string) any {
		t.Helper()
		v, err := r.submit(context.Background(), user, newFakeHost(), n, newJob("t.js", source, false), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	run("bob", `Array.prototype.leak = 1; Object.prototype.leak = 2; globalThis.leak = 3; ctx.leak = 4; JSON.parse = () => 5; 1`)
	got, _ := json.Marshal(run("bob", `[typeof [].leak, typeof ({}).leak, typeof leak, "leak" in ctx, JSON.parse("6")]`))
	if string(got) != `["undefined","undefined","undefined",false,6]` {
		t.Errorf("something stayed: %s", got)
	}
	bob := r.pool.idle[0].PID()
	run("eve", `1`)
	for _, p := range r.pool.idle {
		if p.owner == "eve" && p.PID() == bob {
			t.Error("eve's script ran in bob's worker")
		}
	}
	run("bob", `1`)
	if pid := r.pool.idle[len(r.pool.idle)-1].PID(); pid != bob {
		t.Errorf("bob's worker %d was not used again but %d", bob, pid)
	}
}
