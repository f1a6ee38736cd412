package scripts

import (
	"errors"
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	srcfile "github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// A script that awaits outside its functions is the body of an asynchronous function that
// is called at once. The runtime knows await only there. What is parsed is the text
// between asyncHead and asyncTail; places are moved back afterwards, so that errors,
// stacks and checks tell them as they are in the script.
const (
	// Without a line break in front, lines keep their numbers; with one
	// behind, a comment in the last line does not hide the bracket.
	asyncHead = "async()=>{"
	asyncTail = "\n}"
)

// resultName holds the value of the last expression. No script can write it.
const resultName unistring.String = "<result>"

// syntax is the tree of a script.
type syntax struct {
	*ast.Program
	async  *ast.ArrowFunctionLiteral // whose body the statements are; nil when they do not await
	module *ast.ArrowFunctionLiteral // of a module, the same
	text   *moduleText
}

// parseAwaiting reads source as one that awaits. It returns nil when it does not.
func parseAwaiting(name, source string) (*syntax, error) {
	if !strings.Contains(source, "await") {
		return nil, nil
	}
	text := source
	if strings.HasPrefix(text, "#!") {
		text = "//" + text[2:] // known at the start of a file only
	}
	tree, err := parser.ParseFile(nil, name, asyncHead+text+asyncTail, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, movedBack(err, source)
	}
	f, end := onlyFunction(tree)
	// A text such as "} evil() {" must not leave the function that it is put into.
	if f == nil || end != len(asyncHead)+len(text)+len(asyncTail) {
		return nil, nil // a bracket of source closes the function
	}
	body := f.Body.(*ast.BlockStatement)
	awaits := false
	var returns *ast.ReturnStatement
	walkInto(reflect.ValueOf(body.List), func(node any) bool {
		switch n := node.(type) {
		case *ast.AwaitExpression:
			awaits = true
		case *ast.ReturnStatement:
			returns = n
		}
		return !isFunction(node)
	})
	if !awaits {
		return nil, nil
	}
	at := srcfile.NewFile(name, source, 1)
	move := mover{by: len(asyncHead), seen: map[any]bool{}}
	move.value(reflect.ValueOf(body.List))
	move.value(reflect.ValueOf(f.DeclarationList))
	f.Start, body.LeftBrace, body.RightBrace = 1, 1, 1
	if returns != nil {
		return nil, &parser.Error{Position: at.Position(int(returns.Return) - 1), Message: "Illegal return statement"}
	}
	return &syntax{Program: &ast.Program{Body: body.List, File: at}, async: f}, nil
}

// onlyFunction returns the arrow function that is all of tree, and the offset of its end.
func onlyFunction(tree *ast.Program) (*ast.ArrowFunctionLiteral, int) {
	if len(tree.Body) != 1 {
		return nil, 0
	}
	s, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil, 0
	}
	f, ok := s.Expression.(*ast.ArrowFunctionLiteral)
	if !ok {
		return nil, 0
	}
	if _, ok := f.Body.(*ast.BlockStatement); !ok {
		return nil, 0
	}
	return f, int(f.Idx1()) - 1
}

// isFunction reports whether what stands in a node runs at another time, if at all.
func isFunction(node any) bool {
	switch node.(type) {
	case *ast.ArrowFunctionLiteral, *ast.ClassStaticBlock, *ast.FieldDefinition, *ast.FunctionLiteral:
		return true
	}
	return false
}

// movedBack gives the errors of a parse the places they have in source.
func movedBack(err error, source string) error { return movedBy(err, source, len(asyncHead)) }

// movedBy is movedBack for a head of so many characters.
func movedBy(err error, source string, by int) error {
	var list parser.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	last := srcfile.NewFile("", source, 1).Position(len(source))
	for _, e := range list {
		switch p := &e.Position; {
		case p.Line > last.Line:
			p.Line, p.Column = last.Line, last.Column
		case p.Line == 1:
			p.Column -= by
		}
	}
	return err
}

// program is what is compiled: the statements themselves or, when they await, a call of
// the function, which gives a promise of run, when that is declared, or of the value of the
// last expression.
func (s *syntax) program() *ast.Program {
	if s.module != nil {
		return s.moduleProgram()
	}
	if s.async == nil {
		return s.Program
	}
	body := s.async.Body.(*ast.BlockStatement)
	result := func(name unistring.String) ast.Expression { return &ast.Identifier{Name: name, Idx: 1} }
	give := unistring.String("run")
	if !declaresRun(s.Program) {
		give = resultName
		keepResult(body.List)
		s.async.DeclarationList = append(s.async.DeclarationList, &ast.VariableDeclaration{Var: 1, List: []*ast.Binding{{Target: &ast.Identifier{Name: give, Idx: 1}}}})
	}
	body.List = append(body.List, &ast.ReturnStatement{Return: 1, Argument: result(give)})
	call := &ast.CallExpression{Callee: s.async, LeftParenthesis: 1, RightParenthesis: 1}
	return &ast.Program{Body: []ast.Statement{&ast.ExpressionStatement{Expression: call}}, File: s.File}
}

// keepResult turns statements that are expressions into ones that set the result; not the
// texts at the start, which may be directives.
func keepResult(list []ast.Statement) {
	for len(list) > 0 {
		s, ok := list[0].(*ast.ExpressionStatement)
		if !ok {
			break
		}
		if _, ok := s.Expression.(*ast.StringLiteral); !ok {
			break
		}
		list = list[1:]
	}
	walkInto(reflect.ValueOf(list), func(node any) bool {
		if s, ok := node.(*ast.ExpressionStatement); ok {
			s.Expression = &ast.AssignExpression{
				Operator: token.ASSIGN, Left: &ast.Identifier{Name: resultName, Idx: s.Expression.Idx0()}, Right: s.Expression,
			}
		}
		return !isFunction(node)
	})
}

// mover moves the places of all nodes towards the start, once each.
type mover struct {
	by   int
	seen map[any]bool
}

var typeIdx = reflect.TypeFor[srcfile.Idx]()

// value moves the positions in a syntax tree, which the rewriting of await has shifted, back to those of the source.
func (m *mover) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Int:
		if v.Type() == typeIdx && v.Int() > 0 {
			v.SetInt(max(1, v.Int()-int64(m.by)))
		}
	case reflect.Interface:
		if !v.IsNil() {
			m.value(v.Elem())
		}
	case reflect.Pointer:
		if !isNode(v) || m.seen[v.Interface()] {
			return
		}
		m.seen[v.Interface()] = true
		m.value(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			m.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				m.value(v.Field(i))
			}
		}
	}
}
