package scripts

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// scripted deploys a script with a name and a body.
func (w *world) scripted(name, body string) {
	w.t.Helper()
	w.must("Script.Save", nil, map[string]any{"source": fmt.Sprintf("/**\n * @operation %s\n * @description Works.\n * @param {integer} [n=0]\n * @output object\n */\nfunction run(input, params) { %s }\n", name, body)})
}

// TestNested runs scripts within scripts where only one may be at work, more callers at once than that: nobody waits
// for a script that waits for it.
func TestNested(t *testing.T) {
	w := newWorld(t, Options{Limits: Limits{Workers: 1, PerUser: 1, QueueWait: 30 * time.Second}})
	w.scripted("Test.Inner", "return params.n + 1")
	w.scripted("Test.Middle", "return Test.Inner(null, {n: params.n}) + 1")
	w.scripted("Test.Outer", "return Test.Middle(null, {n: params.n}) + Test.Inner(null, {n: 10})")
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			if r, err := w.call("Test.Outer", nil, map[string]any{"n": int64(i)}); err != nil || r.Value != int64(i+2+11) {
				t.Errorf("%d: %v, %v", i, r, err)
			}
		})
	}
	wait.Wait()
	w.must("RunScript", nil, map[string]any{"script": "if (Test.Outer(null, {n: 1}) !== 14) throw new Error('wrong')"})
}

// TestNestedDeep nests as many scripts as may be, and one more.
func TestNestedDeep(t *testing.T) {
	w := newWorld(t, Options{})
	w.scripted("Test.Deep", "return 0")
	w.scripted("Test.Deep", "return params.n > 1 ? 1 + Test.Deep(null, {n: params.n - 1}) : 1")
	if v := w.must("Test.Deep", nil, map[string]any{"n": int64(maxNested)}); v != int64(maxNested) {
		t.Errorf("%d deep: %v", maxNested, v)
	}
	_, err := w.call("Test.Deep", nil, map[string]any{"n": int64(maxNested + 1)})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Limit || f.Code != fault.CodeDepth {
		t.Errorf("one deeper: %v", err)
	}
}

// TestNestedTime lets a script loop that another one has called: both end within the time of one.
func TestNestedTime(t *testing.T) {
	const wall = time.Second
	w := newWorld(t, Options{Limits: Limits{Wall: wall}})
	w.scripted("Test.Loop", "for (;;);")
	w.scripted("Test.Around", "const end = Date.now() + 500; while (Date.now() < end); try { Test.Loop() } catch (e) {} for (;;);")
	began := time.Now()
	_, err := w.call("Test.Around", nil, nil)
	if fault.CodeOf(err) != fault.CodeScriptTimeout {
		t.Errorf("ended with %v", err)
	}
	if took := time.Since(began); took > wall+4*grace+5*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestUnused makes calls whose values nobody uses: one that fails ends the script where it stands.
func TestUnused(t *testing.T) {
	w := newWorld(t, Options{Limits: Limits{Wall: 8 * time.Second}})
	create := "Document.Create('/ws', {type: 'File', name: 'f' + params.n});"
	for _, c := range []struct{ body, want string }{
		{create + "\nDocument.Create('/nowhere', {type: 'File'});\nfor (;;);", "script:8:16: "},
		{create + "\nDocument.Create('/nowhere', {type: 'File'});\nreturn 1", "script:8:16: "},
		{create + "\nDocument.Create('/nowhere', {type: 'File'});\nreturn Repository.GetDocument(null, {value: '/ws'})", "script:8:16: "},
		{create + "\nDocument.Create('/nowhere', {type: 'File'});\nthrow new Error('other')", "script:8:16: "},
		{create + "\nconst make = at => {\n Document.Create(at, {type: 'File'}) };\nmake('/nowhere');", "script:9:17: "},
	} {
		w.scripted("Test.Fails", c.body)
		began := time.Now()
		_, err := w.call("Test.Fails", nil, nil)
		var at *Error
		if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), c.want) || !errors.As(err, &at) {
			t.Errorf("%s\nended with %v, want %s", c.body, err, c.want)
		} else if n := 1 + strings.Count(c.body, "make("); len(at.Stack) != n {
			t.Errorf("%s\nstack\n%s", c.body, at.Trace())
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("%s: took %s", c.body, took)
		}
		if _, err := w.call("Repository.GetDocument", nil, map[string]any{"value": "/ws/f0"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("left a document behind: %v", err)
		}
	}
	w.scripted("Test.Fails", "try { Document.Create('/nowhere', {type: 'File'}) } catch (e) { return e.kind }")
	if v := w.must("Test.Fails", nil, nil); v != "notfound" {
		t.Errorf("caught: %v", v)
	}
	w.scripted("Test.Sees", "const d = Document.Create('/ws', {type: 'File', name: 'seen'}); Document.SetProperty(d, {xpath: 'dc:title', value: 'new'}); return d['dc:title']")
	if v := w.must("Test.Sees", nil, nil); v != "new" {
		t.Errorf("a document after a call that changed it: %v", v)
	}
}

// TestUnusedCalls finds the calls that need not be waited for.
func TestUnusedCalls(t *testing.T) {
	for _, c := range []struct {
		source string
		want   int
	}{
		{"function run() { A.B(1); return A.B(2) }", 1},
		{"A.B(1)", 0},
		{"if (x) A.B(1)", 0},
		{"A.B(1); function run() { for (;;) A.B(2) }", 2},
		{"function run() { const x = A.B(1); x.y(A.B(2)) }", 1},
		{"function run() { (() => A.B(1))(); [1].forEach(A.B) }", 0},
		{"function run() { A.B(1); try { A.B(2) } catch (e) {} }", 0},
		{"async function run() { A.B(1) }", 0},
		{"function run() { A.B(1); Promise.resolve() }", 0},
		{"await A.B(1); A.B(2)", 0},
		{"function run() { A.B(1); x['constructor'] }", 0},
	} {
		tree, err := parse("t.js", c.source)
		if err != nil {
			t.Fatal(c.source, err)
		}
		n := 0
		for _, name := range unusedCalls(tree) {
			if name == "A.B" || name == "x.y" {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%s: %d, want %d", c.source, n, c.want)
		}
	}
}

// TestAhead reads along lists in ways that go another way than announced.
func TestAhead(t *testing.T) {
	w := newWorld(t, Options{})
	w.must("RunScript", nil, map[string]any{"script": "for (let i = 0; i < 60; i++) Document.Create('/ws', {type: 'File', name: 'd' + i, properties: {'dc:title': 'T' + i}})"})
	const get = "const get = v => Repository.GetDocument(null, {value: v});"
	paths := make([]string, 60)
	for i := range paths {
		paths[i] = fmt.Sprintf(`"/ws/d%d"`, i)
	}
	list := "[" + strings.Join(paths, ",") + "]"
	for name, c := range map[string]struct {
		body string
		want any
	}{
		"all":     {"let s = 0; for (const p of LIST) s += get(p).title.length; return s", int64(60*3 - 10)},
		"some":    {"let s = 0; for (const p of LIST) { s += get(p).title.length; if (s > 30) break } return s + get('/ws/d3').title", "32T3"},
		"skips":   {"let s = ''; LIST.forEach((p, i) => { if (i % 7) s += get(p).title }); return s.length", int64(51*3 - 8)},
		"changes": {"let s = ''; for (const p of LIST) { s += get(p)['dc:title']; const next = LIST[LIST.indexOf(p) + 1]; if (next) Document.SetProperty(next, {xpath: 'dc:title', value: 'x', save: true}) } return s", "T0" + strings.Repeat("x", 59)},
		"unsaved": {"let s = ''; for (const p of LIST) { const d = get(p); s += d.name; d['dc:title'] = 'y'; s += d['dc:title'] } return s.length", int64(60*3 - 10 + 60)},
		"between": {"let s = 0; for (const p of LIST) { s += get(p).title.length; s += get('/ws').name.length } return s", int64(60*3 - 10 + 120)},
		"errors":  {"let s = ''; const paths = ['/ws/d1', '/ws/d2', '/ws/d3', '/ws/none', '/ws/d4']; for (const p of paths) { try { s += get(p).title } catch (e) { s += e.kind } } return s", "T1T2T3notfoundT4"},
	} {
		w.scripted("Test.Ahead", strings.ReplaceAll(get+c.body, "LIST", list))
		r, err := w.call("Test.Ahead", nil, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if r.Value != c.want {
			t.Errorf("%s: got %v, want %v", name, r.Value, c.want)
		}
		if name == "changes" {
			w.must("RunScript", nil, map[string]any{"script": "for (let i = 0; i < 60; i++) Document.SetProperty('/ws/d' + i, {xpath: 'dc:title', value: 'T' + i, save: true})"})
		}
	}
}

// TestAheadRecorded looks at what is recorded of scripts that read along lists: the calls that they made, at their lines, and not
// those that were answered ahead of them in vain.
func TestAheadRecorded(t *testing.T) {
	w := newWorld(t, Options{})
	w.must("RunScript", nil, map[string]any{"script": "for (let i = 0; i < 60; i++) Document.Create('/ws', {type: 'File', name: 'd' + i})"})
	paths := make([]string, 60)
	for i := range paths {
		paths[i] = fmt.Sprintf(`"/ws/d%d"`, i)
	}
	const get = "Repository.GetDocument(null, {value: p})"
	for name, c := range map[string]struct {
		body  string
		reads int
		wants func(i int) (at string, line int)
	}{
		"all":   {"for (const p of LIST)\n" + get + ".title", 60, func(i int) (string, int) { return fmt.Sprint("/ws/d", i), 8 }},
		"some":  {"let n = 0; for (const p of LIST) {\n" + get + ".title; if (++n == 11) break }", 11, func(i int) (string, int) { return fmt.Sprint("/ws/d", i), 8 }},
		"skips": {"LIST.forEach((p, i) => { if (i % 7)\n" + get + ".title })", 51, func(i int) (string, int) { return fmt.Sprint("/ws/d", i+i/6+1), 8 }},
		"lines": {"LIST.forEach((p, i) => { if (i % 9 == 8)\n" + get + ".title; else\n" + get + ".title })", 60, func(i int) (string, int) {
			if i%9 == 8 {
				return fmt.Sprint("/ws/d", i), 8
			}
			return fmt.Sprint("/ws/d", i), 9
		}},
		"fails": {"let n = 0; for (const p of LIST) {\n" + get + ".title; if (++n == 11) throw new Error('x') }", 11, func(i int) (string, int) { return fmt.Sprint("/ws/d", i), 8 }},
	} {
		w.scripted("Test.AheadRecorded", strings.ReplaceAll(c.body, "LIST", "["+strings.Join(paths, ",")+"]"))
		r, err := w.e.Run(t.Context(), engine.Call{Op: "Test.AheadRecorded", As: w.e.System(), EntryPoint: engine.REST, Trace: true})
		var trace *engine.Trace
		if name == "fails" {
			trace = w.e.Traces().LastError()
		} else if err == nil {
			trace = r.Trace
		}
		if trace == nil {
			t.Fatal(name, err)
		}
		if len(trace.Steps) != c.reads {
			t.Errorf("%s: %d calls recorded, want %d", name, len(trace.Steps), c.reads)
			continue
		}
		for i, step := range trace.Steps {
			path, line := c.wants(i)
			if step.Op != "Repository.GetDocument" || step.Params["value"] != path || step.Line != line || step.Output != "File "+path {
				t.Errorf("%s, call %d: %+v, want %s at line %d", name, i, step, path, line)
			}
		}
	}
}
