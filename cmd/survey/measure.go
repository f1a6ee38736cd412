package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// measured is what the files of a module add up to.
type measured struct {
	files, functions     []int // lines
	lines, comments      int   // of the packages that a command is built from
	testLines            int   // of _test.go files, and of packages that only tests import
	exported, documented int
	flags                int
	chain                []string // the longest chain of imports from cmd/catena
	bare, inits, verbs   []string // places: exported without a comment, init, methods of storage.Tx
	complex, wide, large []string
	harness              []string // packages that only tests import

	set      *token.FileSet
	root     string
	imports  map[string]map[string]bool // of packages of the module, by files that are not tests
	packages map[string]*pkg            // by folder
}

// pkg is what the files of a package add up to, tests excluded.
type pkg struct {
	files, lines, comments int
	main                   bool
}

// module is what paths of imports within the module begin with.
const module = "catena/"

const (
	maxComplexity = 15
	maxParameters = 5
	maxFiles      = 40
)

func measure(root string) (*measured, error) {
	m := &measured{set: token.NewFileSet(), root: root, imports: map[string]map[string]bool{}, packages: map[string]*pkg{}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		return m.file(name)
	})
	m.sum()
	m.chain = m.longest("cmd/catena", map[string][]string{})
	return m, err
}

// sum adds the packages up. Lines of a package that no command is built from are lines of tests: contract suites, harnesses
// and fakes live in packages of their own because tests of several packages share them. Their files, functions and names
// are measured like all others.
func (m *measured) sum() {
	built := map[string]bool{}
	for folder, p := range m.packages {
		if p.main && strings.HasPrefix(folder, "cmd/") {
			m.reach(folder, built)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(m.packages)) {
		p := m.packages[folder]
		if p.files > maxFiles {
			m.large = append(m.large, fmt.Sprintf("%s: %d files", folder, p.files))
		}
		if built[folder] {
			m.lines += p.lines
			m.comments += p.comments
			continue
		}
		m.testLines += p.lines
		m.harness = append(m.harness, fmt.Sprintf("%s: %d lines", folder, p.lines))
	}
}

// reach adds a package, and all that it imports, to those that a command is built from.
func (m *measured) reach(folder string, built map[string]bool) {
	if built[folder] {
		return
	}
	built[folder] = true
	for to := range m.imports[folder] {
		m.reach(to, built)
	}
}

// file adds a file to the measurements.
func (m *measured) file(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := bytes.Count(text, []byte("\n"))
	if strings.HasSuffix(name, "_test.go") {
		m.testLines += lines
		return nil
	}
	file, err := parser.ParseFile(m.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder, err := filepath.Rel(m.root, filepath.Dir(name))
	if err != nil {
		return err
	}
	folder = filepath.ToSlash(folder)
	p := m.packages[folder]
	if p == nil {
		p = &pkg{main: file.Name.Name == "main"}
		m.packages[folder] = p
	}
	p.files++
	p.lines += lines
	p.comments += m.commentLines(file)
	m.files = append(m.files, lines)
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if to, ours := strings.CutPrefix(path, module); ours {
			if m.imports[folder] == nil {
				m.imports[folder] = map[string]bool{}
			}
			m.imports[folder][to] = true
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			m.function(folder, d)
		case *ast.GenDecl:
			m.declaration(folder, d)
		}
	}
	return nil
}

// commentLines counts the lines on which a comment stands alone.
func (m *measured) commentLines(file *ast.File) (n int) {
	code := map[int]bool{}
	ast.Inspect(file, func(x ast.Node) bool {
		switch x.(type) {
		case nil, *ast.Comment, *ast.CommentGroup, *ast.File:
			return x != nil
		}
		code[m.set.Position(x.Pos()).Line], code[m.set.Position(x.End()).Line] = true, true
		return true
	})
	for _, group := range file.Comments {
		for line := m.set.Position(group.Pos()).Line; line <= m.set.Position(group.End()).Line; line++ {
			if !code[line] || line > m.set.Position(group.Pos()).Line {
				n++
			}
		}
	}
	return n
}

func (m *measured) function(folder string, d *ast.FuncDecl) {
	m.functions = append(m.functions, m.set.Position(d.End()).Line-m.set.Position(d.Pos()).Line+1)
	place := m.at(d.Pos(), d.Name.Name)
	if d.Recv == nil && d.Name.Name == "init" {
		m.inits = append(m.inits, place)
	}
	if c := complexity(d); c > maxComplexity {
		m.complex = append(m.complex, fmt.Sprintf("%s: %d", place, c))
	}
	if n := d.Type.Params.NumFields(); n > maxParameters {
		m.wide = append(m.wide, fmt.Sprintf("%s: %d", place, n))
	}
	of := receiver(d)
	if folder == "storage" && of == "Tx" && d.Name.IsExported() {
		m.verbs = append(m.verbs, place)
	}
	if of == "" || ast.IsExported(of) {
		m.symbol(d.Name, d.Doc != nil)
	}
}

// declaration counts the exported names of a declaration. A comment on a group counts for what is in it, and so does one
// behind a name.
func (m *measured) declaration(folder string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			m.symbol(s.Name, d.Doc != nil || s.Doc != nil || s.Comment != nil)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				m.symbol(name, d.Doc != nil || s.Doc != nil || s.Comment != nil)
				if folder == "cmd/catena" && name.Name == "topics" {
					m.flags += listed(s)
				}
			}
		}
	}
}

func (m *measured) symbol(name *ast.Ident, commented bool) {
	switch {
	case !name.IsExported():
		return
	case commented:
		m.documented++
	default:
		m.bare = append(m.bare, m.at(name.Pos(), name.Name))
	}
	m.exported++
}

func (m *measured) at(pos token.Pos, name string) string {
	p := m.set.Position(pos)
	file, err := filepath.Rel(m.root, p.Filename)
	if err != nil {
		file = p.Filename
	}
	return fmt.Sprintf("%s:%d: %s", filepath.ToSlash(file), p.Line, name)
}

// globals are the flags that every command has, with --help.
const globals = 8

// listed counts the names in the table of topics, which are the flags of serve, and the global flags.
func listed(table *ast.ValueSpec) int {
	n := globals
	ast.Inspect(table, func(x ast.Node) bool {
		list, ok := x.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if array, ok := list.Type.(*ast.ArrayType); ok {
			if of, ok := array.Elt.(*ast.Ident); ok && of.Name == "string" {
				n += len(list.Elts)
			}
		}
		return true
	})
	return n
}

// receiver is the name of the type that a method belongs to, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// complexity is the cyclomatic complexity: one more than the decisions of a function.
func complexity(d *ast.FuncDecl) int {
	n := 1
	ast.Inspect(d, func(x ast.Node) bool {
		switch s := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if s.List != nil {
				n++
			}
		case *ast.CommClause:
			if s.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if s.Op == token.LAND || s.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// longest is the longest chain of imports that begins with a package.
func (m *measured) longest(from string, known map[string][]string) []string {
	if chain, ok := known[from]; ok {
		return chain
	}
	var below []string
	for _, to := range slices.Sorted(maps.Keys(m.imports[from])) {
		if chain := m.longest(to, known); len(chain) > len(below) {
			below = chain
		}
	}
	known[from] = append([]string{from}, below...)
	return known[from]
}

// spreadOf returns the median, the 95th percentile and the maximum.
func spreadOf(all []int) (median, p95, largest int) {
	if len(all) == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2], sorted[len(sorted)*95/100], sorted[len(sorted)-1]
}

func spreadText(all []int) string {
	median, p95, largest := spreadOf(all)
	return fmt.Sprintf("%d / %d / %d", median, p95, largest)
}
