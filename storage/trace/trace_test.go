package trace

import (
	"context"
	"strings"
	"testing"
)

// TestParse reads what is and what is no traceparent, and what is written for the next one.
func TestParse(t *testing.T) {
	id, span := strings.Repeat("a", 32), strings.Repeat("b", 16)
	for _, c := range []struct {
		text string
		want Trace
	}{
		{"00-" + id + "-" + span + "-01", Trace{id, true, span}},
		{"00-" + id + "-" + span + "-02", Trace{id, false, span}},
		{"cc-" + id + "-" + span + "-03-more", Trace{id, true, span}},
		{"ff-" + id + "-" + span + "-01", Trace{}},
		{"00-" + strings.ToUpper(id) + "-" + span + "-01", Trace{}},
		{"00-" + strings.Repeat("0", 32) + "-" + span + "-01", Trace{}},
		{"00-" + id + "-" + strings.Repeat("0", 16) + "-01", Trace{}},
		{"00-" + id + "-" + span, Trace{}},
		{"00-" + id[1:] + "-" + span + "-01", Trace{}},
		{"00-" + id + "-" + span + "-0g", Trace{}},
		{"", Trace{}},
	} {
		got, ok := Parse(c.text)
		if got != c.want || ok != (c.want.ID != "") {
			t.Errorf("%q: %v %v", c.text, got, ok)
		}
		if !ok {
			continue
		}
		next := got.Parent()
		if again, ok := Parse(next); !ok || again != got {
			t.Errorf("%v is written %q", got, next)
		}
		got.Span = ""
		next = got.Parent()
		if again, ok := Parse(next); !ok || again.ID != got.ID || again.Sampled != got.Sampled || next == got.Parent() {
			t.Errorf("%v is written %q, and not with a span of its own each time", got, next)
		}
	}
	if got, ok := Of(With(context.Background(), Trace{ID: id})); !ok || got.ID != id {
		t.Errorf("of a context: %v", got)
	}
	if _, ok := Of(context.Background()); ok {
		t.Error("a context without a trace has one")
	}
	if a, b := New(), New(); a.ID == b.ID || len(a.ID) != 32 || a.Sampled {
		t.Errorf("new traces %v %v", a, b)
	}
}
