package library

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/storage/fault"
)

// problems are those of a parser, each as line:column: message.
func problems(p *Parser) string {
	var out []string
	for _, one := range p.Problems {
		out = append(out, fmt.Sprintf("%d:%d: %s", one.Line, one.Column, one.Message))
	}
	return strings.Join(out, "; ")
}

func TestRoot(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a map", "a: 1", ""},
		{"JSON", `{"a": [1, 2]}`, ""},
		{"a text", "x", ""},
		{"with a mark", "---\na: 1\n", ""},
		{"with a comment", "# x\na: 1", ""},
		{"with an end", "a: 1\n...\n", ""},
		{"as long as may be", "a: " + strings.Repeat("x", MaxSource-3), ""},
		{"longer", "a: " + strings.Repeat("x", MaxSource-2), "1:1: the text is longer than 262144 bytes"},
		{"empty", "", "1:1: the text is empty"},
		{"comments alone", "# x\n\n", "1:1: the text is empty"},
		{"two", "a: 1\n---\nb: 2\n", "2:1: only one thing per file is allowed: a second document follows"},
	} {
		p := &Parser{File: "f"}
		root := p.Root([]byte(c.src), "thing")
		// Where a second document is found is left to the library.
		got := problems(p)
		if same := got == c.want || c.name == "two" && strings.HasSuffix(got, c.want[3:]); !same || root == nil && c.want == "" {
			t.Errorf("%s: %v, %s", c.name, root, got)
		}
	}
	for _, src := range []string{"a: [", "a: b: c", "\ta: 1", "a: 'x", "\xff", "a: &x [*x", "@", "%YAML 9\n---\na", "{"} {
		p := &Parser{}
		if root := p.Root([]byte(src), "thing"); root != nil && src != "%YAML 9\n---\na" || len(p.Problems) == 0 && root == nil {
			t.Errorf("%q: %v, %s", src, root, problems(p))
		}
	}
}

// node is the root of a text that can be read.
func node(t *testing.T, src string) *yaml.Node {
	t.Helper()
	p := &Parser{}
	n := p.Root([]byte(src), "thing")
	if n == nil {
		t.Fatalf("%s: %s", src, problems(p))
	}
	return n
}

func TestValue(t *testing.T) {
	for src, want := range map[string]any{
		"x": "x", "'1'": "1", `"a\nb"`: "a\nb", "1": int64(1), "-0x10": int64(-16), "1.5": 1.5, "1e3": 1000.0, "true": true, "null": nil, "~": nil, "''": "", "yes": "yes",
		"9223372036854775807": int64(math.MaxInt64), "2024-05-02": time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC),
		"2024-05-02T02:00:00+02:00": time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC), "!!str 1": "1", "|\n  a\n  b\n": "a\nb\n", ">\n  a\n  b\n": "a b\n",
		"[1, [x], {a: ~}]": []any{int64(1), []any{"x"}, map[string]any{"a": nil}}, "{}": map[string]any{}, "[]": []any{}, "{1: a, true: b}": map[string]any{"1": "a", "true": "b"},
		"ä\u0301\U0001F600": "ä\u0301\U0001F600", "\"\\u202eabc\"": "\u202eabc", "expr:a == 'b'": "expr:a == 'b'", "\"@{x}\"": "@{x}",
	} {
		p := &Parser{}
		if got := p.Value(node(t, src)); !reflect.DeepEqual(got, want) || len(p.Problems) > 0 {
			t.Errorf("%q: %#v, %s, want %#v", src, got, problems(p), want)
		}
	}
	for src, want := range map[string]string{
		".inf": "1:1: .inf is not a finite number", "[1, .nan]": "1:5: .nan is not a finite number", "18446744073709551615": "1:1: 18446744073709551615 is too large",
		"[&a x, *a]": "1:8: aliases are not allowed",
		strings.Repeat("[", 33) + strings.Repeat("]", 33): "", strings.Repeat("[", 34) + strings.Repeat("]", 34): "1:34: nested deeper than 32",
	} {
		p := &Parser{}
		if p.Value(node(t, src)); problems(p) != want {
			t.Errorf("%.30q: %s, want %s", src, problems(p), want)
		}
	}
}

// TestFields: every member that is unknown or stands twice is reported where it is, and the others are read.
func TestFields(t *testing.T) {
	var name, other string
	var list []string
	table := func(p *Parser) map[string]func(*yaml.Node) {
		name, other, list = "", "", nil
		return map[string]func(*yaml.Node){"name": p.Text(&name), "other": p.Text(&other), "list": p.Texts(&list)}
	}
	for _, c := range []struct{ src, want, read string }{
		{"name: a\nlist: [x, 1]\n", "", "a||[x 1]"},
		{"name: a\nnamee: b\nother: c\n", `2:1: a thing has no member "namee"; did you mean "name"?`, "a|c|[]"},
		{"name: a\nname: b\n", `2:1: a thing has "name" more than once`, "a||[]"},
		{"{}", "", "||[]"},
		{"name: [a]\nlist: x\n", "1:7: must be a string; 2:7: this is not a list", "||[]"},
		{"list: [[a], b]\n", "1:8: must be a string", "||[ b]"},
		{"- a\n", "1:1: a thing is not a map", "||[]"},
		{"name:\n", "", "||[]"},
		{"? [a]\n: b\n", "", "||[]"},
	} {
		p := &Parser{}
		p.Fields(node(t, c.src), "a thing", table(p))
		got := problems(p)
		if strings.HasPrefix(c.src, "?") {
			if len(p.Problems) != 1 {
				t.Errorf("%q: %s", c.src, got)
			}
			continue
		}
		if want := strings.SplitN(c.want, "; did", 2)[0]; !strings.HasPrefix(got, want) || want == "" && got != "" || fmt.Sprint(name, "|", other, "|", list) != c.read {
			t.Errorf("%q: %s, read %s|%s|%v", c.src, got, name, other, list)
		}
	}
}

func TestBoolean(t *testing.T) {
	for src, want := range map[string]string{"true": "true", "false": "false", "True": "true", "'true'": "!", "1": "!", "[true]": "!", "": "!", "x": "!"} {
		p := &Parser{}
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"}
		if src != "" {
			n = node(t, src)
		}
		got := fmt.Sprint(p.Boolean(n))
		if len(p.Problems) > 0 {
			got = "!"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for name, ok := range map[string]bool{
		"Test.Name": true, "a_b-c(1)": true, strings.Repeat("x", 100): true, "ä": true, "": false, strings.Repeat("x", 101): false, "a/b": false, "a b": false, "a\\b": false, "a\nb": false,
		"a?b": false, "a#b": false, "a%b": false, "a@b": false, "a\tb": false,
	} {
		p := &Parser{}
		if p.Name(&yaml.Node{}, name); (len(p.Problems) == 0) != ok {
			t.Errorf("%q: %s", name, problems(p))
		}
	}
}

// TestPositions: each value is found where it stands, and the beginning of its text where that is as it is written.
func TestPositions(t *testing.T) {
	into := map[string]engine.Position{}
	Positions(node(t, "a: x\nb:\n  - 'y'\n  - {c: \"z\", d: 'it''s'}\ne: |\n  long\n"), "", into)
	for path, want := range map[string]string{
		"a": "1:1 1:4 4 x", "b": "2:1 3:3 0 ", "b/0": "3:5 3:5 6 y", "b/1": "4:5 4:5 0 ", "b/1/c": "4:6 4:9 10 z", "b/1/d": "4:14 4:17 0 it's", "e": "5:1 5:4 0 long\n",
	} {
		p, ok := into[path]
		if !ok {
			t.Errorf("%s is missing", path)
			continue
		}
		if got := fmt.Sprintf("%d:%d %d:%d %d %s", p.Line, p.Column, p.Value.Line, p.Value.Column, p.Value.Start, p.Value.Text); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if len(into) != 7 {
		t.Errorf("%d positions", len(into))
	}
}

func TestPlanProblems(t *testing.T) {
	placed := fault.Invalid.Errorf("b").In("x").At(7, 0)
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("a"), "3:4: a"},
		{placed, "7:1: b"},
		{errors.Join(errors.New("a"), placed), "3:4: a; 7:1: b"},
		{errors.Join(errors.Join(placed), errors.Join(placed, errors.New("c"))), "7:1: b; 7:1: b; 3:4: c"},
	} {
		p := &Parser{Problems: PlanProblems("f", 3, 4, c.err)}
		if got := problems(p); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
	if p := PlanProblems("f", 3, 4, placed); p[0].File != "f" || p[0].Param != "x" {
		t.Errorf("%+v", p)
	}
}

// TestTask: what is missing is reported at once, and what is there is read.
func TestTask(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"name: A.B\nrun: C.D\nas: ann\nparams: {x: [1, 'expr:y']}\nenabled: false\ndescription: d\n", ""},
		{"{}", `1:1: name "": must contain only letters, digits and . _ - ( ), at most 100 bytes; 1:1: a thing must have run: the operation, chain or script; 1:1: a thing must have as: the user that it runs as`},
		{"name: A\nrun: B\nas: c\nparams: x\n", "4:9: params is not a map"},
		{"name: A\nrun: [B]\nas: c\n", "2:6: must be a string; 1:1: a thing must have run: the operation, chain or script"},
		{"name: A\nrun: B\nas: c\nenabled: maybe\n", "4:10: must be true or false"},
	} {
		p, task := &Parser{File: "f"}, Task{}
		task.Read(p, node(t, c.src), "thing", map[string]func(*yaml.Node){})
		if got := problems(p); got != c.want {
			t.Errorf("%q: %s", c.src, got)
		}
		if c.want == "" && (task.Name != "A.B" || task.As != "ann" || !task.Disabled || task.Step.Op != "C.D" || !reflect.DeepEqual(task.Step.Params,
			map[string]any{"x": []any{int64(1), "expr:y"}}) || task.Step.Positions["x/1"].Column != 17) {
			t.Errorf("%+v", task)
		}
	}
}
