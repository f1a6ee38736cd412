package engine

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"catena/storage"
)

// TestTraceJSON: whatever a trace holds, it is written byte for byte as encoding/json writes it.
func TestTraceJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "Document.Create", "<b>&amp;</b>", "\"quoted\\\"", "line\nend\t\x00\x7f", "Zoë 😀", "\xff\xfe", "\u2028", "a b"}
	text := func() string { return texts[r.IntN(len(texts))] }
	list := func() (out []string) {
		for range r.IntN(3) {
			out = append(out, text())
		}
		return out
	}
	var random func(depth int) *Trace
	random = func(depth int) *Trace {
		x := &Trace{
			ID: text(), Op: text(), Input: text(), Output: text(), Error: text(), User: text(), Request: text(), Console: list(), Warnings: list(),
			Start: time.Unix(r.Int64N(1<<33), r.Int64N(1e9)).In(time.FixedZone("", r.IntN(24*60)*60-12*3600)), Duration: time.Duration(r.Int64N(1<<40) - 1<<39), Line: r.IntN(3),
		}
		if r.IntN(2) == 0 {
			x.Params = map[string]string{}
			for range r.IntN(4) {
				x.Params[text()] = text()
			}
		}
		for range r.IntN(2) {
			x.Changes = append(x.Changes, storage.Change{})
		}
		for range r.IntN(4) {
			if depth > 0 {
				x.Steps = append(x.Steps, random(depth-1))
			}
		}
		return x
	}
	for range 500 {
		x := random(3)
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.appendJSON(nil); err != nil || string(got) != string(want) {
			t.Fatalf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
	far := &Trace{Start: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	_, want := json.Marshal(far)
	if _, got := far.appendJSON(nil); (got == nil) != (want == nil) {
		t.Errorf("a year that JSON cannot tell: %v, %v", got, want)
	}
}

// TestWithoutSecretsOf: values without members are kept as they are, and what is no JSON is left out.
func TestWithoutSecretsOf(t *testing.T) {
	s, err := NewSet()
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{`{}`: `{}`, `"x"`: `"x"`, ` 7 `: ` 7 `, `null`: `null`, `nope`: "", `"open`: "", ``: "", `{"password":"x","a":1}`: `{"a":1}`, `["x"]`: `["x"]`} {
		kept, left := s.withoutSecrets(nil, json.RawMessage(raw), "input")
		if string(kept) != want || (len(left) > 0) != (want == "" || raw[0] == '{' && raw != "{}") {
			t.Errorf("%q: %q, left %v", raw, kept, left)
		}
	}
}
