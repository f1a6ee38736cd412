package scripts

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"catena/storage/fault"
)

// Check looks for what is wrong in a scripted operation without running it: the header,
// the syntax, and calls of operations that names does not list.
func Check(file string, src []byte, names func() []string) []Problem {
	_, problems := parseHeader(file, string(src))
	found, _ := checkBody(&job{file: file, source: string(src)}, names)
	return append(problems, found...)
}

// checkBody looks for what is wrong below the header, and notes the calls of operations, whose parameters are for the
// server to check: a worker knows names only.
func checkBody(j *job, names func() []string) (problems []Problem, calls []any) {
	file, source := j.file, j.source
	s, read := &Script{}, parseModule
	if !j.module {
		s, _ = parseHeader(file, source)
		read = parse
	}
	tree, err := read(file, source)
	if err != nil {
		return []Problem{problemOf(file, err)}, nil
	}
	if !j.module && !declaresRun(tree.Program) {
		problems = append(problems, Problem{File: file, Line: s.header, Column: 1, Message: "function run(input, params) is missing"})
	}
	all := names()
	if s.Name != "" {
		all = append(all, s.Name)
		all = append(all, s.Aliases...)
	}
	c := &checker{tree: tree.Program, file: file, names: newNames(all), declared: map[string]bool{}}
	for _, name := range tree.text.locals() {
		c.declared[name] = true
	}
	walk(reflect.ValueOf(tree.Body), c.declare)
	walk(reflect.ValueOf(tree.Body), c.call)
	c.secondRun()
	c.undeclared(s)
	sortProblems(c.problems)
	return append(problems, c.problems...), c.calls
}

// sortProblems puts problems into the order of the text.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}

// problemOf is the problem an error describes.
func problemOf(file string, err error) Problem {
	p := Problem{File: file, Line: 1, Column: 1, Message: err.Error()}
	var f *fault.Error
	if errors.As(err, &f) {
		p.Line, p.Column, p.Message = max(f.Line, 1), max(f.Column, 1), f.Message
	}
	var at *Error
	if errors.As(err, &at) {
		p.Message = at.Err.Error()
	}
	return p
}

// checker walks over the tree of a script.
type checker struct {
	tree     *ast.Program
	file     string
	names    *names
	declared map[string]bool // names the script itself declares, anywhere
	problems []Problem
	calls    []any // of operations; see calls.go
}

var typeIdentifier = reflect.TypeFor[*ast.Identifier]()

// walk visits every node below v.
func walk(v reflect.Value, visit func(any)) {
	walkInto(v, func(node any) bool {
		visit(node)
		return true
	})
}

// walkInto visits the nodes below v, and those below a node when visit returns true. The
// trees of the parser have no walker of their own.
func walkInto(v reflect.Value, visit func(any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			walkInto(v.Elem(), visit)
		}
	case reflect.Pointer:
		if isNode(v) && visit(v.Interface()) && v.Type() != typeIdentifier {
			walkInto(v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkInto(v.Index(i), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// Declarations repeat what the statements hold.
			if f := v.Type().Field(i); f.IsExported() && f.Name != "DeclarationList" {
				walkInto(v.Field(i), visit)
			}
		}
	}
}

// isNode reports whether a pointer is to a node of a tree.
func isNode(v reflect.Value) bool {
	return !v.IsNil() && strings.HasSuffix(v.Type().Elem().PkgPath(), "/ast")
}

// declare notes the names that a node declares.
func (c *checker) declare(node any) {
	names := func(target ast.Node) {
		walk(reflect.ValueOf(target), func(n any) {
			if id, ok := n.(*ast.Identifier); ok {
				c.declared[id.Name.String()] = true
			}
		})
	}
	name := func(id *ast.Identifier) {
		if id != nil {
			names(id)
		}
	}
	rest := func(params *ast.ParameterList) {
		if params != nil && params.Rest != nil {
			names(params.Rest)
		}
	}
	switch n := node.(type) {
	case *ast.Binding:
		names(n.Target)
	case *ast.FunctionLiteral:
		name(n.Name)
		rest(n.ParameterList)
	case *ast.ArrowFunctionLiteral:
		rest(n.ParameterList)
	case *ast.ClassLiteral:
		name(n.Name)
	case *ast.CatchStatement:
		if n.Parameter != nil {
			names(n.Parameter)
		}
	case *ast.ForDeclaration:
		names(n.Target)
	case *ast.AssignExpression:
		if id, ok := n.Left.(*ast.Identifier); ok {
			names(id)
		}
	}
}

// call checks a call of an operation.
func (c *checker) call(node any) {
	n, ok := node.(*ast.CallExpression)
	if !ok {
		return
	}
	path, at := dotted(n.Callee)
	root, _, deep := strings.Cut(path, ".")
	if path == "" || c.declared[root] || builtins()[root] != nil || isGlobal(root) && !c.names.has(path) {
		return
	}
	if c.names.has(path) {
		c.note(c.names.at(path).op, n, at)
		return
	}
	near := fault.Nearest(path, slices.Values(c.mangled()))
	space := c.names.root.kids[root]
	switch {
	case space != nil && deep && c.method(path):
		return
	case space != nil && deep:
		c.add(at, "unknown operation "+path, near)
	// A dotted path that begins with an unknown name may be a variable of
	// the context, so it is a mistake only if it resembles an operation.
	case !deep || near != "":
		c.add(at, "unknown operation or function "+path, near)
	}
}

// method reports whether path calls a method of something that an operation gives: the
// path goes on below an operation.
func (c *checker) method(path string) bool {
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		if c.names.has(path[:i]) {
			return true
		}
	}
	return false
}

func (c *checker) mangled() []string {
	out := make([]string, len(c.names.all))
	for i, n := range c.names.all {
		out[i] = mangle(n)
	}
	return out
}

// secondRun refuses a file of several operations, whose last function run would be that of the first one.
func (c *checker) secondRun() {
	found := false
	for _, s := range c.tree.Body {
		if f, ok := s.(*ast.FunctionDeclaration); ok && f.Function.Name != nil && f.Function.Name.Name == "run" {
			if found {
				c.add(f, "duplicate function run; a file declares one operation", "")
			}
			found = true
		}
	}
}

func (c *checker) add(at ast.Node, message, near string) {
	p := c.tree.File.Position(int(at.Idx0()) - c.tree.File.Base())
	c.problems = append(c.problems, Problem{File: c.file, Line: p.Line, Column: p.Column, Message: message, Nearest: near})
}

// dotted returns the path of a callee made of names only, and where it begins.
func dotted(e ast.Expression) (string, ast.Node) {
	switch e := e.(type) {
	case *ast.Identifier:
		return e.Name.String(), e
	case *ast.DotExpression:
		left, at := dotted(e.Left)
		if left == "" {
			return "", nil
		}
		return left + "." + e.Identifier.Name.String(), at
	}
	return "", nil
}

// isGlobal reports whether the language itself has a global name.
func isGlobal(name string) bool { return languageGlobals()[name] }

var languageGlobals = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{"undefined": true}
	for _, name := range goja.New().GlobalObject().GetOwnPropertyNames() {
		m[name] = true
	}
	return m
})
