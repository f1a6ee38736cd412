package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"catena/storage/fault"
)

// TestCodes finds every code that the source puts into an error, with the kind where the same expression
// says it: the table of codes has these kinds, and no code that nothing answers.
func TestCodes(t *testing.T) {
	found, makers := map[string][]string{}, map[string]string{}
	files := sources(t)
	for _, f := range files { // first the functions that take a code and say the kind
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				ast.Inspect(fn, func(n ast.Node) bool {
					if kind, arg := marked(n); kind != "" && parameter(fn, arg) {
						makers[f.Name.Name+"."+fn.Name.Name] = kind
					}
					return true
				})
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if set, ok := n.(*ast.AssignStmt); ok && f.Name.Name == "fault" && len(set.Rhs) == 1 {
				if code, ok := set.Rhs[0].(*ast.Ident); ok && strings.HasPrefix(code.Name, "Code") {
					found[code.Name] = append(found[code.Name], "")
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			kind, _ := marked(call)
			for _, arg := range call.Args {
				if name := selected(arg, "Code"); name != "" {
					found[name] = append(found[name], kind+makers[called(f, call)])
				}
			}
			return true
		})
	}
	if len(makers) < 4 {
		t.Errorf("functions that take a code: %v", makers)
	}
	compare(t, found)
}

// compare says where the table and what was found, the kinds by the constants of codes, differ.
func compare(t *testing.T, found map[string][]string) {
	t.Helper()
	for c := range fault.Codes() {
		name := identifier(c)
		kinds := found[name]
		delete(found, name)
		if len(kinds) == 0 {
			t.Errorf("code %s (%s): no error has it", c, name)
			continue
		}
		for k := range fault.Kinds() {
			told := slices.Contains(c.Kinds(), k)
			there := slices.ContainsFunc(kinds, func(s string) bool { return strings.EqualFold(s, k.String()) })
			if there && !told || told && !there && !slices.Contains(kinds, "") {
				t.Errorf("code %s: of kind %s in the table: %t, in the source: %t", c, k, told, there)
			}
		}
	}
	for name := range found {
		t.Errorf("fault.%s: is not in the table", name)
	}
}

// identifier is the constant of a code.
func identifier(c fault.Code) string {
	out := "Code"
	for part := range strings.FieldsFuncSeq(c.String(), func(r rune) bool { return r == '_' || r == '-' }) {
		switch part {
		case "html", "json", "pdf", "ui":
			out += strings.ToUpper(part)
		default:
			out += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return out
}

// marked returns the kind and the code's expression of fault.Kind.Errorf(…).WithCode(code), with other
// methods between; an error of another origin has no kind here.
func marked(n ast.Node) (kind string, code ast.Expr) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", nil
	}
	if with, ok := call.Fun.(*ast.SelectorExpr); !ok || with.Sel.Name != "WithCode" {
		return "", nil
	}
	code = call.Args[0]
	for {
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return "", code
		}
		if name := method.Sel.Name; name == "Errorf" || name == "New" {
			return selected(method.X, ""), code
		}
		if call, ok = method.X.(*ast.CallExpr); !ok {
			return "", code
		}
	}
}

// selected is the name in fault.Name, if it begins with prefix.
func selected(e ast.Expr, prefix string) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(s.Sel.Name, prefix) {
		return ""
	}
	if pkg, ok := s.X.(*ast.Ident); !ok || pkg.Name != "fault" {
		return ""
	}
	return s.Sel.Name
}

// parameter reports whether an expression is a parameter of a function.
func parameter(fn *ast.FuncDecl, e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && slices.ContainsFunc(fn.Type.Params.List, func(f *ast.Field) bool {
		return slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == id.Name })
	})
}

// called is the package and name of a function that is called.
func called(f *ast.File, call *ast.CallExpr) string {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return f.Name.Name + "." + fn.Name
	case *ast.SelectorExpr:
		if pkg, ok := fn.X.(*ast.Ident); ok {
			return pkg.Name + "." + fn.Sel.Name
		}
	}
	return ""
}

// sources are the files of the program, without its tests.
func sources(t *testing.T) []*ast.File {
	t.Helper()
	var out []*ast.File
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
		out = append(out, f)
		return err
	})
	if err != nil || len(out) < 500 {
		t.Fatalf("%d files: %v", len(out), err)
	}
	return out
}
