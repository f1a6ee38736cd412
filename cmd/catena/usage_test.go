package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsage checks that what is no command line of ours is an error, and how it is told.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"serv":               "no command \"serv\" of catena, perhaps serve",
		"chain chek a.yaml":  "no command \"chek\" of catena chain, perhaps check",
		"chain apply":        "usage: catena chain apply FILE",
		"chain diff A 1 2":   "usage: catena chain diff NAME",
		"run":                "usage: catena run OPERATION",
		"chain show":         "wrong number of arguments: 0; usage: catena chain show NAME",
		"serve --adr :1":     "unknown flag: --adr",
		"user nothing there": "no command \"nothing\" of catena user; \"catena user --help\" lists the commands\n",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(line), strings.NewReader(""), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%s: %d %s%s, want %s", line, code, &errs, &out, want)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"chain"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), "apply ") {
		t.Errorf("chain: %d %s%s", code, &errs, &out)
	}
}

// TestDeclarations has a server refuse to start on declarations that name what there is not, and tell what
// was probably meant.
func TestDeclarations(t *testing.T) {
	for file, x := range map[string]struct{ text, want string }{
		"types/a.yaml":       {"types:\n  Memo:\n    parent: Fil", "a.yaml:3: type Memo: unknown type Fil, perhaps File"},
		"directories/a.yaml": {"directories:\n  a: {schema: vocabular}", "a.yaml:2: directory a: unknown schema \"vocabular\", perhaps vocabulary"},
		"providers/a.yaml":   {"providers:\n  mine:\n    where: \"dc:titel = ?\"", "a.yaml:3: provider mine: where: unknown field \"dc:titel\", perhaps dc:title"},
		"actions/a.yaml":     {"actions:\n  mine:\n    categories: [X]\n    operation: Log\n    types: [Fil]", "a.yaml:5: action mine: unknown type Fil, perhaps File"},
		"workflows/a.yaml":   {"workflows:\n  A:\n    nodes:\n      a:\n        start: true\n        transitions: {on: {to: ende, when: Fn.nextId()}}\n      end: {end: true}", "a.yaml:6: workflow A: node a: unknown node ende, perhaps end"},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"serve", "--addr", "nowhere:none", "--data", dir, "--log-level", "error"}, strings.NewReader(""), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), x.want) {
			t.Errorf("%s: %d %s, want %s", file, code, &errs, x.want)
		}
	}
}

// TestCounted: numbers of things read as people say them.
func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 21: "21 files"} {
		if got := counted(n, "file"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
