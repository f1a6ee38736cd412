package bulk

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/fault"
)

func TestColumns(t *testing.T) {
	many := func(n int) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = fmt.Sprintf("x:%d", i)
		}
		return list
	}
	const uid = "uid:major_version uid:minor_version uid:uid"
	tests := []struct {
		params map[string]any
		want   string
		count  int // instead of want, if it is not 0; -1: too many
	}{
		{params: nil, want: ""},
		{params: map[string]any{"schemas": "uid"}, want: uid},
		{params: map[string]any{"schemas": []any{"uid"}}, want: uid},
		{params: map[string]any{"schemas": []any{"uid", "uid"}}, want: uid},
		{params: map[string]any{"schemas": " uid , ,uid"}, want: uid},
		{params: map[string]any{"schemas": ""}, want: ""},
		{params: map[string]any{"schemas": []any{}}, want: ""},
		{params: map[string]any{"xpaths": "dc:title"}, want: "dc:title"},
		{params: map[string]any{"xpaths": "b:z,a:y"}, want: "b:z a:y"}, // in the order given
		{params: map[string]any{"xpaths": []any{"dc:title", "dc:title"}}, want: "dc:title"},
		{params: map[string]any{"schemas": "uid", "xpaths": "uid:uid, dc:title"}, want: uid + " dc:title"},
		{params: map[string]any{"xpaths": "dc:nature", "lang": "en"}, want: "dc:nature dc:nature[label]"},
		{params: map[string]any{"xpaths": "dc:nature", "lang": ""}, want: "dc:nature"},
		{params: map[string]any{"xpaths": "dc:title", "lang": "en"}, want: "dc:title"},
		{params: map[string]any{"xpaths": many(maxColumns)}, count: maxColumns},
		{params: map[string]any{"xpaths": many(maxColumns + 1)}, count: -1},
		{params: map[string]any{"xpaths": append(many(maxColumns), many(maxColumns)...)}, count: maxColumns},
		{params: map[string]any{"xpaths": append(many(maxColumns), many(maxColumns+1)...)}, count: -1},
		{params: map[string]any{"schemas": "uid", "xpaths": many(maxColumns)}, count: -1},
	}
	opstest.New(t).Do("alice", func(c *engine.Ctx) error {
		for _, test := range tests {
			got, err := columns(c, test.params)
			switch {
			case test.count < 0:
				if !fault.Is(err, fault.Limit) {
					t.Errorf("%.80v: got %v", test.params, err)
				}
			case err != nil, test.count > 0 && len(got) != test.count, test.count == 0 && strings.Join(got, " ") != test.want:
				t.Errorf("%.80v: got %v, %v; want %s", test.params, got, err, test.want)
			}
		}
		return nil
	})
}

func TestTableParameters(t *testing.T) {
	tests := []struct {
		params map[string]any
		want   string
	}{
		{map[string]any{"fileName": "a.csv", "lang": "en", "sort": true, "sortResult": false, "zip": true}, ""},
		{map[string]any{"fileName": nil, "zip": nil, "schemas": nil}, ""},
		{map[string]any{"fileName": 7}, "fileName: must be a string"},
		{map[string]any{"lang": true}, "lang: must be a string"},
		{map[string]any{"zip": "true"}, "zip: must be true or false"},
		{map[string]any{"sort": 1.0}, "sort: must be true or false"},
		{map[string]any{"sortResult": "x"}, "sortResult: must be true or false"},
		{map[string]any{"fileName": "../a.csv"}, "fileName: must be a name without folders"},
		{map[string]any{"fileName": `a\b`}, "fileName: must be a name without folders"},
		{map[string]any{"fileName": "a\x00"}, "fileName: must be a name without folders"},
		{map[string]any{"schemas": "dublincor"}, `schemas: no schema "dublincor", perhaps dublincore`},
		{map[string]any{"schemas": 7}, "schemas: must be a list of strings"},
		{map[string]any{"schemas": []any{7}}, "schemas: must be a list of strings"},
		{map[string]any{"xpaths": map[string]any{}}, "xpaths: must be a list of strings"},
		{map[string]any{"xpaths": []any{"a", nil}}, "xpaths: must be a list of strings"},
	}
	opstest.New(t).Do("alice", func(c *engine.Ctx) error {
		for _, test := range tests {
			err := checkTable(c, test.params)
			if test.want == "" && err != nil || test.want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != test.want) {
				t.Errorf("%v: got %v, want %s", test.params, err, test.want)
			}
		}
		return nil
	})
}

func TestCell(t *testing.T) {
	var none *storage.Blob
	tests := []struct {
		v    any
		want string
	}{
		{nil, ""},
		{none, ""},
		{"", ""},
		{"text", "text"},
		{` "quoted" `, ` "quoted" `},
		{true, "true"},
		{int64(-7), "-7"},
		{0.5, "0.5"},
		{time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), "2025-01-02T03:04:05Z"},
		{engine.NewBlob("a.txt", "text/plain", nil), "a.txt"},
		{[]any{}, ""},
		{[]any{"a"}, "a"},
		{[]any{"a", int64(2), nil, true}, "a | 2 |  | true"},
		{[]any{[]any{"a", "b"}, "c"}, "a | b | c"},
		{map[string]any{"b": int64(1), "a": "x"}, `{"a":"x","b":1}`},
		{[]any{map[string]any{"a": nil}}, `{"a":null}`},
	}
	for _, test := range tests {
		if got := cell(test.v); got != test.want {
			t.Errorf("%v: got %q, want %q", test.v, got, test.want)
		}
	}
}

// TestLine writes documents of several types in one table: what a type does not have is empty.
func TestLine(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Make(c, "/", "File", "a", storage.Props{"dc:title": "A", "dc:subjects": "art,music", "dc:nature": "memo"})
		d, err := c.Tx.Lock(d)
		if err != nil {
			return err
		}
		folder := w.Make(c, "/", "Folder", "f", nil)
		params := map[string]any{"xpaths": "dc:subjects,file:content,no:such,dc:nature", "lang": "fr"}
		names, err := columns(c, params)
		if err != nil {
			return err
		}
		for _, test := range []struct {
			d    *storage.Doc
			want string
		}{
			{d, "/a|File|project|true|false|false|A|Administrator|art + music|||memo|Mémo"},
			{folder, "/f|Folder|project|true|false|false|f||||||"},
		} {
			cells, err := line(c, test.d, csvTable{params: params, columns: names})
			if err != nil {
				return err
			}
			if len(cells) != len(firstColumns)+len(names) {
				t.Errorf("%s: %d cells, want %d", test.d.Path(), len(cells), len(firstColumns)+len(names))
				continue
			}
			byName := map[string]string{}
			for i, name := range append(append([]string{}, firstColumns...), names...) {
				byName[name] = strings.ReplaceAll(cells[i], " | ", " + ")
			}
			var got []string
			for _, name := range []string{"path", "type", "state", "isCheckedOut", "isVersion", "isTrashed", "title", "lockOwner", "dc:subjects", "file:content", "no:such", "dc:nature", "dc:nature[label]"} {
				got = append(got, byName[name])
			}
			if got := strings.Join(got, "|"); got != test.want {
				t.Errorf("%s:\n got %s\nwant %s", test.d.Path(), got, test.want)
			}
		}
		return nil
	})
}
