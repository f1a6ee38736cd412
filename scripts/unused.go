package scripts

import (
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
)

// A call of an operation whose value nobody uses need not be waited for: the server
// carries out the calls of a script in their order, and the first that fails ends the
// run, whatever the script has done since. Nobody can tell the difference, provided that
// the script has no means to go on after an error. Such calls are statements of their own,
// in scripts without try, promises, and code made at run time. A script that gets hold of
// these by another way cannot catch the errors of such calls.

// position is where a call's brackets open.
type position struct{ line, column int }

// unusedCalls returns the calls whose value nobody uses, with the names that are called;
// none for a script that may go on after an error.
func unusedCalls(tree *syntax) map[position]string {
	if tree.async != nil || goesOn(tree.Program) {
		return nil
	}
	used := map[any]bool{}
	if !declaresRun(tree.Program) { // a statement outside functions may be the script's value
		walkInto(reflect.ValueOf(tree.Body), func(node any) bool {
			used[node] = true
			return !isFunction(node)
		})
	}
	unused := map[position]string{}
	walk(reflect.ValueOf(tree.Body), func(node any) {
		s, ok := node.(*ast.ExpressionStatement)
		if !ok || used[node] {
			return
		}
		call, ok := s.Expression.(*ast.CallExpression)
		if !ok {
			return
		}
		if name, _ := dotted(call.Callee); name != "" {
			p := tree.File.Position(int(call.LeftParenthesis) - tree.File.Base())
			unused[position{p.Line, p.Column}] = name
		}
	})
	return unused
}

// goesOn reports whether a script may go on after an error.
func goesOn(tree *ast.Program) bool {
	found := false
	name := func(s string) {
		switch s {
		case "Function", "Promise", "catch", "constructor", "eval", "finally", "globalThis", "then":
			found = true
		}
	}
	walk(reflect.ValueOf(tree.Body), func(node any) {
		switch n := node.(type) {
		case *ast.TryStatement, *ast.AwaitExpression:
			found = true
		case *ast.FunctionLiteral:
			found = found || n.Async
		case *ast.ArrowFunctionLiteral:
			found = found || n.Async
		case *ast.Identifier:
			name(n.Name.String())
		case *ast.DotExpression:
			name(n.Identifier.Name.String())
		case *ast.StringLiteral:
			name(n.Value.String())
		}
	})
	return found
}

// textLists returns the lists of texts that are written in a script.
func textLists(tree *ast.Program) (lists [][]any) {
	walk(reflect.ValueOf(tree.Body), func(node any) {
		n, ok := node.(*ast.ArrayLiteral)
		if !ok {
			return
		}
		texts := make([]any, 0, len(n.Value))
		for _, e := range n.Value {
			if s, ok := e.(*ast.StringLiteral); ok {
				texts = append(texts, strings.Clone(s.Value.String()))
			}
		}
		if len(texts) > 1 && len(texts) == len(n.Value) {
			lists = append(lists, texts)
		}
	})
	return lists
}
