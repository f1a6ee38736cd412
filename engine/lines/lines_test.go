package lines_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"catena/engine/lines"
	"catena/storage/fault"
)

// read writes what a reader reads, a line for each record.
func read(t testing.TB, text string, f lines.Format, most int) string {
	t.Helper()
	r, err := lines.NewReader(strings.NewReader(text), f, most)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for range 1000 {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out.String()
		case err != nil:
			return out.String() + "! " + err.Error() + "\n"
		case rec.Err != nil:
			fmt.Fprintf(&out, "%d %s %v\n", rec.Line, fault.Of(rec.Err), rec.Err)
		default:
			fmt.Fprintf(&out, "%d %s\n", rec.Line, rec.JSON)
		}
	}
	return out.String()
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, tt := range map[string]struct {
		format     lines.Format
		text, want string
	}{
		"objects":            {lines.JSON, "{\"a\":1}\n{\"b\":[2]}\n", "1 {\"a\":1}\n2 {\"b\":[2]}\n"},
		"no end of line":     {lines.JSON, "{\"a\":1}", "1 {\"a\":1}\n"},
		"mark, CRLF, blanks": {lines.JSON, "\ufeff {\"a\":1} \r\n\r\n\n{}\r\n", "1 {\"a\":1}\n4 {}\n"},
		"nothing":            {lines.JSON, "", ""},
		"blank":              {lines.JSON, "\n\n", ""},
		"no objects": {lines.JSON, "[1]\n{\"a\":\n{}\n{\"a\":\"\xff\"}", "1 invalid record: must be a JSON object in one line\n" +
			"2 invalid record: must be a JSON object in one line\n3 {}\n4 invalid record: must be a JSON object in one line\n"},
		"a long one": {lines.JSON, `{"a":"` + long + long + "\"}\n{}", "1 limit record: more than 150000 bytes\n2 {}\n"},
		"columns": {
			lines.CSV, "name,dc:title,dc:subjects\na,\"One, and\nmore\",\"x,y\"\nb,,\n",
			"2 {\"name\":\"a\",\"properties\":{\"dc:subjects\":\"x,y\",\"dc:title\":\"One, and\\nmore\"}}\n4 {\"name\":\"b\"}\n",
		},
		"semicolons":     {lines.CSV, "\ufeffname;dc:title\r\na;One, two\r\n", "2 {\"name\":\"a\",\"properties\":{\"dc:title\":\"One, two\"}}\n"},
		"tabs":           {lines.CSV, "name\tdc:title\na\tOne\n", "2 {\"name\":\"a\",\"properties\":{\"dc:title\":\"One\"}}\n"},
		"cells":          {lines.CSV, "name,type\na\nb,File\nc,File,x\n", "2 invalid record: wrong number of fields\n3 {\"name\":\"b\",\"type\":\"File\"}\n4 invalid record: wrong number of fields\n"},
		"quotes":         {lines.CSV, "name\na\"b\nc\n", "2 invalid record: bare \" in non-quoted-field\n3 {\"name\":\"c\"}\n"},
		"bytes":          {lines.CSV, "name\n\xff\n", "2 invalid record: name must be UTF-8\n"},
		"columns twice":  {lines.CSV, "name,name\n", "! column 2: must have a name that no other column has, not \"name\"\n"},
		"no column":      {lines.CSV, "name,\n", "! column 2: must have a name that no other column has, not \"\"\n"},
		"no line":        {lines.CSV, "", ""},
		"an endless one": {lines.CSV, "name\n\"" + long + long, "! record: more than 150000 bytes\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, tt.text, tt.format, 150_000); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
	if _, err := lines.NewReader(strings.NewReader(""), "xml", 1); !fault.Is(err, fault.Invalid) {
		t.Errorf("xml: %v", err)
	}
}

func TestFormats(t *testing.T) {
	for name, want := range map[string]lines.Format{"a.csv": lines.CSV, "b.JSONL": lines.JSON, "c.ndjson": lines.JSON, "d.json": "", "csv": ""} {
		if got := lines.Named(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// FuzzReader: whatever is read, no record is longer than allowed and lines are counted upwards.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"{}\n{\"a\":1}", "a,b\n1,2\n", "a;b\n\"1\n2\";3", "\ufeff\"", "\n\n{"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, table bool) {
		format := lines.JSON
		if table {
			format = lines.CSV
		}
		r, err := lines.NewReader(strings.NewReader(s), format, 1000)
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for range len(s) + 2 {
			rec, err := r.Next()
			if err != nil {
				return
			}
			if rec.Line <= last || rec.Err == nil && rec.JSON == nil {
				t.Fatalf("record %+v after line %d", rec, last)
			}
			last = rec.Line
		}
		t.Fatal("more records than bytes")
	})
}
