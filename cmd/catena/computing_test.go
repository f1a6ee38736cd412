//go:build !race

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeferredFrames keeps a fault of the Go runtime (1.22 to at least 1.27rc1) away from us: while a goroutine panics
// and runs the deferred calls of a function, the runtime holds a pointer to where that function's stack arguments begin.
// If a parameter lies there whose address was taken, the garbage collector takes it for live again, though nothing has
// used it since and what it points to may have been freed, and the process ends with "found pointer to free object".
// testdata/panicframe shows it in forty lines. So no function with a deferred call takes a parameter that is too large
// for registers.
func TestDeferredFrames(t *testing.T) {
	for _, p := range listed(t) {
		for _, found := range largeDeferred(p) {
			t.Error(found + ": deferred call in a function with a parameter on the stack; pass a pointer")
		}
	}
}

// TestEnglishLiterals reads the texts and the comments in the code for odd English.
func TestEnglishLiterals(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if page := pageTypes[filepath.Ext(name)]; page && !strings.Contains(filepath.ToSlash(name), "/dist/") {
			text, err := os.ReadFile(name)
			for _, o := range oddRemarks(string(text)) {
				t.Errorf("%s: %s", name, o)
			}
			return err
		}
		if d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, o := range oddRemarks(strings.Join(strings.Fields(group.Text()), " ")) {
				t.Errorf("%s: %s", files.Position(group.Pos()), o)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			for _, o := range oddities(lit.Value) {
				t.Errorf("%s: %s", files.Position(lit.Pos()), o)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
