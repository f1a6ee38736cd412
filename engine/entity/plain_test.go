package entity

import (
	"encoding/json"
	"reflect"
	"testing"
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
