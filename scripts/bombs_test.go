package scripts

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
)

// bombs are scripts that would kill or hang the process they run in.
var bombs = []struct {
	name, source string
	codes        string // that the end may have
}{
	{"loop", "for (;;) {}", "script-timeout"},
	{"while", "while (true);", "script-timeout"},
	{"catch loop", "for (;;) { try { throw 1 } catch (e) { continue } finally { continue } }", "script-timeout"},
	{"microtasks", "const f = () => Promise.resolve().then(f); f()", "script-timeout script-memory"},
	{"async loop", "(async () => { for (;;) await null })()", "script-timeout script-memory"},
	{"generator loop", "function* g() { for (;;) yield 1 } for (const x of g());", "script-timeout"},
	{"recursion", "function f() { return 1 + f() } f()", "script-stack"},
	{"caught recursion", "function f() { try { f() } catch (e) { f() } } f()", "script-stack script-timeout"},
	{"yield recursion", "function* f() { yield* f() } [...f()]", "script-stack script-timeout script-memory"},
	{"getter recursion", "const o = { get a() { return this.a } }; o.a", "script-stack"},
	{"proxy recursion", "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x", "script-stack script-timeout"},
	{"sort recursion", "function f() { [2, 1].sort(f) } f()", "script-stack script-timeout"},
	{"map recursion", "function f() { [1].map(f) } f()", "script-stack script-timeout"},
	{"replace recursion", "function f() { 'a'.replace(/a/, f) } f()", "script-stack script-timeout"},
	{"apply recursion", "function f() { f.apply(null, []) } f()", "script-stack script-timeout"},
	{"toString recursion", "const o = { toString() { return '' + o } }; '' + o", "script-stack script-timeout"},
	{"new recursion", "function F() { new F() } new F()", "script-stack"},
	{"class recursion", "class A { constructor() { new A() } } new A()", "script-stack"},
	{"JSON depth", "JSON.parse('['.repeat(5e6))", "script-stack script-memory script-timeout"},
	{"JSON result depth", "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; JSON.stringify(a)", "script-stack script-memory script-timeout"},
	{"array text depth", "let a = []; for (let i = 0; i < 2e6; i++) a = [a]; String(a)", "script-stack script-memory script-timeout"},
	{"flat", "let a = []; for (let i = 0; i < 2e6; i++) a = [a]; a.flat(Infinity)", "script-stack script-memory script-timeout"},
	{"eval depth", "eval('['.repeat(1e6))", "script-stack script-memory script-timeout"},
	{"Function depth", "new Function('('.repeat(1e6))", "script-stack script-memory script-timeout"},
	{"eval arrows", "let s = '1'; for (let i = 0; i < 40; i++) s = '(a=' + s + ')=>1'; eval(s)", "script-timeout"},
	{"eval quadratic", "eval('a+'.repeat(2e5) + '1')", "script-timeout script-stack script-memory"},
	{"growth", "const a = []; for (;;) a.push({})", "script-memory script-timeout"},
	{"doubling", "let s = 'x'; for (;;) s += s", "script-memory script-crash script-timeout"},
	{"repeat", "const a = []; for (;;) a.push('x'.repeat(2 ** 27))", "script-memory script-timeout"},
	{"huge repeat", "'x'.repeat(2 ** 31 - 2).length", "script-memory script-crash"},
	{"padStart", "'x'.padStart(2 ** 31 - 2).length", "script-memory script-crash"},
	{"ArrayBuffer", "new ArrayBuffer(8e9)", "script-memory script-crash"},
	{"ArrayBuffers", "const a = []; for (;;) a.push(new ArrayBuffer(1e7))", "script-memory script-timeout"},
	{"fill", "new Array(1e8).fill(1)", "script-memory script-timeout script-crash"},
	{"huge fill", "new Array(1e9).fill(1)", "script-memory script-timeout script-crash"},
	{"join", "new Array(1e8).join('xxxx').length", "script-memory script-timeout script-crash"},
	{"sparse sort", "new Array(4294967295).sort()", "script-memory script-timeout script-crash"},
	{"sparse indexOf", "new Array(4294967295).indexOf(1)", "script-timeout"},
	{"sparse reverse", "new Array(4294967295).reverse()", "script-timeout script-memory"},
	{"spread", "[...new Array(1e8)].length", "script-memory script-timeout script-crash"},
	{"from", "Array.from({ length: 1e9 }).length", "script-memory script-timeout script-crash"},
	{"replace growth", "'a'.repeat(1e7).replace(/a/g, 'x'.repeat(100)).length", "script-memory script-timeout script-crash"},
	{"big power", "7n ** 20000000n; 1", "script-source"},
	{"big shift", "1n << 100000000000n; 1", "script-source"},
	{"big tower", "((9n ** 99999n) ** 99999n); 1", "script-source"},
	{"big sum", "2n ** (99999n * 99999n); 1", "script-source"},
	{"big run-time power", "let n = 20000000n; 7n ** n; 1", "script-timeout script-memory"},
	{"big factorial", "let n = 1n; for (let i = 1n; ; i++) n *= i ** 50n", "script-timeout script-memory"},
	{"backtracking", "/^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')", "script-timeout"},
	{"backreference", "/^(a+)+\\1$/.test('a'.repeat(40) + 'b')", "script-timeout"},
	{"giant pattern", "new RegExp('(' + 'a?'.repeat(1e6) + ')'.repeat(1)).test('a')", "script-timeout script-memory script-error script-crash"},
	{"console", "for (;;) console.log('x'.repeat(1000))", "script-timeout"},
	{"calls", "for (;;) Noop()", "script-calls script-timeout"},
	{"questions", "for (;;) ctx.x = typeof nothing", "script-timeout script-calls script-memory"},
	{"big parameter", "Noop('x'.repeat(1e7))", "script-output"},
	{"big result", "'x'.repeat(1e7)", "script-output"},
	{"wide result", "new Array(1e7)", "script-output"},
	{"source nesting", strings.Repeat("[", 100_000), "script-source"},
	{"source braces", strings.Repeat("{", 100_000), "script-source"},
	{"source size", strings.Repeat("x;", 200_000), "script-source"},
	{"source arrows", "(a=" + strings.Repeat("(a=", 30) + "1" + strings.Repeat(")=>1", 30) + ")=>1", "script-source"},
	{"source chain", strings.Repeat("x=>", 20_000) + "1", "script-source"},
	{"source sum", strings.Repeat("a+", 64_000) + "1", "script-source"},
	{"source optional chain", "a" + strings.Repeat("?.a", 20_000), "script-source"},
	{"source unary", strings.Repeat("!", 100_000) + "1", "script-source"},
	{"source template", strings.Repeat("`${", 1000), "script-source"},
}

// TestBombs runs every bomb in a worker: each ends with its own error in time, the
// server neither dies nor grows, and the next script runs.
func TestBombs(t *testing.T) {
	const wall = 400 * time.Millisecond
	r := New(Options{Worker: self(), Limits: Limits{Wall: wall, Spares: 2, QueueWait: 5 * time.Second}})
	defer r.Close()
	patient := New(Options{Worker: self(), Limits: Limits{Wall: 10 * time.Second, QueueWait: 5 * time.Second}}) // for bombs that end before any limit of time
	defer patient.Close()
	n := newNames(fakeOps)
	h := newFakeHost()
	h.doc("/in")
	run := func(r *Runner, source string) (any, error) {
		return r.runInWorker(context.Background(), "bob", h, n, job{file: "bomb.js", source: source}, nil, nil)
	}
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			before := heapInUse()
			started := time.Now()
			by := patient
			if strings.Contains(b.codes, "script-timeout") {
				by = r
			}
			v, err := run(by, b.source)
			took := time.Since(started)
			var f *fault.Error
			if !errors.As(err, &f) {
				t.Fatalf("no error: %v", v)
			}
			if !strings.Contains(b.codes, f.Code.String()) || f.Code == 0 {
				t.Errorf("ended with %s (%s: %v), want one of %s", f.Code, f.Kind, err, b.codes)
			}
			if f.Code != fault.CodeScriptError && f.Kind != fault.Limit {
				t.Errorf("kind %s of %v, want limit", f.Kind, err)
			}
			if took > wall+grace+10*time.Second { // room for a busy machine
				t.Errorf("took %s", took)
			}
			if grown := int64(heapInUse()) - int64(before); grown > 64<<20 {
				t.Errorf("the server grew by %s", bytesText(grown))
			}
			if v, err := run(by, "6 * 7"); err != nil || v != int64(42) {
				t.Errorf("the next script: %v, %v", v, err)
			}
		})
	}
}

// TestBombsInProcess runs those that a deployed script is guarded against.
func TestBombsInProcess(t *testing.T) {
	guarded := map[string]bool{}
	for name := range strings.SplitSeq("loop,while,catch loop,async loop,generator loop,recursion,getter recursion,proxy recursion,sort recursion,"+
		"map recursion,replace recursion,apply recursion,toString recursion,new recursion,class recursion,JSON depth,eval depth,Function depth,growth,repeat,"+
		"huge repeat,padStart,ArrayBuffer,fill,huge fill,join,sparse sort,sparse indexOf,sparse reverse,from,replace growth,console,calls,big parameter,"+
		"big result,wide result,big power,big shift,big tower,big sum,source nesting,source braces,source arrows,source chain,source sum,source optional chain,source unary,source template", ",") {
		guarded[name] = true
	}
	for _, b := range bombs {
		if !guarded[b.name] {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			started := time.Now()
			v, err := inProcess(newFakeHost(), Limits{Wall: 300 * time.Millisecond, Memory: 64 << 20}, "bomb.js", b.source, false, nil, nil)
			if err == nil {
				t.Errorf("no error: %v", v)
			}
			if k := fault.Of(err); k != fault.Limit && k != fault.Invalid {
				t.Errorf("kind %s of %v", k, err)
			}
			if took := time.Since(started); took > 10*time.Second { // unguarded: half a minute, or for ever
				t.Errorf("took %s", took)
			}
			runtime.GC()
		})
	}
}
