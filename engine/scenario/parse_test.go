package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParseErrors: what is wrong is told with the file and the line on which the command begins.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"= 1\n", `f:1: "= 1" follows no command`},
		{"# a\n\n! denied: x\n", `f:3: "! denied: x" follows no command`},
		{"as bob\n= 1\n", `f:2: "= 1" follows no command`},
		{"run A\n# a\n= 1\n", `f:3: "= 1" follows no command`},
		{"run A\n= 1\n= 2\n", `f:3: "= 2" follows no command`},
		{"run A\n= {\n\"a\": 1}\n! denied\n", `f:4: "! denied" follows no command`},
		{"fly A\n", `f:1: there is no command "fly"`},
		{"run A\nRun B\n", `f:2: there is no command "Run"`},
		{"run A {\n\"a\": 1}\nfly\n", `f:3: there is no command "fly"`},
		{"run\n", "f:1: run what?"},
		{"dry run\n", "f:1: run what?"},
		{"chain \n", "f:1: chain what?"},
		{"script\n", "f:1: script what?"},
		{"\nas\n", "f:2: as what?"},
		{"user\n", "f:1: user what?"},
		{"let\n", "f:1: let what?"},
		{"dry as bob\n", "f:1: dry as: only calls may be dry"},
		{"dry let a = b\n", "f:1: dry let: only calls may be dry"},
		{"dry dry run A\n", "f:1: dry dry: only calls may be dry"},
		{"fly A", `f:1: there is no command "fly"`},
	} {
		if s, err := Parse("f", []byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, %v, want %s", c.text, s, err, c.want)
		}
	}
}

// TestParseLines: every form of line is read, and written again as it was.
func TestParseLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"# only this\n", "|"},
		{"\n\n", "| |"},
		{"run A\n", "run|A"},
		{"  run   A  /x \n", "run|A  /x"},
		{"dry run A\n", "dry run|A"},
		{"dry   chain c.yaml -\n", "dry chain|c.yaml -"},
		{"script s.js\n= 1\n", "script|s.js = 1"},
		{"run A\n! exists: document /a: b\n", "run|A ! exists: document /a: b"},
		{"run A\n! denied\n", "run|A ! denied"},
		{"as bob\nuser ann a b\nlet k = a.0\n", "as|bob user|ann a b let|k = a.0"},
		{"run A {\"a\": [\n1,\n\n# no comment\n2]}\n", "run|A {\"a\": [\n1,\n\n# no comment\n2]}"},
		{"run A \"{\" /x\nrun B\n", "run|A \"{\" /x run|B"},
		{"run A {\"a\": \"\\\"}\"}\nrun B\n", "run|A {\"a\": \"\\\"}\"} run|B"},
		{"run A\n= [\n1]\n# end\n", "run|A = [\n1] |"},
		{"run A\n! invalid: {\nrun B\n", "run|A ! invalid: { run|B"},
		{"# a { b\nrun A\n", "| run|A"},
	} {
		s, err := Parse("f", []byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var got []string
		for _, st := range s.steps {
			one := st.verb + "|" + st.args
			if st.dry {
				one = "dry " + one
			}
			if st.given {
				one += " " + st.want()
			}
			got = append(got, one)
		}
		if strings.Join(got, " ") != c.want || string(s.Text()) != c.text {
			t.Errorf("%q: %q, want %q; written %q", c.text, got, c.want, s.Text())
		}
	}
	s, err := Parse("f", []byte("run A"))
	if err != nil || string(s.Text()) != "run A\n" {
		t.Errorf("a last line without its end: %v, %q", err, s.Text())
	}
}

// TestStepLines: steps know on which line they begin, also behind ones of several lines.
func TestStepLines(t *testing.T) {
	s, err := Parse("f", []byte("# a\nrun A {\n}\n= {\n}\nas bob\n\nrun B\n"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, st := range s.steps {
		lines = append(lines, st.line)
	}
	if !slices.Equal(lines, []int{1, 2, 6, 7, 8}) {
		t.Errorf("lines %v", lines)
	}
}

// TestRead reads a file of the disk with its archive, and names the file that is not there.
func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txtar")
	text := "chain c.yaml\nscript s.js\nrun B.C [\n1] {}\n-- c.yaml --\nsteps:\n  - op: D.E\n  - {op: F_1}\n# - op: G\n-- s.js --\nrun\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read(file)
	if err != nil || s.Path != file || string(s.files["s.js"]) != "run\n" || len(s.files) != 2 || string(s.Text()) != text {
		t.Errorf("%+v, %v", s, err)
	}
	if got := strings.Join(s.Ops(), " "); got != "D.E F_1 Chain.Save Script.Save B.C" {
		t.Errorf("operations %s", got)
	}
	if _, err := Read(file + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestWords: blanks separate arguments outside JSON alone.
func TestWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \n\t", ""},
		{"A", "A"},
		{"A /x y", "A|/x|y"},
		{"A\t/x\n{}", "A|/x|{}"},
		{`A {"a": "b c"} [1, 2]`, `A|{"a": "b c"}|[1, 2]`},
		{`A "b c" d`, `A|"b c"|d`},
		{`A "b\" c" d`, `A|"b\" c"|d`},
		{`A "b\\" c`, `A|"b\\"|c`},
		{`A {"a": "}"} b`, `A|{"a": "}"}|b`},
		{"A {", "!JSON is not closed: {"},
		{`A "b`, `!JSON is not closed: "b`},
		{"A } b", "A|}|b"},
		{"A b}", "!JSON is not closed: b}"},
		{"A [" + strings.Repeat("x", 100), "!JSON is not closed: [" + strings.Repeat("x", 59)},
	} {
		all, err := words(c.text)
		got := strings.Join(all, "|")
		if err != nil {
			got = "!" + err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestFileNames reads [@a, @b]; a list of anything else is JSON.
func TestFileNames(t *testing.T) {
	for text, want := range map[string]string{
		"@a": "a", "[@a]": "a", "[@a, @b]": "a b", "[ @a,@b ]": "a b", "[]": "!", "[1]": "!", "[@a, 1]": "!", "[@a,]": "!", "a": "!", "[@a": "!", `["@a"]`: "!", "/a": "!", "": "!",
	} {
		names, ok := files(text)
		if got := strings.Join(names, " "); ok != (want != "!") || ok && got != want {
			t.Errorf("%q: %q, %t", text, names, ok)
		}
	}
}

// TestAt finds parts of answers, also within what the platform wraps in an object with a value.
func TestAt(t *testing.T) {
	v, err := decode([]byte(`{"a": [{"b": 1}, 2], "value": {"c": {"d": null}}, "": "e"}`))
	if err != nil {
		t.Fatal(err)
	}
	for way, want := range map[string]string{
		"a.0.b": "1", "a.1": "2", "c.d": "null", "value.c.d": "null", "a": `[{"b":1},2]`, "": `"e"`,
		"a.2": "!", "a.-1": "!", "a.x": "!", "b": "!", "a.1.b": "!", "c.e": "!", "a.": "!",
	} {
		got := "!"
		if part, ok := at(v, way); ok {
			got = canonical(part)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", way, got, want)
		}
	}
}

// TestPlayErrors: what cannot be carried out is told with its place, and the script goes on.
func TestPlayErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"run A b c\n", `f:1: params: invalid character 'c' looking for beginning of value: c`},
		{"run A - []\n", "f:1: params: no object: []"},
		{"run A - {}x\n", "f:1: params: more after the JSON: {}x"},
		{"run A - {} 1\n", "f:1: context: no object: 1"},
		{"run A - {} {} /x y\n", "f:1: too many arguments: /x y"},
		{"run A @f\n", `f:1: input: there is no file "f"`},
		{"run A [@f]\n", `f:1: input: there is no file "f"`},
		{"run A [x]\n", "f:1: input: no JSON: [x]"},
		{"run A \"b\n", `f:1: JSON is not closed: "b`},
		{"chain c.yaml\n", `f:1: there is no file "c.yaml"`},
		{"script s.js -\n", `f:1: there is no file "s.js"`},
		{"let k\n", "f:1: let NAME = MEMBER.PATH"},
		{"let k = a\n", "f:1: let: the last answer has no a"},
		{"user ann a\n", "f:1: no users here"},
		{"run A @f\n\nrun A @g\n", "f:1: input: there is no file \"f\"\nf:3: input: there is no file \"g\""},
		{"run A\n= {\"a\"\n", "f:1: run A\n= {\"a\": unexpected EOF"},
	} {
		s, err := Parse("f", []byte(c.text))
		if err == nil {
			var users []string
			user := func(string, ...string) error { return errors.New("no users here") }
			err = Play(context.Background(), s, World{EntryPoint: echo{&users}, User: user, Tick: func() {}}, false)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestKeptNames: a name that begins like another one stands for its own value.
func TestKeptNames(t *testing.T) {
	for range 20 { // maps have another order each time
		p := &player{kept: map[string]any{"k": "1", "key": "2", "keys": json.Number("3"), "list": []any{"a b"}, "deep": map[string]any{"$k": nil}}}
		if got := p.fill("$k $key $keys $keyring $list $deep $other"); got != `1 2 3 2ring ["a b"] {"$k":null} $other` {
			t.Fatalf("got %s", got)
		}
	}
}

// TestIDs: identifiers may be others than expected, but the same ones for the same, in all texts of a script.
func TestIDs(t *testing.T) {
	id := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
	text := func(all ...int) string {
		s := "a"
		for _, n := range all {
			s += " " + id(n)
		}
		return s
	}
	for _, c := range []struct {
		name string
		got  []string
		want []string
		same bool
	}{
		{"the same", []string{text(1, 2)}, []string{text(1, 2)}, true},
		{"others", []string{text(1, 2, 1)}, []string{text(5, 6, 5)}, true},
		{"swapped", []string{text(1, 2)}, []string{text(2, 1)}, true},
		{"two for one", []string{text(1, 1)}, []string{text(5, 6)}, false},
		{"one for two", []string{text(1, 2)}, []string{text(5, 5)}, false},
		{"another one later", []string{text(1), text(1)}, []string{text(5), text(6)}, false},
		{"taken later", []string{text(1), text(2)}, []string{text(5), text(5)}, false},
		{"fewer", []string{text(1)}, []string{text(1, 2)}, false},
		{"another text", []string{"a " + id(1)}, []string{"b " + id(2)}, false},
		{"no identifier", []string{"00000000-0000-4000-8000-1"}, []string{"00000000-0000-4000-8000-2"}, false},
	} {
		x, same := &ids{map[string]string{}, map[string]string{}}, true
		for i := range c.got {
			same = same && x.same(c.got[i], c.want[i])
		}
		if same != c.same {
			t.Errorf("%s: %t", c.name, same)
		}
	}
	if (*ids)(nil).same(text(1), text(2)) || !(*ids)(nil).same(text(1), text(1)) {
		t.Error("without a script that runs again, identifiers are compared as they are")
	}
}

// TestClock: identifiers are what the pattern finds, and time stands still between ticks.
func TestClock(t *testing.T) {
	c := NewClock()
	first := c.Now()
	if c.Tick(); c.Now().Sub(first).Seconds() != 1 || !c.Now().Equal(c.Now()) {
		t.Errorf("%v after %v", c.Now(), first)
	}
	for range 3 {
		if id := c.NewID(); idPattern.FindString(id) != id {
			t.Errorf("%s is not found", id)
		}
	}
	if id := c.NewID(); id != "00000000-0000-4000-8000-000000000004" {
		t.Errorf("the fourth is %s", id)
	}
}

// TestReceived: files that came are shown with what is the same each time: short text whole, of others the length, of those
// made at random nothing.
func TestReceived(t *testing.T) {
	short, long := []byte(strings.Repeat("x", maxText)), []byte(strings.Repeat("x", maxText+1))
	for _, c := range []struct {
		name, typ string
		data      []byte
		want      string
	}{
		{"a", "text/plain", []byte("x"), `{"name":"a","text":"x","type":"text/plain"}`},
		{"a", "text/plain; charset=UTF-8", nil, `{"name":"a","text":"","type":"text/plain"}`},
		{"a", "text/plain", short, `{"name":"a","text":"` + string(short) + `","type":"text/plain"}`},
		{"a", "text/plain", long, `{"length":501,"name":"a","type":"text/plain"}`},
		{"a", "image/png", []byte("x"), `{"length":1,"name":"a","type":"image/png"}`},
		{"a", "application/pdf", long, `{"name":"a","type":"application/pdf"}`},
		{"a.d.ts", "text/plain", []byte("x"), `{"name":"a.d.ts","type":"text/plain"}`},
		{"a", "application/json", []byte("{}"), `{"name":"a","text":"{}","type":"application/json"}`},
		{"a", "no/type/at all", []byte("x"), `{"length":1,"name":"a","type":"no/type/at all"}`},
	} {
		if got := canonical(Received(c.name, c.typ, c.data).form()); got != c.want {
			t.Errorf("%s, %s, %d bytes: %s, want %s", c.name, c.typ, len(c.data), got, c.want)
		}
	}
	for name, want := range map[string]string{"a.PNG": "image/png", "a.yaml": "application/yaml", "a": "text/plain", "a.unknown": "text/plain", "a.json.txt": "text/plain", ".csv": "text/csv"} {
		if f := NewFile(name, []byte("xy")); f.Type != want || f.Length != 2 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestFailures: a failure is what a scenario writes; the message of what went wrong inside is not shown.
func TestFailures(t *testing.T) {
	for want, f := range map[string]Failure{
		"denied: x":            {Kinds: []string{"denied"}, Message: "x"},
		"denied":               {Kinds: []string{"denied"}},
		"exists|conflict: a:b": {Kinds: []string{"exists", "conflict"}, Message: "a:b"},
		"internal":             {Kinds: []string{"internal"}, Message: "secret"},
		"internal|limit":       {Kinds: []string{"internal", "limit"}, Message: "secret"},
	} {
		if f.String() != want || !f.Is(f.Kinds[0]) || f.Is("notfound") {
			t.Errorf("%s, want %s", f.String(), want)
		}
	}
}
