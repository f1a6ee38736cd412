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
		rest, err := got.parse(append(b[:len(b):len(b)], "next"...))
		if err != nil || string(rest) != "next" || !reflect.DeepEqual(got, e) {
			t.Errorf("got  %+v, %q, %v\nwant %+v", got, rest, err, e)
		}
		for n := range b {
			if _, err := got.parse(b[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes are read as %+v", e.Event, n, len(b), got)
			}
		}
	}
}

// TestEntryAlone: rows that had one entry each are read.
func TestEntryAlone(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123).UTC()
	want := Entry{Event: "loginSuccess", User: "bob", Source: "server", Time: at, Logged: at}
	b, err := want.append(nil)
	if err != nil {
		t.Fatal(err)
	}
	b[0], b[1] = entryAlone, b[1]|entryExtended
	want.Extended = map[string]any{"n": 1.0}
	var got Entry
	if rest, err := got.parse(append(b, `{"n":1}`...)); err != nil || len(rest) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %q, %v", got, rest, err)
	}
}
