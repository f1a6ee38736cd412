package engine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"catena/storage/fault"
)

func TestOffset(t *testing.T) {
	tests := []struct{ index, size, want int }{
		{0, 0, 0},
		{0, 1, 0},
		{1, 0, 0},
		{math.MaxInt, 0, 0},
		{math.MaxInt, -1, 0},
		{3, 50, 150},
		{0, math.MaxInt, 0},
		{1, maxOffset, maxOffset},
		{2, maxOffset, -1},
		{1, maxOffset + 1, -1},
		{maxOffset, 1, maxOffset},
		{maxOffset + 1, 1, -1},
		{1 << 62, 4, -1}, // overflows to 0
		{math.MaxInt, 1000, -1},
		{-1, 50, -1},
	}
	for _, test := range tests {
		got, err := Offset(test.index, test.size)
		if e := (*fault.Error)(nil); errors.As(err, &e) && (e.Kind != fault.Invalid || e.Field != "currentPageIndex") {
			t.Errorf("page %d of %d: %v", test.index, test.size, err)
		}
		if err == nil && got != test.want || (err != nil) != (test.want < 0) {
			t.Errorf("page %d of %d: got %d, %v, want %d", test.index, test.size, got, err, test.want)
		}
	}
}

// TestHolder finds the parameter that was given the name of what an error is about, or of what that is a part of.
func TestHolder(t *testing.T) {
	type params struct {
		Xpath string `json:"xpath" doc:"d"`
		Value string `json:"value,omitzero" doc:"d"`
		Save  bool   `json:"save,omitzero" doc:"d"`
	}
	set, err := NewSet([]Op{{Name: "Test.Op", Doc: "d", Callers: Anyone, Run: On(func(params, *Ctx, Void) (Void, error) { return Void{}, nil })}})
	if err != nil {
		t.Fatal(err)
	}
	d, _ := set.Op("Test.Op")
	for _, c := range []struct {
		params    any
		err       error
		want, say string
	}{
		{&params{Xpath: "dc:title"}, fault.Invalid.Errorf("property dc:title: must be a list").In("dc:title"), "xpath", "property dc:title: must be a list"},
		{&params{Xpath: "files:files"}, fault.Invalid.Errorf("no such property").In("files:files/0/fil"), "xpath", "no such property"},
		{&params{Xpath: strings.Repeat("a/", 500)}, fault.Invalid.Errorf("too long").In(strings.Repeat("a/", 500)), "xpath", "too long"},
		{&params{Xpath: "dc:title"}, fault.Invalid.Errorf("too long").In("dc:titles"), "dc:titles", "too long"},
		{&params{Xpath: "a", Value: "dc:title"}, fault.Invalid.Errorf("no").In("dc:title"), "value", "no"},
		{&params{Xpath: "save"}, fault.Invalid.Errorf("no").In("save"), "save", "no"},
		{&params{}, fault.Invalid.Errorf("no").In("dc:title"), "dc:title", "no"},
		{&params{Xpath: "dc:title"}, fault.Invalid.Errorf("no"), "", "no"},
		{nil, fault.Invalid.Errorf("no").In("dc:title"), "dc:title", "no"},
	} {
		var got *fault.Error
		if !errors.As(d.table.named(c.err, c.params), &got) || got.Field != c.want || got.Message != c.say {
			t.Errorf("%+v: %+v, want %s", c.params, got, c.want)
		}
	}
}
