package entity

import (
	"encoding/json"
	"reflect"
	"testing"

	"catena/engine/quoted"
)

// TestAppendPlain compares what is read back of a value with the value itself, and with what
// encoding/json writes of it.
func TestAppendPlain(t *testing.T) {
	v := map[string]any{
		"text": "<p class=\"a\">\t\x01\n\\ é \u2028</p>", "none": nil, "yes": true, "number": 1.5, "texts": []string{"<a>"},
		"list": []any{map[string]any{}, []any{}, "x", nil}, "no object": map[string]any(nil), "no list": []any(nil),
	}
	got, err := AppendPlain([]byte("x"), v)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal(got[1:], &a); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal(plain, &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got %s, want %s", got, plain)
	}
	if n, err := AppendPlain(nil, int64(-7)); err != nil || string(n) != "-7" {
		t.Errorf("got %s %v", n, err)
	}
}

// TestAppendQuoted: a text that is JSON already is copied, wherever it stands.
func TestAppendQuoted(t *testing.T) {
	text := quoted.Text(`"<p class=\"a\">"`)
	for _, test := range []struct {
		v    any
		want string
	}{
		{text, `"<p class=\"a\">"`},
		{map[string]any{"data": text, "a": "b"}, `{"a":"b","data":"<p class=\"a\">"}`},
		{[]any{text, text}, `["<p class=\"a\">","<p class=\"a\">"]`},
		{[]quoted.Text{text}, `["<p class=\"a\">"]`}, // by encoding/json
	} {
		if got, err := AppendPlain(nil, test.v); err != nil || string(got) != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
}
