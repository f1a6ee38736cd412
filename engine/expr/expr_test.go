package expr

import (
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
)

func TestFormat(t *testing.T) {
	at := time.Date(2024, 5, 2, 15, 4, 9, 7e6, time.UTC)
	tests := []struct{ pattern, want string }{
		{"yyyy-MM-dd'T'HH:mm:ss.SSS", "2024-05-02T15:04:09.007"},
		{"d.M.yy h a", "2.5.24 3 PM"},
		{"EEEE, d MMMM", "Thursday, 2 May"},
		{"EEE MMM", "Thu May"},
		{"''yyyy'' 'o''clock", "'2024' oclock"},
		{"D Z X z", "123 +0000 Z UTC"},
		{"'open", "open"},
		{"", ""},
	}
	for _, test := range tests {
		if got := Format(at, test.pattern); got != test.want {
			t.Errorf("%s: got %s, want %s", test.pattern, got, test.want)
		}
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		ok   bool
	}{
		{"expr:1 + 1", true},
		{"a @{b} c", true},
		{"@{ {\"a\": '}'}.a }", true},
		{"plain", false},
		{"expr:1 +", false},
		{"a @{b", false},
		{"expr:let x = 1; x", true},
	}
	for _, test := range tests {
		_, err := Parse(test.text, false)
		if (err == nil) != test.ok || err != nil && fault.Of(err) != fault.Invalid {
			t.Errorf("%s: got %v", test.text, err)
		}
	}
}

func TestValuesComeBackFromTheirViews(t *testing.T) {
	type host struct{ n int }
	h := &host{1}
	env := map[string]any{"v": map[string]any{Handle: h, "n": 1}, "d": Date(time.UnixMilli(0))}
	tests := []struct {
		text string
		want any
	}{
		{"expr:v", h},
		{"expr:v.n", int64(1)},
		{"expr:d", time.UnixMilli(0).UTC()},
		{"@{d}", "TIMESTAMP '1970-01-01 00:00:00.000'"},
		{"expr:d.days(1).format('yyyy-MM-dd')", "1970-01-02"},
		{"expr:d.days('x')", nil},
		{"expr:now()", nil},
		{"@{nope}", ""},
		{"@{1.5} @{true} @{[1, 'a']}", "1.5 true 1,a"},
	}
	for _, test := range tests {
		p, err := Parse(test.text, false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Eval(env, NewMeter(func(int) error { return nil }))
		if got != test.want || (err != nil) != (test.want == nil) {
			t.Errorf("%s: got %v, %v, want %v", test.text, got, err, test.want)
		}
	}
	p, _ := Parse("expr:[v, {'a': v}]", false)
	got, err := p.Eval(env, NewMeter(func(int) error { return nil }))
	list, _ := got.([]any)
	if err != nil || len(list) != 2 || list[0] != h || list[1].(map[string]any)["a"] != h {
		t.Errorf("nested: got %v, %v", got, err)
	}
}

// TestOfNothing: who reads a member of an empty value is told so in words.
func TestOfNothing(t *testing.T) {
	for text, want := range map[string]string{
		"expr:a.name":      "cannot read name of an empty value",
		"@{a.b}":           "cannot read b of an empty value",
		"expr:m?.none.one": "cannot read one of an empty value",
		"expr:m?.['x'].y":  "cannot read y of an empty value",
		"expr:l[0].name":   "cannot read name of an empty value",
	} {
		p, err := Parse(text, false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Eval(map[string]any{"a": nil, "m": map[string]any{}, "l": []any{nil}}, NewMeter(func(int) error { return nil }))
		if err == nil || !strings.Contains(err.Error(), want) || fault.Of(err) != fault.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
