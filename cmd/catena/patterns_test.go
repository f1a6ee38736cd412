package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPatterns compiles every regular expression that the program compiles when it is first used (storage/lazy).
func TestPatterns(t *testing.T) {
	fset := token.NewFileSet()
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || e.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for dir, files := range packages {
		args := lazyPatterns(files)
		if len(args) == 0 {
			continue
		}
		// Imports are not found, which does not matter for a constant.
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		_, _ = (&types.Config{Error: func(error) {}, IgnoreFuncBodies: true}).Check(dir, fset, files, info)
		for _, arg := range args {
			v := info.Types[arg].Value
			if v == nil || v.Kind() != constant.String {
				t.Errorf("%s: the pattern is not a constant", fset.Position(arg.Pos()))
				continue
			}
			if _, err := regexp.Compile(constant.StringVal(v)); err != nil {
				t.Errorf("%s: %v", fset.Position(arg.Pos()), err)
			}
			found++
		}
	}
	if found < 50 {
		t.Errorf("only %d patterns were found", found)
	}
}

// lazyPatterns are the arguments of lazy.Regexp in files.
func lazyPatterns(files []*ast.File) (args []ast.Expr) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 1 {
				if s, ok := c.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Regexp" {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "lazy" {
						args = append(args, c.Args[0])
					}
				}
			}
			return true
		})
	}
	return args
}
