package scripts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// bombs are scripts that would kill or hang the process they run in.
var bombs = []struct {
	name, source string
	codes        string // that the end may have
}{
	{"loop", "for (;;) {}", "script_timeout"},
	{"while", "while (true);", "script_timeout"},
	{"catch loop", "for (;;) { try { throw 1 } catch (e) { continue } finally { continue } }", "script_timeout"},
	{"microtasks", "const f = () => Promise.resolve().then(f); f()", "script_timeout script_memory"},
	{"async loop", "(async () => { for (;;) await null })()", "script_timeout script_memory"},
	{"generator loop", "function* g() { for (;;) yield 1 } for (const x of g());", "script_timeout"},
	{"recursion", "function f() { return 1 + f() } f()", "script_stack"},
	{"caught recursion", "function f() { try { f() } catch (e) { f() } } f()", "script_stack script_timeout"},
	{"yield recursion", "function* f() { yield* f() } [...f()]", "script_stack script_timeout script_memory"},
	{"getter recursion", "const o = { get a() { return this.a } }; o.a", "script_stack"},
	{"proxy recursion", "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x", "script_stack script_timeout"},
	{"sort recursion", "function f() { [2, 1].sort(f) } f()", "script_stack script_timeout"},
	{"map recursion", "function f() { [1].map(f) } f()", "script_stack script_timeout"},
	{"replace recursion", "function f() { 'a'.replace(/a/, f) } f()", "script_stack script_timeout"},
	{"apply recursion", "function f() { f.apply(null, []) } f()", "script_stack script_timeout"},
	{"toString recursion", "const o = { toString() { return '' + o } }; '' + o", "script_stack script_timeout"},
	{"new recursion", "function F() { new F() } new F()", "script_stack"},
	{"class recursion", "class A { constructor() { new A() } } new A()", "script_stack"},
	{"JSON depth", "JSON.parse('['.repeat(5e6))", "script_stack script_memory script_timeout"},
	{"JSON result depth", "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; JSON.stringify(a)", "script_stack script_memory script_timeout"},
	{"array text depth", "let a = []; for (let i = 0; i < 2e6; i++) a = [a]; String(a)", "script_stack script_memory script_timeout"},
	{"flat", "let a = []; for (let i = 0; i < 2e6; i++) a = [a]; a.flat(Infinity)", "script_stack script_memory script_timeout"},
	{"eval depth", "eval('['.repeat(1e6))", "script_stack script_memory script_timeout"},
	{"Function depth", "new Function('('.repeat(1e6))", "script_stack script_memory script_timeout"},
	{"eval arrows", "let s = '1'; for (let i = 0; i < 40; i++) s = '(a=' + s + ')=>1'; eval(s)", "script_timeout"},
	{"eval quadratic", "eval('a+'.repeat(2e5) + '1')", "script_timeout script_stack script_memory"},
	{"growth", "const a = []; for (;;) a.push({})", "script_memory script_timeout"},
	{"doubling", "let s = 'x'; for (;;) s += s", "script_memory script_crash script_timeout"},
	{"repeat", "const a = []; for (;;) a.push('x'.repeat(2 ** 27))", "script_memory script_timeout"},
	{"huge repeat", "'x'.repeat(2 ** 31 - 2).length", "script_memory script_crash"},
	{"padStart", "'x'.padStart(2 ** 31 - 2).length", "script_memory script_crash"},
	{"ArrayBuffer", "new ArrayBuffer(8e9)", "script_memory script_crash"},
	{"ArrayBuffers", "const a = []; for (;;) a.push(new ArrayBuffer(1e7))", "script_memory script_timeout"},
	{"fill", "new Array(1e8).fill(1)", "script_memory script_timeout script_crash"},
	{"huge fill", "new Array(1e9).fill(1)", "script_memory script_timeout script_crash"},
	{"join", "new Array(1e8).join('xxxx').length", "script_memory script_timeout script_crash"},
	{"sparse sort", "new Array(4294967295).sort()", "script_memory script_timeout script_crash"},
	{"sparse indexOf", "new Array(4294967295).indexOf(1)", "script_timeout"},
	{"sparse reverse", "new Array(4294967295).reverse()", "script_timeout script_memory"},
	{"spread", "[...new Array(1e8)].length", "script_memory script_timeout script_crash"},
	{"from", "Array.from({ length: 1e9 }).length", "script_memory script_timeout script_crash"},
	{"replace growth", "'a'.repeat(1e7).replace(/a/g, 'x'.repeat(100)).length", "script_memory script_timeout script_crash"},
	{"big power", "7n ** 20000000n; 1", "script_source"},
	{"big shift", "1n << 100000000000n; 1", "script_source"},
	{"big tower", "((9n ** 99999n) ** 99999n); 1", "script_source"},
	{"big sum", "2n ** (99999n * 99999n); 1", "script_source"},
	{"big run-time power", "let n = 20000000n; 7n ** n; 1", "script_timeout script_memory"},
	{"big factorial", "let n = 1n; for (let i = 1n; ; i++) n *= i ** 50n", "script_timeout script_memory"},
	{"backtracking", "/^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')", "script_timeout"},
	{"backreference", "/^(a+)+\\1$/.test('a'.repeat(40) + 'b')", "script_timeout"},
	{"giant pattern", "new RegExp('(' + 'a?'.repeat(1e6) + ')'.repeat(1)).test('a')", "script_timeout script_memory script_error script_crash"},
	{"console", "for (;;) console.log('x'.repeat(1000))", "script_timeout"},
	{"calls", "for (;;) Context.SetVar(null, {name: 'x', value: 1})", "script_calls script_timeout operations"},
	{"calls for values", "let n = 0; for (;;) n += Repository.GetDocument(null, {value: '/ws'}).name.length", "script_calls script_timeout operations"},
	{"questions", "for (;;) ctx.x = typeof nothing", "script_timeout script_calls script_memory"},
	{"big parameter", "Context.SetVar(null, {name: 'x', value: 'x'.repeat(1e7)})", "script_output"},
	{"big result", "'x'.repeat(1e7)", "script_output"},
	{"wide result", "new Array(1e7)", "script_output"},
	{"concat", "let a = new Array(1e6).fill(1); for (;;) a = a.concat(a)", "script_memory script_timeout"},
	{"text concat", "let s = 'x'.repeat(1e6); for (;;) s = s.concat(s, s, s)", "script_memory script_timeout script_crash"},
	{"template growth", "let s = 'x'; for (;;) s = `${s}${s}`", "script_memory script_timeout script_crash"},
	{"normalize", "for (;;) '\\uFDFA'.repeat(1e7).normalize('NFKD')", "script_memory script_timeout"},
	{"localeCompare", "for (;;) 'a'.repeat(1e7).localeCompare('a'.repeat(1e7) + 'b')", "script_memory script_timeout"},
	{"matchAll", "[...'a'.repeat(1e7).matchAll(/a*?/g)].length", "script_memory script_timeout"},
	{"match", "'a'.repeat(2e7).match(/a/g).length", "script_memory script_timeout"},
	{"split", "'a'.repeat(5e7).split('').length", "script_memory script_timeout"},
	{"split by pattern", "'a'.repeat(1e7).split(/(?=a)/).length", "script_memory script_timeout"},
	{"wide JSON", "JSON.parse('[' + '1,'.repeat(3e7) + '1]').length", "script_memory script_timeout"},
	{"wide JSON object", "JSON.parse('{' + Array.from({length: 1e6}, (_, i) => '\"' + i + '\":[[]]').join() + '}'); for (;;);", "script_memory script_timeout"},
	{"JSON text", "let a = 'x'.repeat(1e6); JSON.stringify(new Array(1000).fill(a)).length", "script_memory script_timeout script_crash"},
	{"JSON loop", "JSON.stringify({ toJSON() { for (;;); } })", "script_timeout"},
	{"spread arguments", "Math.max(...new Array(1e7).fill(1)); for (;;);", "script_memory script_stack script_timeout script_crash"},
	{"applied arguments", "String.fromCharCode.apply(null, new Array(2e7).fill(65)); for (;;);", "script_memory script_stack script_timeout"},
	{"reflected arguments", "Reflect.apply(Math.max, null, { length: 1e8 })", "script_memory script_stack script_timeout script_crash"},
	{"big square", "let n = 3n; for (;;) n = n * n", "script_memory script_timeout"},
	{"big text", "let e = 30000000n; (2n ** e).toString().length; for (;;);", "script_memory script_timeout"},
	{"big parse", "BigInt('9'.repeat(3e7)); for (;;);", "script_memory script_timeout"},
	{"big division", "let e = 3000000n; let n = 7n ** e; for (;;) n % (3n ** 1000n)", "script_memory script_timeout"},
	{"encode", "for (;;) encodeURIComponent('\\u00e9'.repeat(1e7))", "script_memory script_timeout"},
	{"escape", "for (;;) escape('\\u20ac'.repeat(1e7))", "script_memory script_timeout"},
	{"upper case", "for (;;) '\\u00df'.repeat(1e7).toUpperCase()", "script_memory script_timeout"},
	{"code points", "[...'\\u{1F600}'.repeat(1e7)].length", "script_memory script_timeout"},
	{"raw", "String.raw({ raw: { length: 1e9 } })", "script_memory script_timeout"},
	{"map growth", "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)", "script_memory script_timeout"},
	{"set growth", "const m = new Set(); for (let i = 0; ; i++) m.add('k' + i)", "script_memory script_timeout"},
	{"property growth", "const o = {}; for (let i = 0; ; i++) o['k' + i] = i", "script_memory script_timeout"},
	{"errors", "let e; for (;;) e = new Error('x', { cause: e })", "script_memory script_timeout"},
	{"closures", "let f = () => 1; for (;;) { const g = f; f = () => g }", "script_memory script_timeout"},
	{"bound functions", "let f = () => 1; for (;;) f = f.bind(null, 1)", "script_memory script_timeout"},
	{"symbols", "const a = []; for (;;) a.push(Symbol('x'.repeat(1000)))", "script_memory script_timeout"},
	{"float sort", "const a = new Float64Array(1e7); for (;;) a.sort((x, y) => y - x)", "script_memory script_timeout"},
	{"endless iterator", "[...{ [Symbol.iterator]() { return { next() { return { done: false } } } }}]", "script_memory script_timeout"},
	{"endless from", "Array.from({ [Symbol.iterator]() { return { next() { return { done: false } } } }})", "script_memory script_timeout"},
	{"endless sort", "[3, 2, 1].sort(() => { for (;;); })", "script_timeout"},
	{"endless getter", "Object.assign({}, { get a() { for (;;); } })", "script_timeout"},
	{"endless proxy", "Object.keys(new Proxy({}, { ownKeys() { for (;;); } }))", "script_timeout"},
	{"false length fill", "Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1)", "script_memory script_timeout"},
	{"false length join", "Array.prototype.join.call({ length: 2 ** 32 }, 'x')", "script_memory script_timeout script_crash"},
	{"false length map", "Array.prototype.map.call({ length: 2 ** 32 - 1 }, x => x)", "script_memory script_timeout script_crash"},
	{"false length includes", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", "script_timeout"},
	{"false length copy", "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0)", "script_memory script_timeout"},
	{"false length unshift", "Array.prototype.unshift.call({ length: 2 ** 53 - 2 }, 1)", "script_memory script_timeout"},
	{"computed repeat", "'x'['rep' + 'eat'](2 ** 31 - 2).length", "script_memory script_crash"},
	{"computed fill", "globalThis['Arr' + 'ay'](1e9)['fi' + 'll'](1)", "script_memory script_timeout script_crash"},
	{"computed join", "const j = 'jo'; Array(1e8)[j + 'in']('xxxx').length", "script_memory script_timeout script_crash"},
	{"computed padEnd", "'x'[['pad', 'End'].join('')](2 ** 31 - 2).length", "script_memory script_crash"},
	{"computed replace", "'a'.repeat(1e7)['re' + 'place'](/a/g, 'x'.repeat(100)).length", "script_memory script_timeout script_crash"},
	{"computed parse", "globalThis['JS' + 'ON']['pa' + 'rse']('['['rep' + 'eat'](5e6))", "script_stack script_memory script_timeout"},
	{"computed eval", "globalThis['ev' + 'al']('for (;;);')", "script_timeout"},
	{"computed Function", "(() => {})['constr' + 'uctor']('for (;;);')()", "script_timeout"},
	{"computed buffer", "new globalThis['Array' + 'Buffer'](8e9)", "script_memory script_crash"},
	{"computed length", "const a = []; a['len' + 'gth'] = 4294967295; a.sort()", "script_memory script_timeout script_crash"},
	{"unawaited calls", "for (;;) Context.SetVar(null, { name: 'x', value: 'x'.repeat(1e6) })", "script_calls script_timeout script_memory"},
	{"source nesting", strings.Repeat("[", 100_000), "script_source"},
	{"source braces", strings.Repeat("{", 100_000), "script_source"},
	{"source size", strings.Repeat("x;", 200_000), "script_source"},
	{"source arrows", "(a=" + strings.Repeat("(a=", 30) + "1" + strings.Repeat(")=>1", 30) + ")=>1", "script_source"},
	{"source chain", strings.Repeat("x=>", 20_000) + "1", "script_source"},
	{"source sum", strings.Repeat("a+", 64_000) + "1", "script_source"},
	{"source optional chain", "a" + strings.Repeat("?.a", 20_000), "script_source"},
	{"source unary", strings.Repeat("!", 100_000) + "1", "script_source"},
	{"source template", strings.Repeat("`${", 1000), "script_source"},
}

// deployable makes a bomb the body of a deployed script.
func deployable(name, source string) string {
	if strings.HasSuffix(name, " result") {
		source = "return " + source
	}
	return "/**\n * @operation Test.Bomb\n * @description Ends.\n * @param {list} [items]\n * @param {string} [sep]\n * @output object\n */\nfunction run(input, params) {\n" + source + "\n}\n"
}

// TestBombs deploys every bomb and has an ordinary user call it. Each ends with its own error in time, the server
// neither dies nor grows, other calls are answered meanwhile, and the next script runs. Those that cannot be deployed
// are refused, and end with the same error when they are sent.
func TestBombs(t *testing.T) {
	const wall = 400 * time.Millisecond
	hasty := newBombed(t, Limits{Wall: wall, QueueWait: 5 * time.Second})
	patient := newBombed(t, Limits{QueueWait: 5 * time.Second}) // for bombs that end before any limit of time
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			by := patient
			if strings.Contains(b.codes, "script_timeout") {
				by = hasty
			}
			_, err := by.call("Script.Save", nil, map[string]any{"source": deployable(b.name, b.source)})
			if refused := b.codes == "script_source"; refused != (err != nil) {
				t.Fatalf("deployed: %v", err)
			} else if refused {
				_, err := by.r.submit(context.Background(), "ann", newFakeHost(), newNames(fakeOps), newJob("t.js", b.source, false), nil, nil)
				by.ended(t, err, b.codes)
				return
			}
			by.calm(t, wall, func() { by.ended(t, by.bomb(nil), b.codes) })
		})
	}
}

// TestBombByInput calls a deployed script that is harmless with other parameters.
func TestBombByInput(t *testing.T) {
	w := newBombed(t, Limits{QueueWait: 5 * time.Second})
	w.must("Script.Save", nil, map[string]any{"source": deployable("join", "return params.items.join(params.sep)")})
	items := make([]any, 20_000)
	for i := range items {
		items[i] = "item"
	}
	w.calm(t, DefaultLimits.Wall, func() {
		w.ended(t, w.bomb(map[string]any{"items": items, "sep": strings.Repeat("s", 4<<20)}), "script_memory script_crash script_timeout")
	})
	if err := w.bomb(map[string]any{"items": items, "sep": ","}); err != nil {
		t.Error(err)
	}
}

// bombed is a server whose user ann calls the script Test.Bomb.
type bombed struct {
	*world
	ann *engine.Principal
}

func newBombed(t *testing.T, l Limits) *bombed {
	w := newWorld(t, Options{Limits: l})
	err := w.e.Repo().Update(t.Context(), w.e.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "secret") })
	if err != nil {
		t.Fatal(err)
	}
	ann, err := w.e.PrincipalOf(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	return &bombed{w, ann}
}

func (w *bombed) bomb(params map[string]any) error {
	_, err := w.e.Run(context.Background(), engine.Call{Op: "Test.Bomb", Params: params, As: w.ann, EntryPoint: engine.REST})
	return err
}

// ended holds how a bomb ends.
func (w *bombed) ended(t *testing.T, err error, codes string) {
	t.Helper()
	var f *fault.Error
	switch {
	case !errors.As(err, &f):
		t.Errorf("no error: %v", err)
	case f.Code == 0 || !strings.Contains(codes, f.Code.String()):
		t.Errorf("ended with %s (%s: %.200v), want one of %s", f.Code, f.Kind, err, codes)
	case f.Code != fault.CodeScriptError && f.Kind != fault.Limit:
		t.Errorf("kind %s of %.200v, want limit", f.Kind, err)
	}
}

// calm runs f, which may take wall, and holds what others notice of it.
func (w *bombed) calm(t *testing.T, wall time.Duration, f func()) {
	t.Helper()
	const busy = 10 * time.Second // room for a busy machine
	debug.FreeOSMemory()
	before := resident(t)
	stop, stopped := make(chan struct{}), make(chan time.Duration)
	go func() {
		var slowest time.Duration
		for {
			select {
			case <-stop:
				stopped <- slowest
				return
			case <-time.After(time.Millisecond):
			}
			began := time.Now()
			if _, err := w.call("Repository.GetDocument", nil, map[string]any{"value": "/ws"}); err != nil {
				t.Error(err)
			}
			slowest = max(slowest, time.Since(began))
		}
	}()
	began := time.Now()
	f()
	took := time.Since(began)
	close(stop)
	if slowest := <-stopped; slowest > busy/5 {
		t.Errorf("another call took %s", slowest)
	}
	if took > wall+grace+busy {
		t.Errorf("took %s", took)
	}
	if grown := resident(t) - before; grown > 96<<20 {
		t.Errorf("the server grew by %s", bytesText(grown))
	}
	if v, err := w.r.submit(context.Background(), "ann", newFakeHost(), newNames(fakeOps), newJob("t.js", "6 * 7", false), nil, nil); err != nil || v != int64(42) {
		t.Errorf("the next script: %v, %v", v, err)
	}
}

// resident is the most memory that this process has held since it was last asked, where the system says so.
func resident(t *testing.T) int64 {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(raw), "VmHWM:")
	var kb int64
	if _, err := fmt.Sscan(after, &kb); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return kb << 10
}
