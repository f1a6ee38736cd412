package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLen(t *testing.T) {
	for _, v := range []any{
		"", `"`, `\`, `\"`, `a\\"b`, strings.Repeat(`\`, 9), "a\nb", "é,]}", 1.5, nil, true,
		[]any{`]`, []any{}, map[string]any{`}"`: `{`}},
		map[string]any{"a": []any{",", `\`}, `b"`: "x"},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []string{"", `,"next":"\""`, "}", "]"} {
			if got := Len([]byte(string(text) + after)); got != len(text) {
				t.Errorf("%s%s: %d, want %d", text, after, got, len(text))
			}
		}
	}
	for _, broken := range []string{`"`, `"\`, `"\"`, `"a\\\"`} {
		if got := Len([]byte(broken)); got != len(broken) {
			t.Errorf("%s: %d", broken, got)
		}
	}
}
