package ops_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestDeclaredParameters: a parameter that an operation declares either works, which takes that something reads it, or is marked
// as one that does nothing, and then nothing reads it: answers name such a parameter in the header Catena-Ignored.
func TestDeclaredParameters(t *testing.T) {
	families, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen, unused := 0, 0
	done := map[string]bool{}
	for _, file := range families {
		dir := filepath.Dir(file)
		if done[dir] || dir == "opstest" {
			continue
		}
		done[dir] = true
		fields, read := parametersOf(t, dir)
		for _, f := range fields {
			seen++
			if f.unused {
				unused++
			}
			switch {
			case f.unused && read[f.of+"."+f.name]:
				t.Errorf("%s: %s is read, although it is declared as one that does nothing", f.at, f.param)
			case f.unused && !strings.HasPrefix(f.doc, "Accepted but ignored"):
				t.Errorf("%s: the documentation of %s must say that it is accepted but ignored, not %q", f.at, f.param, f.doc)
			case !f.unused && !read[f.name]:
				t.Errorf("%s: nothing reads %s", f.at, f.param)
			case !f.unused && strings.Contains(f.doc, "ccepted but ignored"):
				t.Errorf("%s: %s is not marked as one that does nothing", f.at, f.param)
			}
		}
	}
	if seen < 400 || unused < 20 {
		t.Errorf("%d parameters, %d of them unused", seen, unused)
	}
}

// parameter is a field of a struct of parameters.
type parameter struct {
	of, name, param, doc, at string
	unused                   bool
}

// parametersOf are the parameters that a package declares, and the names of fields that it reads; behind the name of a type and a
// dot those that its methods read.
func parametersOf(t *testing.T, dir string) (fields []parameter, read map[string]bool) {
	t.Helper()
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, dir, func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }, 0) //nolint:staticcheck // no build tags here
	if err != nil {
		t.Fatal(err)
	}
	read = map[string]bool{}
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				read[n.Sel.Name] = true
			case *ast.FuncDecl:
				readByMethod(n, read)
			case *ast.TypeSpec:
				if of, ok := n.Type.(*ast.StructType); ok {
					fields = append(fields, fieldsOf(t, files, n.Name.Name, of)...)
				}
			}
			return true
		})
	}
	return fields, read
}

// readByMethod notes the fields that a method reads of its receiver.
func readByMethod(f *ast.FuncDecl, read map[string]bool) {
	if f.Recv == nil || len(f.Recv.List[0].Names) == 0 || f.Body == nil {
		return
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	of, ok := typ.(*ast.Ident)
	if !ok {
		return
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == f.Recv.List[0].Names[0].Name {
				read[of.Name+"."+s.Sel.Name] = true
			}
		}
		return true
	})
}

// fieldsOf are the parameters among the fields of a struct.
func fieldsOf(t *testing.T, files *token.FileSet, name string, of *ast.StructType) (out []parameter) {
	t.Helper()
	for _, f := range of.Fields.List {
		if f.Tag == nil || len(f.Names) != 1 {
			continue
		}
		text, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		tag := reflect.StructTag(text)
		if doc := tag.Get("doc"); doc != "" {
			param, _, _ := strings.Cut(tag.Get("json"), ",")
			out = append(out, parameter{name, f.Names[0].Name, param, doc, files.Position(f.Pos()).String(), tag.Get("unused") == "true"})
		}
	}
	return out
}
