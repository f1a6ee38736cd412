package scripts

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dop251/goja"
)

func benchStart(b *testing.B, run runFunc) {
	h := newFakeHost()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run(h, Limits{}, "b.js", "1", false, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

var (
	benchLimits   = DefaultLimits
	benchNames    = newNames(fakeOps, fakeReads...)
	benchPrograms sync.Map
)

func cachedInProcess(h recorder, _ Limits, file, source string, strict bool, in any, params map[string]any) (any, error) {
	p, ok := benchPrograms.Load(source)
	if !ok {
		made, err := compile(file, source, strict, benchNames)
		if err != nil {
			return nil, err
		}
		p, _ = benchPrograms.LoadOrStore(source, made)
	}
	return newMachine(h, benchNames, &benchLimits).run(context.Background(), p.(*program), in, params)
}

func cachedInWorker(h recorder, _ Limits, file, source string, strict bool, in any, params map[string]any) (any, error) {
	return shared.submit(context.Background(), "bob", h, benchNames, newJob(file, source, strict), in, params)
}

// BenchmarkStart is an empty script.
func BenchmarkStart(b *testing.B) {
	b.Run("process", func(b *testing.B) { benchStart(b, cachedInProcess) })
	b.Run("worker", func(b *testing.B) { benchStart(b, cachedInWorker) })
}

const hundredCalls = "function run(input) { for (let i = 0; i < 100; i++) Test.Noop(input, {n: i}); return null }"

// BenchmarkHundredCalls is a script of 100 operations that do nothing.
func BenchmarkHundredCalls(b *testing.B) {
	run := func(b *testing.B, f runFunc, in any) {
		h := newFakeHost()
		b.ReportAllocs()
		for b.Loop() {
			h.calls = h.calls[:0]
			if _, err := f(h, Limits{}, "b.js", hundredCalls, true, in, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("process", func(b *testing.B) { run(b, cachedInProcess, int64(1)) })
	b.Run("worker", func(b *testing.B) { run(b, cachedInWorker, int64(1)) })
	b.Run("process-document", func(b *testing.B) { run(b, cachedInProcess, newFakeHost().doc("/in")) })
	b.Run("worker-document", func(b *testing.B) { run(b, cachedInWorker, newFakeHost().doc("/in")) })
	b.Run("reflected", func(b *testing.B) { run(b, reflected, int64(1)) })
}

var reflectedCalls = goja.MustCompile("b.js", hundredCalls+"; run(input)", true)

// reflected runs hundredCalls with every operation bound as a Go function by reflection.
func reflected(h recorder, _ Limits, _, _ string, _ bool, _ any, _ map[string]any) (any, error) {
	vm := goja.New()
	for space, n := range map[string]int{"Document": 60, "Repository": 20, "Blob": 30, "Context": 40, "Test": 70} {
		ops := map[string]any{}
		for i := range n {
			op := "Noop"
			if i > 0 {
				op = string(rune('A'+i%26)) + string(rune('a'+i/26))
			}
			ops[op] = func(in any, params map[string]any) (any, error) { return h.call("Test.Noop", in, params, 0) }
		}
		if err := vm.Set(space, ops); err != nil {
			return nil, err
		}
	}
	if err := vm.Set("input", 1); err != nil {
		return nil, err
	}
	_, err := vm.RunProgram(reflectedCalls)
	return nil, err
}

// BenchmarkBare is what the runtime itself takes for 100 calls of a Go function that looks at nothing: no less is possible.
func BenchmarkBare(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		vm := goja.New()
		space := vm.NewObject()
		_ = space.Set("Noop", func(goja.FunctionCall) goja.Value { return goja.Undefined() })
		_ = vm.Set("Test", space)
		_ = vm.Set("input", 1)
		if _, err := vm.RunProgram(reflectedCalls); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCrowd is sixteen callers whose scripts call 100 operations that do nothing.
func BenchmarkCrowd(b *testing.B) {
	crowd := func(b *testing.B, f runFunc) {
		b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
		b.RunParallel(func(pb *testing.PB) {
			h := newFakeHost()
			for pb.Next() {
				h.calls = h.calls[:0]
				if _, err := f(h, Limits{}, "b.js", hundredCalls, true, int64(1), nil); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.Run("process", func(b *testing.B) { crowd(b, cachedInProcess) })
	b.Run("worker", func(b *testing.B) { crowd(b, cachedInWorker) })
	b.Run("reflected", func(b *testing.B) { crowd(b, reflected) })
}

const hundredDocuments = `function run() { let s = ""; for (const d of List(null, {n: 100})) s += d.path + d["dc:title"] + d["n:number"]; return s.length }`

// BenchmarkHundredDocuments is a script that reads three values of 100 documents.
func BenchmarkHundredDocuments(b *testing.B) {
	run := func(b *testing.B, f runFunc) {
		h := newFakeHost()
		b.ReportAllocs()
		for b.Loop() {
			h.calls = h.calls[:0]
			if _, err := f(h, Limits{}, "b.js", hundredDocuments, true, nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("process", func(b *testing.B) { run(b, cachedInProcess) })
	b.Run("worker", func(b *testing.B) { run(b, cachedInWorker) })
}

// BenchmarkStoredDocuments is a script that reads three values of 100 stored documents,
// within a whole call of the engine.
func BenchmarkStoredDocuments(b *testing.B) {
	const source = `/**
 * @operation Test.Read
 * @description Reads the children of a folder.
 * @input document
 * @output object
 * @effect reads
 */
function run(input) { let s = 0; for (const d of Document.GetChildren(input)) s += (d.path + d["dc:title"] + d["dc:source"]).length; return s }`
	b.Run("deployed", func(b *testing.B) {
		w := newWorld(b, Options{})
		w.must("RunScript", at("/ws"), map[string]any{"script": `for (let i = 0; i < 100; i++) Document.Create(input, {type: "File", name: "d" + i, properties: {"dc:title": "T" + i, "dc:description": "` + strings.Repeat("text ", 150) + `", "dc:source": "bench"}})`})
		w.must("Script.Save", nil, map[string]any{"source": source})
		b.ReportAllocs()
		for b.Loop() {
			w.must("Test.Read", at("/ws"), nil)
		}
	})
	b.Run("operation", func(b *testing.B) { // what the one operation costs without a script
		w := newWorld(b, Options{})
		w.must("RunScript", at("/ws"), map[string]any{"script": `for (let i = 0; i < 100; i++) Document.Create(input, {type: "File", name: "d" + i, properties: {"dc:title": "T" + i, "dc:source": "bench"}})`})
		b.ReportAllocs()
		for b.Loop() {
			w.must("Document.GetChildren", at("/ws"), nil)
		}
	})
}

// BenchmarkBothSides has a worker within this process, so that a profile shows what both
// sides of a run do.
func BenchmarkBothSides(b *testing.B) {
	for name, source := range map[string]string{
		"calls": hundredCalls,
		"read":  `function run() { let n = 0; for (const id of [` + strings.Repeat(`"/ws/a", "/ws/b", `, 50) + `]) n += Repository.GetDocument(null, {value: id})["dc:title"].length; return n }`,
	} {
		b.Run(name, func(b *testing.B) {
			server, worker, end := pair()
			defer end()
			k := &serving{in: &frames{in: worker, max: maxFrame}, out: worker, link: worker, programs: newPrograms(1 << 20), memory: benchLimits.Memory}
			go func() {
				for {
					frame, err := k.in.next()
					if err != nil || frame[0] == frameStart && k.serve(frame) != nil {
						return
					}
				}
			}()
			h := newFakeHost()
			for _, path := range []string{"/ws/a", "/ws/b"} {
				h.doc(path).props["dc:description"] = strings.Repeat("text ", 150)
			}
			p := &process{in: &frames{in: server, max: maxFrame}, out: server, link: server}
			j := newJob("b.js", source, true)
			b.ReportAllocs()
			for b.Loop() {
				h.calls = h.calls[:0]
				s := &supervisor{p: p, host: h, limits: &benchLimits, job: j, names: benchNames, turn: &turn{wall: benchLimits.Wall, end: time.Now().Add(time.Hour)}, numbers: map[any]int{}}
				if _, _, err := s.run(context.Background(), int64(1), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
