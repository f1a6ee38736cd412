package scripts

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// A call such as Document.Create(input, {type: "File"}) would make an object for the operation to read, and forget it. Making it,
// and finding out what is in it, takes longer than all the rest of a call. Where a name can mean nothing but an operation, such an
// object is never made: the compiler passes its values as arguments of their own, behind the input, and the operation knows the
// names by the place of the call. The names that such calls begin with cannot be given another meaning while the script runs.

// literals are the calls of a script whose parameters are arguments.
type literals struct {
	calls map[position]*literal
	roots []string // what the calls begin with
}

// literal is such a call: how the script calls the operation, and the names of the parameters in the order of the arguments.
type literal struct {
	path  string
	names []string
}

// spread changes the calls of a tree that are such, and returns them. ops are the operations there are.
func spread(tree *syntax, ops *names) (l literals) {
	if ops == nil || len(tree.text.imports) > 0 {
		return l
	}
	calls, ok := spreadable(tree, ops)
	if !ok || len(calls) == 0 {
		return l
	}
	l.calls = make(map[position]*literal, len(calls))
	for _, call := range calls {
		object := call.ArgumentList[1].(*ast.ObjectLiteral)
		one := &literal{path: pathOf(call.Callee)}
		args := call.ArgumentList[:1:1]
		for _, p := range object.Value {
			name, value := memberOf(p)
			one.names, args = append(one.names, name), append(args, value)
		}
		call.ArgumentList = args
		p := tree.File.Position(int(call.LeftParenthesis) - tree.File.Base())
		l.calls[position{p.Line, p.Column}] = one
		if root := rootOf(call.Callee); !slices.Contains(l.roots, root) {
			l.roots = append(l.roots, root)
		}
	}
	return l
}

// spreadable finds the calls. ok is false for a script that may make names at run time, which nobody knows before.
func spreadable(tree *syntax, ops *names) (calls []*ast.CallExpression, ok bool) {
	named, below := map[string]int{}, map[string]int{} // how often a name is there, and how often a member of it is named
	ok = true
	walk(reflect.ValueOf(tree.Body), func(node any) {
		switch n := node.(type) {
		case *ast.WithStatement:
			ok = false
		case *ast.Identifier:
			name := n.Name.String()
			ok = ok && name != "eval"
			named[name]++
		case *ast.PropertyShort:
			named[n.Name.Name.String()]++
		case *ast.DotExpression:
			if id, is := n.Left.(*ast.Identifier); is {
				below[id.Name.String()]++
			}
		case *ast.CallExpression:
			if passesLiteral(n) && ops.has(pathOf(n.Callee)) {
				calls = append(calls, n)
			}
		}
	})
	calls = slices.DeleteFunc(calls, func(c *ast.CallExpression) bool {
		root := rootOf(c.Callee)
		return named[root] != below[root] || isGlobal(root) // declared, changed or passed on somewhere
	})
	return calls, ok
}

// passesLiteral reports whether a call has an input and an object of plain members.
func passesLiteral(call *ast.CallExpression) bool {
	if len(call.ArgumentList) != 2 {
		return false
	}
	if _, is := call.ArgumentList[0].(*ast.SpreadElement); is {
		return false
	}
	object, ok := call.ArgumentList[1].(*ast.ObjectLiteral)
	if !ok || len(object.Value) == 0 {
		return false
	}
	seen := map[string]bool{}
	for _, p := range object.Value {
		name, value := memberOf(p)
		if value == nil || name == "__proto__" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// memberOf is the name and the value of a member; value is nil if it is not a plain one.
func memberOf(p ast.Property) (name string, value ast.Expression) {
	switch p := p.(type) {
	case *ast.PropertyKeyed:
		if key, ok := p.Key.(*ast.StringLiteral); ok && !p.Computed && p.Kind == ast.PropertyKindValue {
			return key.Value.String(), p.Value
		}
	case *ast.PropertyShort:
		if p.Initializer == nil {
			return p.Name.Name.String(), &p.Name
		}
	}
	return "", nil
}

// pathOf is how a call names an operation of a space, "" if it does not.
func pathOf(callee ast.Expression) string {
	if _, ok := callee.(*ast.DotExpression); !ok {
		return ""
	}
	path, _ := dotted(callee)
	return path
}

func rootOf(callee ast.Expression) string {
	root, _, _ := strings.Cut(pathOf(callee), ".")
	return root
}

// lock gives the names that such calls begin with their meaning for the whole run.
func (m *machine) lock(roots []string) {
	for _, root := range roots {
		if m.names.root.kids[root] != nil {
			_ = m.vm.GlobalObject().DefineDataProperty(root, (*scope)(m).Get(root), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
	}
}

// passed are parameters as values of the script.
type passed struct {
	names  []string
	values []goja.Value
}

// parametersOf makes the map of parameters that came as arguments.
func (m *machine) parametersOf(p passed) (map[string]any, error) {
	e := exporter{m: m, left: m.limits.Output}
	out := make(map[string]any, len(p.names))
	for i, name := range p.names {
		v := p.values[i]
		if goja.IsUndefined(v) {
			continue
		}
		if err := e.spend(len(name) + 4); err != nil {
			return nil, err
		}
		x, err := e.value(v, 1)
		if err != nil {
			return nil, err
		}
		out[name] = x
	}
	return out, nil
}

// plainArguments reports whether values can be written as they are: no code of the script runs for that, and they are small.
func plainArguments(values []goja.Value, most int) bool {
	for _, v := range values {
		switch v := v.(type) {
		case *goja.Object, *goja.Symbol:
			return false
		case goja.String:
			most -= v.Length()
		}
		if most -= 8; most < 0 {
			return false
		}
	}
	return true
}

// write writes the parameters as a map.
func (p *passed) write(w *writer) error {
	n := len(p.values)
	for _, v := range p.values {
		if goja.IsUndefined(v) {
			n--
		}
	}
	w.byte(tagMap)
	w.uint(uint64(n))
	for i, v := range p.values {
		if goja.IsUndefined(v) {
			continue
		}
		w.string(p.names[i])
		if err := w.primitive(v); err != nil {
			return err
		}
	}
	return nil
}

// primitive writes a value of a script that is not an object.
func (w *writer) primitive(v goja.Value) error {
	if s, ok := v.(goja.String); ok {
		w.byte(tagString)
		w.string(s.String())
		return nil
	}
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		w.byte(tagNil)
		return nil
	}
	if v.ExportType() == typeInteger {
		w.byte(tagInt)
		w.int(v.ToInteger())
		return nil
	}
	x, err := primitive(v)
	if err != nil {
		return err
	}
	return w.value(x)
}
