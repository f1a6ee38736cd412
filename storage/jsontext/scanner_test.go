package jsontext

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestErrors(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{``, "JSON is missing a value at byte 0"},
		{`{} 1`, "JSON has trailing data at byte 3"},
		{`{a:1}`, "JSON is missing a name at byte 1"},
		{`{"a" 1}`, "JSON is missing a colon at byte 5"},
		{`{"a":1,}`, "JSON is missing a name at byte 7"},
		{`{"a":1 "b":2}`, "JSON is missing a comma or } at byte 7"},
		{`{"a":1,"a":2}`, `JSON has the duplicate name "a" at byte 7`},
		{`{"a":1,"b":2,"c":3,"d":4}`, "JSON has more than 3 names at byte 23"},
		{`[1,]`, "JSON is missing a value at byte 3"},
		{`[1 2]`, "JSON is missing a comma or ] at byte 3"},
		{`[01]`, "JSON has a malformed number at byte 2"},
		{`[1.]`, "JSON has a malformed number at byte 3"},
		{`["a`, "JSON has an unterminated string at byte 1"},
		{`["é\`, "JSON has an unterminated string at byte 1"},
		{`["é\x"]`, "JSON has an invalid escape in a string at byte 4"},
		{"[\"a\n\"]", "JSON has a control character in a string at byte 3"},
		{"[\"\xff\"]", "JSON is not valid UTF-8 at byte 3"},
		{strings.Repeat("[", 129) + strings.Repeat("]", 129), "JSON is nested deeper than 128 at byte 128"},
	} {
		for name, read := range map[string]func(s *Scanner) error{
			"Skip":  func(s *Scanner) error { _, err := s.Skip(0); return err },
			"Value": func(s *Scanner) error { _, err := s.Value(0); return err },
		} {
			s := &Scanner{Data: []byte(test.src), MaxNames: 3}
			err := read(s)
			if err == nil {
				err = s.End()
			}
			if name == "Value" && strings.Contains(test.want, "more than") {
				continue // anyone who wants the values has bounded the text
			}
			if err == nil || err.Error() != test.want {
				t.Errorf("%s %.40s: got %v, want %s", name, test.src, err, test.want)
			}
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	s := &Scanner{Data: []byte("[" + strings.Repeat("1,", 1<<20) + "1]"), Context: canceled}
	if _, err := s.Skip(0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// FuzzScanner compares what Skip accepts and Value returns with encoding/json.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,"\u00e9"],"b":{"c":null,"d":true}}`, ` [0,1e400,""] `, `"\ud83d"`, string(call)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Scanner{Data: data}
		_, err := s.Skip(0)
		if err == nil {
			err = s.End()
		}
		if err == nil && (!json.Valid(data) || !utf8.Valid(data)) {
			t.Fatalf("%q was taken", data)
		}
		s = Scanner{Data: data}
		v, wrong := s.Value(0)
		if wrong == nil {
			wrong = s.End()
		}
		if err != nil && wrong == nil {
			t.Fatalf("%q: Skip says %v, Value nothing", data, err)
		}
		if wrong != nil {
			return
		}
		var want, got any
		back, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(data, &want) != nil || json.Unmarshal(back, &got) != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q became %s", data, back)
		}
	})
}
