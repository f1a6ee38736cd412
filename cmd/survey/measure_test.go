package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moduleOf writes a module of files and measures it.
func moduleOf(t *testing.T, files map[string]string) *measured {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := measure(root)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// parsed is a file of package p with the text.
func parsed(t *testing.T, text string) (*measured, *ast.File) {
	t.Helper()
	m := &measured{set: token.NewFileSet()}
	f, err := parser.ParseFile(m.set, "p.go", "package p\n"+text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m, f
}

// TestComplexity counts decisions: conditions, loops, cases and the operators that decide.
func TestComplexity(t *testing.T) {
	for body, want := range map[string]int{
		"":                              1,
		"if a {}":                       2,
		"if a {} else {}":               2,
		"if a {} else if b {}":          3,
		"if a && b || c {}":             4,
		"x := a && b; _ = x":            2,
		"for {}":                        2,
		"for range a {}":                2,
		"switch a { case 1, 2: }":       2,
		"switch { case a: default: }":   2,
		"switch a.(type) { case int: }": 2,
		"select { case <-a: default: }": 2,
		"go func() { if a {} }()":       2,
		"_ = a & b":                     1,
		"L: for a { continue L }":       2,
	} {
		_, f := parsed(t, "func f() {\n"+body+"\n}")
		if got := complexity(f.Decls[0].(*ast.FuncDecl)); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

// TestReceiver names the type that a method belongs to, however it is written.
func TestReceiver(t *testing.T) {
	for head, want := range map[string]string{
		"func f()": "", "func (T) f()": "T", "func (t T) f()": "T", "func (t *T) f()": "T", "func (t T[A]) f()": "T", "func (t *T[A, B]) f()": "T", "func (t *(T)) f()": "T", "func (*T) f()": "T",
	} {
		_, f := parsed(t, head+" {}")
		if got := receiver(f.Decls[0].(*ast.FuncDecl)); got != want {
			t.Errorf("%s: %q, want %q", head, got, want)
		}
	}
}

// TestCommentLines counts the lines that hold nothing but comment.
func TestCommentLines(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"// a\n", 1},
		{"// a\n// b\n\n// c\n", 3},
		{"/* a\nb\nc */\n", 3},
		{"var x = 1 // a\n", 0},
		{"var x = 1 // a\n// b\n", 1},
		{"var x = 1 /* a\nb */\n", 1},
		{"func f() {\n\t// a\n\t_ = 1 // b\n} // c\n", 1},
		{"var x = `\n// no comment\n`\n", 0},
		{"var (\n\t// A is.\n\tA = 1\n\n\tB = 2 // is too\n)\n", 1},
		{"type T struct {\n\ta int // b\n\t// c\n}\n", 1},
		{"func f(\n\ta int, // b\n) { // c\n}\n", 0},
		{"//go:build x\n", 1},
	} {
		m, f := parsed(t, c.text)
		if got := m.commentLines(f); got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}

// TestDocumented: a comment above, on the group or behind a name counts; names that nobody outside sees do not.
func TestDocumented(t *testing.T) {
	for _, c := range []struct {
		text, bare string
		exported   int
	}{
		{"// A is.\nfunc A() {}\n", "", 1},
		{"func A() {}\nfunc b() {}\n", "A", 1},
		{"type T struct{ A int }\n", "T", 1},
		{"type t struct{}\nfunc (t) A() {}\n", "", 0},
		{"// T is.\ntype T struct{}\nfunc (*T) A() {}\nfunc (*T) b() {}\n", "A", 2},
		{"// Kinds.\nconst (\n\tA = 1\n\tB = 2\n)\n", "", 2},
		{"const (\n\tA = 1 // a\n\t// B is.\n\tB = 2\n\tC, d = 3, 4\n)\n", "C", 3},
		{"var A, B = 1, 2\n", "A B", 2},
		{"import _ \"fmt\"\n", "", 0},
	} {
		m := moduleOf(t, map[string]string{"p/p.go": "package p\n\n" + c.text})
		var bare []string
		for _, place := range m.bare {
			bare = append(bare, place[strings.LastIndexByte(place, ' ')+1:])
		}
		if strings.Join(bare, " ") != c.bare || m.exported != c.exported || m.documented != c.exported-len(bare) {
			t.Errorf("%q: %v of %d, %d documented", c.text, m.bare, m.exported, m.documented)
		}
	}
}

// TestWhatIsCode: lines count as code if a command is built from them, by whatever way, and as tests otherwise; what is no code of
// the module counts as nothing.
func TestWhatIsCode(t *testing.T) {
	m := moduleOf(t, map[string]string{
		"cmd/a/main.go": "package main\n\nimport _ \"catena/b\"\n\nfunc main() {}\n", "b/b.go": "package b\n\nimport (\n\t_ \"catena/c/d\"\n\t_ \"fmt\"\n)\n", "c/d/d.go": "package d\n",
		"c/c.go": "package c\n", "b/b_test.go": "package b\n\nimport _ \"catena/c\"\n", "tool/main.go": "package main\n\nimport _ \"catena/c\"\n",
		"b/testdata/x.go": "broken", "node_modules/x.go": "broken", ".git/x.go": "broken", "b/x.txt": "text\n",
	})
	if m.lines != 5+6+1 || m.testLines != 3+1+3 || len(m.files) != 5 || strings.Join(m.harness, ", ") != "c: 1 lines, tool: 3 lines" {
		t.Errorf("%d lines of code, %d of tests, %d files, tests alone: %v", m.lines, m.testLines, len(m.files), m.harness)
	}
}

// TestChain finds the longest chain of imports, which tests add nothing to.
func TestChain(t *testing.T) {
	file := func(imports ...string) string {
		text := "package p\n"
		for _, name := range imports {
			text += fmt.Sprintf("import _ %q\n", name)
		}
		return text
	}
	m := moduleOf(t, map[string]string{
		"cmd/catena/main.go": file("catena/a", "catena/b", "fmt"), "a/a.go": file("catena/d"), "b/b.go": file("catena/a", "catena/c"), "c/c.go": file("catena/d"), "d/d.go": file(),
		"d/d_test.go": file("catena/e"), "e/e.go": file("catena/b"),
	})
	if got := strings.Join(m.chain, " "); got != "cmd/catena b a d" {
		t.Errorf("got %s", got)
	}
}

// TestLimits: what is just within a limit is not listed, and what is just beyond it is, with its place.
func TestLimits(t *testing.T) {
	files := map[string]string{
		"storage/tx.go": "package storage\n\ntype Tx int\n\nfunc (t Tx) A() {}\n\nfunc (*Tx) b() {}\n\nfunc A() {}\n",
		"other/tx.go":   "package other\n\ntype Tx int\n\nfunc (t Tx) A() {}\n",
	}
	for n := range maxFiles + 1 {
		files[fmt.Sprintf("large/f%d.go", n)], files[fmt.Sprintf("large/f%d_test.go", n)] = "package large\n", "package large\n"
		if n < maxFiles {
			files[fmt.Sprintf("full/f%d.go", n)] = "package full\n"
		}
	}
	files["p/p.go"] = "package p\n\nfunc five(a, b, c, d, e int) {}\n\nfunc six(a, b, c int, d, e, f string) {}\n\nfunc fifteen() {\n" + strings.Repeat("\tif a {\n\t}\n", maxComplexity-1) +
		"}\n\nfunc sixteen() {\n" + strings.Repeat("\tif a {\n\t}\n", maxComplexity) + "}\n\nfunc init() {}\n\nfunc (t t) init() {}\n"
	m := moduleOf(t, files)
	for name, got := range map[string][]string{
		"large: 41 files": m.large, "p/p.go:5: six: 6": m.wide, "p/p.go:38: sixteen: 16": m.complex, "p/p.go:71: init": m.inits, "storage/tx.go:5: A": m.verbs,
	} {
		if strings.Join(got, "; ") != name {
			t.Errorf("got %v, want %s", got, name)
		}
	}
}

// TestFlags counts the names in the table of topics of cmd/catena and no other.
func TestFlags(t *testing.T) {
	const table = "package main\n\nvar topics = []topic{\n\t{\"A\", []string{\"a\", \"b\"}},\n\t{\"B\", []string{}},\n\t{\"C\", []string{\"c\"}},\n}\n\nvar others = []string{\"d\"}\n"
	for folder, want := range map[string]int{"cmd/catena": globals + 3, "cmd/other": 0, "catena": 0} {
		if m := moduleOf(t, map[string]string{folder + "/main.go": table}); m.flags != want {
			t.Errorf("%s: %d, want %d", folder, m.flags, want)
		}
	}
}

// TestSpread: median, 95th percentile and maximum, whatever the order.
func TestSpread(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = 100 - i
	}
	for _, c := range []struct {
		all  []int
		want string
	}{{nil, "0 / 0 / 0"}, {[]int{7}, "7 / 7 / 7"}, {[]int{9, 1}, "9 / 9 / 9"}, {[]int{3, 1, 2}, "2 / 3 / 3"}, {hundred, "51 / 96 / 100"}} {
		if got := spreadText(c.all); got != c.want {
			t.Errorf("%v: %s, want %s", c.all, got, c.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the measurements were sorted in place")
	}
}

// TestSurveyErrors: what cannot be measured is an error that names it, and without -list nothing is listed.
func TestSurveyErrors(t *testing.T) {
	root := t.TempDir()
	if _, err := survey(&bytes.Buffer{}, filepath.Join(root, "none"), false); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, "bad.go"), []byte("package\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := survey(&bytes.Buffer{}, root, false); err == nil || !strings.Contains(err.Error(), "bad.go:1") {
		t.Errorf("a file that is no Go: %v", err)
	}
	var short bytes.Buffer
	missed, err := survey(&short, "testdata/tree", false)
	if err != nil || missed != 3 || strings.Count(short.String(), "missed\n") != 3 || strings.Contains(short.String(), ".go:") {
		t.Errorf("%d, %v:\n%s", missed, err, short.String())
	}
	if missed, err = survey(&short, t.TempDir(), false); err != nil || missed != 3 {
		t.Errorf("an empty module misses %d targets: %v", missed, err)
	}
}
