package scripts

import (
	"math/big"
	"reflect"
	"slices"
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"catena/engine"
	"catena/engine/library"
	"catena/storage/fault"
)

// What a text says about the calls of a script can be checked before it runs: the names of parameters, and values that
// are written out. The worker, which parses the text, knows no parameters, and the server parses no text that might be
// hard to parse. So the worker notes each call in plain values, and the server compares the notes with the operations.
//
// A note is the list of the operation, line, column, input and parameters. A value within it is a list of its kind, line
// and column, and more of some kinds.
const (
	valueUnknown = "?" // known when the script runs
	valueIs      = "=" // the value itself
	valueList    = "[" // the values
	valueObject  = "{" // name and value in turns
	valueOpen    = "." // an object that may have more members than those
)

// maxLiteral is how deep literals are looked into.
const maxLiteral = 8

// note notes a call of an operation for the server.
func (c *checker) note(op string, n *ast.CallExpression, at ast.Node) {
	// After a spread, nobody knows which argument is the input and which the parameters.
	if slices.ContainsFunc(n.ArgumentList, func(e ast.Expression) bool { _, spread := e.(*ast.SpreadElement); return spread }) {
		return
	}
	line, column := c.place(at)
	note := []any{op, line, column}
	for i := range 2 {
		v := []any{valueIs, line, column, nil}
		if i < len(n.ArgumentList) {
			v = c.literal(n.ArgumentList[i], 0)
		}
		note = append(note, v)
	}
	c.calls = append(c.calls, note)
}

func (c *checker) place(at ast.Node) (line, column int64) {
	p := c.tree.File.Position(int(at.Idx0()) - c.tree.File.Base())
	return int64(p.Line), int64(p.Column)
}

// literal is what is known of an expression.
func (c *checker) literal(e ast.Expression, depth int) []any {
	line, column := c.place(e)
	is := func(v any) []any { return []any{valueIs, line, column, v} }
	unknown := []any{valueUnknown, line, column}
	if depth > maxLiteral {
		return unknown
	}
	switch e := e.(type) {
	case *ast.BooleanLiteral:
		return is(e.Value)
	case *ast.NullLiteral:
		return is(nil)
	case *ast.NumberLiteral:
		if _, isBig := e.Value.(*big.Int); !isBig {
			return is(e.Value)
		}
	case *ast.StringLiteral:
		return is(e.Value.String())
	case *ast.TemplateLiteral:
		if e.Tag == nil && len(e.Expressions) == 0 && len(e.Elements) == 1 {
			return is(e.Elements[0].Parsed.String())
		}
	case *ast.UnaryExpression:
		if inner := c.literal(e.Operand, depth+1); e.Operator == token.MINUS && inner[0] == valueIs {
			switch n := inner[3].(type) {
			case int64:
				return is(-n)
			case float64:
				return is(-n)
			}
		}
	case *ast.ArrayLiteral:
		list := []any{valueList, line, column}
		for _, item := range e.Value {
			if _, spread := item.(*ast.SpreadElement); spread || item == nil {
				return unknown
			}
			list = append(list, c.literal(item, depth+1))
		}
		return list
	case *ast.ObjectLiteral:
		return c.object(e, depth)
	}
	return unknown
}

func (c *checker) object(e *ast.ObjectLiteral, depth int) []any {
	line, column := c.place(e)
	out := []any{valueObject, line, column}
	for _, p := range e.Value {
		switch p := p.(type) {
		case *ast.PropertyShort:
			l, col := c.place(&p.Name)
			out = append(out, []any{valueIs, l, col, p.Name.Name.String()}, []any{valueUnknown, l, col})
			continue
		case *ast.PropertyKeyed:
			key := c.literal(p.Key, maxLiteral)
			if name, text := key[len(key)-1].(string); text && key[0] == valueIs && !p.Computed {
				v := []any{valueUnknown, key[1], key[2]}
				if p.Kind == ast.PropertyKindValue {
					v = c.literal(p.Value, depth+1)
				}
				out = append(out, []any{valueIs, key[1], key[2], name}, v)
				continue
			}
		}
		out[0] = valueOpen // a computed name, or the members of another object
	}
	return out
}

// undeclared reports parameters that run reads and the header does not declare: nobody can give them.
func (c *checker) undeclared(s *Script) {
	declared := make([]string, len(s.Params))
	for i, p := range s.Params {
		declared[i] = p.Name
	}
	name := c.parametersName()
	if name == "" {
		return
	}
	walkInto(reflect.ValueOf(c.tree.Body), func(node any) bool {
		if f, ok := node.(*ast.FunctionLiteral); ok && c.shadows(f.ParameterList, name) {
			return f.Name != nil && f.Name.Name == "run"
		}
		if f, ok := node.(*ast.ArrowFunctionLiteral); ok && c.shadows(f.ParameterList, name) {
			return false
		}
		dot, ok := node.(*ast.DotExpression)
		if !ok {
			return true
		}
		id, ok := dot.Left.(*ast.Identifier)
		read := dot.Identifier.Name.String()
		if ok && id.Name.String() == name && !slices.Contains(declared, read) && !slices.Contains(objectMembers, read) {
			c.add(&dot.Identifier, "unknown parameter "+name+"."+read+"; declare it with @param", fault.Nearest(read, slices.Values(declared)))
		}
		return true
	})
}

// objectMembers are what every object has.
var objectMembers = []string{"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}

// parametersName is how run calls its second parameter, "" unless it is a name that is assigned nowhere.
func (c *checker) parametersName() string {
	for _, s := range c.tree.Body {
		f, ok := s.(*ast.FunctionDeclaration)
		if !ok || f.Function.Name == nil || f.Function.Name.Name != "run" || f.Function.ParameterList == nil || len(f.Function.ParameterList.List) < 2 {
			continue
		}
		id, ok := f.Function.ParameterList.List[1].Target.(*ast.Identifier)
		if !ok || c.rebound(id.Name.String()) {
			return ""
		}
		return id.Name.String()
	}
	return ""
}

// rebound reports whether a name is assigned, its members are, or a variable has it too.
func (c *checker) rebound(name string) (found bool) {
	is := func(e any) bool {
		if dot, ok := e.(*ast.DotExpression); ok {
			e = dot.Left
		}
		id, ok := e.(*ast.Identifier)
		return ok && id.Name.String() == name
	}
	variable := func(list []*ast.Binding) bool {
		return slices.ContainsFunc(list, func(b *ast.Binding) bool {
			inner := false
			walk(reflect.ValueOf(b.Target), func(n any) { inner = inner || is(n) })
			return inner
		})
	}
	walk(reflect.ValueOf(c.tree.Body), func(node any) {
		switch n := node.(type) {
		case *ast.AssignExpression:
			found = found || is(n.Left)
		case *ast.LexicalDeclaration:
			found = found || variable(n.List)
		case *ast.VariableStatement:
			found = found || variable(n.List)
		}
	})
	return found
}

// shadows reports whether a function has a parameter of a name.
func (c *checker) shadows(params *ast.ParameterList, name string) (found bool) {
	if params != nil {
		walk(reflect.ValueOf(params.List), func(n any) {
			id, ok := n.(*ast.Identifier)
			found = found || ok && id.Name.String() == name
		})
	}
	return found
}

// badCalls are the mistakes in the calls that a worker has noted.
func (s *Script) badCalls(c *engine.Ctx, notes []any) (problems []Problem) {
	o := engine.PlanOptions{Params: s.Params, Types: c.Tx.Repo().Types()}
	for _, x := range notes {
		if call := callOf(x); call != nil {
			call.More = call.More || s.setsVariables() // operations also find parameters among those
			problems = append(problems, library.PlanProblems(s.File, call.Line, call.Column, c.Set().CheckCall(call, o))...)
		}
	}
	sortProblems(problems)
	return problems
}

// callOf reads a note; nil if it is none.
func callOf(x any) *engine.CallStep {
	note, _ := x.([]any)
	// Notes come from a worker, which is not trusted to write them as this file does.
	if len(note) != 5 {
		return nil
	}
	call := &engine.CallStep{}
	call.Op, _ = note[0].(string)
	call.Line, call.Column = placeIn(note[1:])
	call.Positions = map[string]engine.Position{}
	call.Input = valueIn(note[3], "", nil)
	params := valueIn(note[4], "", call.Positions)
	kind, _ := note[4].([]any)
	switch v := params.(type) {
	case map[string]any:
		call.Params, call.More = v, kind[0] == valueOpen
	case nil:
	default:
		call.More = true
	}
	return call
}

func placeIn(list []any) (line, column int) {
	if len(list) < 2 {
		return 0, 0
	}
	l, _ := list[0].(int64)
	c, _ := list[1].(int64)
	return int(l), int(c)
}

// valueIn is the value of a note, with the places of its parts by path.
func valueIn(x any, path string, places map[string]engine.Position) any {
	note, _ := x.([]any)
	if len(note) < 3 {
		return engine.Unknown{}
	}
	switch rest := note[3:]; {
	case note[0] == valueIs && len(rest) == 1:
		return rest[0]
	case note[0] == valueList:
		out := make([]any, len(rest))
		for i, item := range rest {
			out[i] = valueIn(item, path+strconv.Itoa(i)+"/", places)
			mark(places, path+strconv.Itoa(i), item, item)
		}
		return out
	case note[0] == valueObject, note[0] == valueOpen:
		out := make(map[string]any, len(rest)/2)
		for i := 0; i+1 < len(rest); i += 2 {
			name, ok := valueIn(rest[i], "", nil).(string)
			if !ok {
				return engine.Unknown{}
			}
			out[name] = valueIn(rest[i+1], path+name+"/", places)
			mark(places, path+name, rest[i], rest[i+1])
		}
		return out
	}
	return engine.Unknown{}
}

// mark notes where a part of a value and its own value stand.
func mark(places map[string]engine.Position, path string, key, value any) {
	if places == nil {
		return
	}
	k, _ := key.([]any)
	v, _ := value.([]any)
	if len(k) < 3 || len(v) < 3 {
		return
	}
	at := engine.Position{}
	at.Line, at.Column = placeIn(k[1:])
	of := engine.Position{}
	of.Line, of.Column = placeIn(v[1:])
	at.Value = &of
	places[path] = at
}
