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

// TestStrictly reads arguments into a struct: all of them are known, or the first that is not is named.
func TestStrictly(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{`{"name":"a","params":{"x":[1,{"name":2}]}}`, `a {"x":[1,{"name":2}]}`},
		{` { "params" : null } `, ` null`},
		{`{}`, ` `},
		{`null`, ` `},
		{``, ` `},
		{`{"z":1,"b":{"name":1},"name":"a"}`, `arguments: unknown argument "b", must be name, params`},
		{`{"Name":"a"}`, `arguments: unknown argument "Name", must be name, params`},
		{`[]`, "arguments: must be an object"},
		{`"name"`, "arguments: must be an object"},
		{`{"name":7}`, "arguments: cannot unmarshal number into Go struct field .name of type string"},
	} {
		var into struct {
			Name   string          `json:"name"`
			Params json.RawMessage `json:"params"`
		}
		err := strictly(json.RawMessage(test.raw), &into)
		got := into.Name + " " + string(into.Params)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.raw, got, test.want)
		}
	}
	for _, broken := range []string{`{"name":}`, `{"name":"a"`, `{"name":"a"}}`, `{`} {
		var into struct {
			Name string `json:"name"`
		}
		if err := strictly(json.RawMessage(broken), &into); err == nil {
			t.Errorf("%s was read", broken)
		}
	}
}
