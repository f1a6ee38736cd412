package expr

import (
	"slices"
	"testing"
)

// TestLetNames holds that a name declared in one part of a template is still a variable in another one.
func TestLetNames(t *testing.T) {
	for source, want := range map[string][]string{
		"@{let x = a; x} and @{x}": {"a", "x"},
		"@{x} and @{let x = a; x}": {"x", "a"},
		"expr:let x = a; x + b":    {"a", "b"},
		"@{let x = 1; x}":          nil,
	} {
		p, err := Parse(source, false)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Names, want) {
			t.Errorf("%s: %v, want %v", source, p.Names, want)
		}
	}
	p, err := Parse("@{let x = 1; x} @{x} @{Fn.date(y)['a:b']}", false)
	if err != nil {
		t.Fatal(err)
	}
	if at := p.At("x"); p.Source[at:at+1] != "x" || at < len("@{let x = 1; x} ") {
		t.Errorf("x is first read at %d", at)
	}
	if !slices.Equal(p.Helpers, []string{"date"}) || !slices.Contains(p.Keys, "a:b") || !slices.Contains(p.Methods, "Fn.date") {
		t.Errorf("%+v", p)
	}
}

// TestWeighMap holds that the entries of a map count as often as those of a list.
func TestWeighMap(t *testing.T) {
	weigh := func(v any, times int) (size int) {
		m := NewMeter(func(n int) error { size += n; return nil })
		if err := m.weigh(v, times, 0); err != nil {
			t.Fatal(err)
		}
		return size
	}
	for _, v := range []any{"text", []string{"a", "b"}, []any{"a", 1}, map[string]any{"name": "value", "more": []any{map[string]any{"a": "b"}}}} {
		if once, many := weigh(v, 1), weigh(v, 17); once == 0 || many != 17*once {
			t.Errorf("%v: %d once, %d for 17 times", v, once, many)
		}
	}
}
