package scripts

import (
	"testing"
	"time"

	"catena/storage/fault"
)

// FuzzSource parses what the scan lets through: it neither panics nor takes long, and
// what is wrong has a kind.
func FuzzSource(f *testing.F) {
	for _, c := range language {
		f.Add(c.source)
	}
	for _, b := range bombs {
		if len(b.source) < 4096 {
			f.Add(b.source)
		}
	}
	f.Add("const d = await f(); class A extends (await b) { [await c]() {} } for (const x of await y) z\n} async () => {")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return
		}
		started := time.Now()
		_, err := compile("f.js", source, true, benchNames)
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
		if err != nil && fault.Of(err) != fault.Invalid && fault.Of(err) != fault.Limit {
			t.Errorf("%s: %v", fault.Of(err), err)
		}
	})
}

// FuzzHeader reads headers.
func FuzzHeader(f *testing.F) {
	f.Add(counter)
	f.Add("/** @operation A.B\n * @param {x} [a=1 */")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return
		}
		s, problems := parseHeader("f.js", source)
		if len(problems) == 0 && (s.Name == "" || s.Description == "") {
			t.Errorf("accepted without name or description: %+v", s)
		}
	})
}

// FuzzFrames reads values as a worker might send them.
func FuzzFrames(f *testing.F) {
	w := &writer{}
	w.start(frameCall)
	w.uint(0)
	w.uint(0)
	w.string("Noop")
	w.int(3)
	_ = w.value(map[string]any{"a": []any{int64(1), 2.5, "x", true, nil, time.Unix(1, 0)}})
	_ = w.value(nil)
	f.Add(w.b[4:])
	f.Fuzz(func(t *testing.T, frame []byte) {
		h := newFakeHost()
		l := DefaultLimits
		s := &supervisor{host: h, limits: &l, numbers: map[any]int{}, handles: []any{h.doc("/a"), &fakeFile{}}, p: &process{out: discard{}}}
		r := &reader{b: frame, handles: s}
		switch r.byte() {
		case frameCall:
			_ = s.call(r)
		case frameAsk:
			_ = s.ask(r)
		case frameLog:
			_ = s.log(r)
		case frameDone:
			_, _, _ = s.done(r)
		}
	})
}
