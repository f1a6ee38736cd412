package data

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"catena/engine"
	"catena/engine/spreadsheet"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/fault"
)

func ctx(t testing.TB) *engine.Ctx {
	return &engine.Ctx{Context: t.Context()}
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestReadXML reads what services answer.
func TestReadXML(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a text", `<a>x</a>`, `{"a":"x"}`},
		{"nothing", `<a/>`, `{"a":""}`},
		{"attributes", `<a id="1" name=""/>`, `{"a":{"@id":"1","@name":""}}`},
		{"a text with attributes", `<price currency="EUR"> 12.50 </price>`, `{"price":{"#text":"12.50","@currency":"EUR"}}`},
		{"several of a name", `<a><b>1</b><c/><b>2</b><b><d/></b></a>`, `{"a":{"b":["1","2",{"d":""}],"c":""}}`},
		{"one that is a list by its name", `<a><b>1</b></a>`, `{"a":{"b":"1"}}`},
		{"text between elements", `<p>Hello <b>Ada</b>!</p>`, `{"p":{"#text":"Hello !","b":"Ada"}}`},
		{"namespaces", `<n:a xmlns:n="urn:x" xmlns="urn:y" n:id="1"><n:b/></n:a>`, `{"a":{"@id":"1","b":""}}`},
		{"CDATA, comments, instructions", `<?xml version="1.0"?><!-- no --><a><![CDATA[<b>]]><?x y?></a>`, `{"a":"\u003cb\u003e"}`},
		{"references", `<a>&lt;&amp;&#233;&#x1F389;</a>`, `{"a":"\u003c\u0026é🎉"}`},
		{"another encoding", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>caf\xe9</a>", `{"a":"café"}`},
		{"an element that is named as an attribute", `<a b="1"><b>2</b></a>`, `{"a":{"@b":"1","b":"2"}}`},
		{"blank text", "<a>\n  <b/>\n</a>\n", `{"a":{"b":""}}`},
	} {
		got, err := readXML(ctx(t), []byte(test.text), nil)
		if err != nil || asJSON(got) != test.want {
			t.Errorf("%s: got %s, %v; want %s", test.name, asJSON(got), err, test.want)
		}
	}
	got, err := readXML(ctx(t), []byte(`<a><b>1</b><c><b/></c></a>`), []string{"b"})
	if want := `{"a":{"b":["1"],"c":{"b":[""]}}}`; err != nil || asJSON(got) != want {
		t.Errorf("lists: got %s, %v", asJSON(got), err)
	}
}

func TestReadXMLRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                        "there is no element",
		`<!-- only a comment -->`: "there is no element",
		`<a>`:                     "line 1: unexpected EOF",
		"<a>\n<b></a>":            "line 2: element <b> closed by </a>",
		`<a/><b/>`:                "line 1: a second root element b",
		`text <a/>`:               "line 1: text outside of the root element",
		`<a/> text`:               "line 1: text outside of the root element",
		`<a b=1/>`:                "line 1: unquoted or missing attribute value",
		`<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`: "line 1: invalid character entity &x;",
		`<?xml version="1.0" encoding="no-such"?><a/>`:                     "no-such",
		strings.Repeat("<a>", maxDepth+1):                                  "nested more than 200 deep",
	} {
		_, err := readXML(ctx(t), []byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
	many := "<a>" + strings.Repeat("<b/>", maxRows*10) + "</a>"
	if _, err := readXML(ctx(t), []byte(many), nil); fault.Of(err) != fault.Limit {
		t.Errorf("many elements: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readXML(&engine.Ctx{Context: gone}, []byte(many), nil); err == nil || fault.Of(err) == fault.Limit {
		t.Errorf("a call that has ended: %v", err)
	}
}

func TestWriteXML(t *testing.T) {
	const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	for _, test := range []struct{ in, want, refused string }{
		{in: `{"a": "x"}`, want: `<a>x</a>`},
		{in: `{"a": null}`, want: `<a></a>`},
		{in: `{"a": {"@id": 7, "#text": "é<&"}}`, want: `<a id="7">é&lt;&amp;</a>`},
		{in: `{"a": {"b": [1, true, null]}}`, want: "<a>\n  <b>1</b>\n  <b>true</b>\n  <b></b>\n</a>"},
		{in: `[1, "b"]`, want: "<data>\n  <item>1</item>\n  <item>b</item>\n</data>"},
		{in: `{"a": 1, "b": 2}`, want: "<data>\n  <a>1</a>\n  <b>2</b>\n</data>"},
		{in: `{"a": [1, 2]}`, want: "<data>\n  <a>1</a>\n  <a>2</a>\n</data>"},
		{in: `{"a": {"b": [[1], [2]]}}`, want: "<a>\n  <b>\n    <item>1</item>\n  </b>\n  <b>\n    <item>2</item>\n  </b>\n</a>"},
		{in: `"text"`, want: `<data>text</data>`},
		{in: `{"@a": 1}`, want: `<data a="1"></data>`},
		{in: `{"a b": 1}`, refused: `"a b" is not the name of an element`},
		{in: `{"": 1}`, refused: `"" is not the name of an element`},
		{in: `{"a><b": 1}`, refused: `is not the name of an element`},
		{in: `{"dc:title": 1}`, refused: `"dc:title" is not the name of an element`},
		{in: `{"a": {"@x y": 1}}`, refused: `"x y" is not the name of an attribute`},
		{in: `{"a": {"@a/><b c": 1}}`, refused: `is not the name of an attribute`},
		{in: strings.Repeat(`{"a":`, maxDepth+2) + `1` + strings.Repeat(`}`, maxDepth+2), refused: "nested more than 200 deep"},
	} {
		var v any
		if err := json.Unmarshal([]byte(test.in), &v); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := writeXML(ctx(t), v, &out)
		if test.refused != "" {
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%.40s: got %v, want %s", test.in, err, test.refused)
			}
			continue
		}
		if got := strings.TrimPrefix(out.String(), head); err != nil || got != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", test.in, err, got, test.want)
		}
	}
}

// TestXMLComesBack writes random values and reads the same again.
func TestXMLComesBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	texts := []string{"x", "é 漢", "a < b & c", "]]>", "\"quoted\"", "1.50", "two  blanks", "line\nline"}
	var value func(depth int) any
	value = func(depth int) any {
		if depth == 0 || rnd.IntN(3) == 0 {
			return texts[rnd.IntN(len(texts))]
		}
		m := map[string]any{"@id": texts[rnd.IntN(len(texts))]}
		for _, name := range []string{"a", "b", "ключ", "x-1"} {
			switch rnd.IntN(3) {
			case 0:
				m[name] = value(depth - 1)
			case 1:
				m[name] = []any{value(depth - 1), value(depth - 1)}
			}
		}
		return m
	}
	for range 300 {
		in := map[string]any{"root": value(4)}
		var out strings.Builder
		if err := writeXML(ctx(t), in, &out); err != nil {
			t.Fatal(err)
		}
		got, err := readXML(ctx(t), []byte(out.String()), nil)
		if err != nil || !reflect.DeepEqual(got, any(in)) {
			t.Fatalf("%v\n%s\ngot  %s\nwant %s", err, out.String(), asJSON(got), asJSON(in))
		}
	}
}

// TestFormat goes by the type of a file, then by its name, then by how it begins.
func TestFormat(t *testing.T) {
	for _, test := range []struct{ name, typ, text, want string }{
		{"a.csv", "application/json", "{}", "csv"},
		{"a.txt", "text/csv; charset=utf-8", "{}", "csv"},
		{"a", "application/x-ndjson", "", "jsonl"},
		{"a.csv", spreadsheet.Type, "", "xlsx"},
		{"A.XLSX", "application/octet-stream", "PK", "xlsx"},
		{"a.xml", "", "{}", "xml"},
		{"a", "application/atom+xml", "", "xml"},
		{"a", "text/xml; charset=utf-8", "", "xml"},
		{"a", "", "\ufeff <a/>", "xml"},
		{"a", "", " [1]", "json"},
		{"a", "", "{\"a\": 1}\n{}", "jsonl"},
		{"a", "", "{\n\"a\": 1}", "json"},
		{"a", "", "a,b", "csv"},
		{"", "", "", "csv"},
	} {
		if got := formatOf(&storage.Blob{Name: test.name, Type: test.typ}, test.text); got != test.want {
			t.Errorf("%s of %s, %q: got %s, want %s", test.name, test.typ, test.text, got, test.want)
		}
	}
}

// TestBook writes a list to a spreadsheet and reads it again, as a chain would.
func TestBook(t *testing.T) {
	w := opstest.New(t)
	w.Do("alice", func(c *engine.Ctx) error {
		in := []any{map[string]any{"no": 1.0, "title": "=cmd", "paid": true}, map[string]any{"no": 2.5, "tags": []any{"a", "b"}}}
		b, err := writeParams{Format: "xlsx", Sheet: "Data"}.run(c, in)
		if err != nil {
			return err
		}
		if b.Name != "data.xlsx" || b.Type != spreadsheet.Type {
			t.Errorf("file %s of %s", b.Name, b.Type)
		}
		books := spreadsheet.NewReader(nil)
		got, err := readParams{Format: "auto", Header: true}.readBook(c, books, b)
		if want := `[{"no":1,"paid":true,"tags":null,"title":"=cmd"},{"no":2.5,"paid":null,"tags":"a,b"}]`; err != nil || asJSON(got) != want {
			t.Errorf("got %s, %v; want %s", asJSON(got), err, want)
		}
		got, err = readParams{}.readBook(c, books, b)
		if want := `[["no","paid","tags","title"],[1,true,null,"=cmd"],[2.5,null,"a,b"]]`; err != nil || asJSON(got) != want {
			t.Errorf("without a head: %s, %v", asJSON(got), err)
		}
		b, err = writeParams{Format: "xlsx", Sheet: "S", Columns: []string{"title", "no"}}.run(c, in)
		if err != nil {
			return err
		}
		got, err = readParams{Sheet: "S"}.readBook(c, books, b)
		if want := `[["title","no"],["=cmd",1],[null,2.5]]`; err != nil || asJSON(got) != want {
			t.Errorf("columns: %s, %v", asJSON(got), err)
		}
		if _, err := (writeParams{Format: "xlsx", Sheet: "a/b"}).run(c, in); fault.Of(err) != fault.Invalid {
			t.Errorf("a name that no sheet may have: %v", err)
		}
		if _, err := (writeParams{Format: "xlsx", Sheet: "S"}).run(c, struct{}{}); fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "must be a list") {
			t.Errorf("not a list: %v", err)
		}
		return nil
	})
}

// TestTable names the rows that do not fit.
func TestTable(t *testing.T) {
	for _, test := range []struct {
		rows [][]any
		want string
	}{
		{[][]any{{"a", "a"}}, "must have a name that no other column has"},
		{[][]any{{"a", nil}}, "must have a name"},
		{[][]any{{"a"}, {1}, {1, 2}}, "line 3: 2 cells, but 1 columns"},
	} {
		tab := table{header: true}
		var err error
		for i, row := range test.rows {
			if err = tab.add(row, i+1); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test.rows, err)
		}
	}
	tab := table{out: make([]any, maxRows)}
	if err := tab.add([]any{1}, 1); fault.Of(err) != fault.Limit {
		t.Errorf("one row too many: %v", err)
	}
}

func FuzzReadXML(f *testing.F) {
	for _, text := range []string{`<a b="1"><c/>x</a>`, `<a><![CDATA[x]]></a>`, `<n:a xmlns:n="u"/>`, "<a>\x00</a>", `<a>&#0;</a>`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readXML(ctx(t), []byte(text), nil)
		if err != nil {
			if k := fault.Of(err); k != fault.Invalid && k != fault.Limit {
				t.Fatal(err)
			}
			return
		}
		var out strings.Builder
		if err := writeXML(ctx(t), v, &out); err != nil && fault.Of(err) != fault.Invalid {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
