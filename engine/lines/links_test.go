package lines_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"catena/engine/lines"
	"catena/storage/fault"
)

func TestLinks(t *testing.T) {
	loading := lines.Loading{Into: "/ws/desk", Key: "dc:source", Name: func(name, title string) (string, error) {
		return strings.TrimSpace(strings.ReplaceAll(cmp.Or(name, title), "/", "-")), nil
	}}
	of := func(text string) *lines.Links {
		r := lines.Record{JSON: json.RawMessage(text)}
		if text == "invalid" {
			r.Err = fault.Invalid.Errorf("record")
		}
		return loading.Links([]lines.Record{r})
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`{"name":"a"}`, `{"name":"b"}`, false},
		{`{"name":"a"}`, `invalid`, false},
		{`{"name":"a"}`, `{"name":" a "}`, true},
		{`{"name":"a/b"}`, `{"name":"a-b"}`, true},
		{`{"name":"a"}`, `{"dc:title":"a"}`, true},
		{`{"name":"a"}`, `{"name":null,"properties":{"dc:title":"a"}}`, true},
		{`{"name":"a"}`, `{"name":"b","properties":{"dc:title":"a"}}`, false},
		{`{"dc:title":"a"}`, `{"dc:title":"b"}`, false},
		{`{"dc:title":5}`, `{"name":"5"}`, true},
		{`{}`, `{"type":"Folder"}`, true}, // both get a default name
		{`{"name":"f"}`, `{"name":"b","parent":"f"}`, true},
		{`{"name":"f"}`, `{"name":"b","parent":"/ws/f/templates"}`, true},
		{`{"name":"desk"}`, `{"name":"b"}`, true},
		{`{"name":"desk"}`, `{"name":"b","parent":"/ws"}`, false},
		{`{"name":"a","parent":"f"}`, `{"name":"b","parent":"f"}`, false},
		{`{"name":"a","dc:source":"Seen"}`, `{"name":"b","properties":{"dc:source":"seen"}}`, true},
		{`{"name":"a","dc:source":"b"}`, `{"name":"b","dc:source":"c"}`, false},
	} {
		a, b := of(tt.a), of(tt.b)
		if a.Meet(b) != tt.want || b.Meet(a) != tt.want {
			t.Errorf("%s and %s: want %v", tt.a, tt.b, tt.want)
		}
	}
}
