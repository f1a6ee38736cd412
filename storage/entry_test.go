package storage

import (
	"reflect"
	"testing"
	"time"
)

func TestEntry(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123).UTC()
	for _, e := range []Entry{
		{Event: "loginSuccess", User: "bob", Source: "server", Time: at, Logged: at},
		{
			ID: 7, Event: "documentCreated", Category: documentCategory, User: "bob", Source: "server", Time: at, Logged: at,
			DocID: "01234567-89ab-cdef-0123-456789abcdef", DocPath: "/a/b", DocType: "File", DocState: "project",
		},
		{
			ID: 1 << 40, Event: "x", Category: "mine", User: "bob", Comment: "why", Source: "client", Time: at, Logged: at.Add(time.Hour),
			DocID: "01234567-89ab-cdef-0123-456789abcdef", DocPath: "/", DocType: "Root", Extended: map[string]any{"n": 1.5, "list": []any{"a"}},
		},
	} {
		b, err := e.append(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got Entry
		if err := got.parse(b); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, e)
		}
		for n := range b {
			if err := got.parse(b[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes are read as %+v", e.Event, n, len(b), got)
			}
		}
	}
}
