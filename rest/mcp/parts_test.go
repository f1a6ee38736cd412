package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestParts reads objects of which only some members are known.
func TestParts(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want string // values of id and name; "no": it is not such an object
	}{
		{`{"id":1,"name":"a"}`, `1|"a"`},
		{` { "name" : "a" , "id" : {"x":[1,"}"]} } `, `{"x":[1,"}"]}|"a"`},
		{`{}`, `|`},
		{`{"id":null}`, `null|`},
		{`{"i\u0064":1}`, `1|`}, // the same name, written otherwise
		{`{"ID":1}`, "no"},
		{`{"id":1,"other":2}`, "no"},
		{`{"id":1}{}`, "no"},
		{`{"id":1,}`, "no"},
		{`{"id":1`, "no"},
		{`{"id":}`, "no"},
		{`{"id":01}`, "no"},
		{`[]`, "no"},
		{`null`, "no"},
		{`"id"`, "no"},
		{``, "no"},
	} {
		var into [2]json.RawMessage
		got := "no"
		if parts([]byte(test.raw), into[:], "id", "name") {
			got = string(into[0]) + "|" + string(into[1])
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.raw, got, test.want)
		}
	}
}

// TestNamed reads names of tools.
func TestNamed(t *testing.T) {
	for raw, want := range map[string]string{
		`"list_decks"`: "list_decks", `"list\u005fdecks"`: "list_decks", `""`: "", `7`: "no", `null`: "no", ``: "no", `["a"]`: "no", `"a`: "no",
	} {
		var c call
		got := "no"
		if c.named([]byte(raw)) {
			got = c.name
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}

// TestShortened measures results around the limit: only what exceeds it with its escapes loses the text.
func TestShortened(t *testing.T) {
	const most = maxResult - room
	body := func(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`) }
	for _, test := range []struct {
		structured json.RawMessage
		text       string
		whole      bool // the text stays
		fits       bool
	}{
		{body(10), "short", true, true},
		{body(most / 2), strings.Repeat("x", most/2-2), true, true},
		{body(most / 2), strings.Repeat("x", most/2), false, true},
		{body(10), strings.Repeat("x", most-12), true, true},      // longer than six bytes each would fit
		{body(10), strings.Repeat("\"", most/2-10), true, true},   // two bytes each
		{body(10), strings.Repeat("\"", most/2), false, true},     // one too many
		{body(10), strings.Repeat("\x00", most/6+1), false, true}, // six bytes each
		{body(10), strings.Repeat("\x00", most/6-10), true, true}, // as many as fit
		{body(most + 1), "short", false, false},
	} {
		r := &result{texts: []string{test.text}, structured: test.structured}
		fits := r.shortened()
		if whole := r.texts[0] == test.text; fits != test.fits || whole != test.whole {
			t.Errorf("%d bytes and a text of %d: fits %v, whole %v, want %v, %v", len(test.structured), len(test.text), fits, whole, test.fits, test.whole)
		}
	}
}
