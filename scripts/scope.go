package scripts

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// scope answers for the names a script uses and does not declare: the platform's
// globals, the operations, then the context's variables. Values are made on first use
// and kept for the run.
type scope machine

// Get returns the value of a global name, nil when there is none.
func (s *scope) Get(key string) goja.Value {
	m := (*machine)(s)
	if v, ok := m.globals[key]; ok {
		return v
	}
	if v := m.global(key); v != nil {
		m.keep(key, v)
		return v
	}
	v, found, err := m.host.variable(key)
	if err != nil {
		m.throw(err, "")
	}
	if !found {
		m.missed = key
		return nil
	}
	return m.enter(v)
}

// keep remembers a global for the run; not variables, which calls may change.
func (m *machine) keep(key string, v goja.Value) {
	if m.globals == nil {
		m.globals = make(map[string]goja.Value, 8)
	}
	m.globals[key] = v
}

func (m *machine) global(key string) goja.Value {
	if kid := m.names.root.kids[key]; kid != nil {
		return m.space(kid, key)
	}
	if makeValue := builtins()[key]; makeValue != nil {
		return makeValue(m)
	}
	return nil
}

// Set is reached for names that Has knows; they are kept as they are.
func (s *scope) Set(string, goja.Value) bool { return false }

// Has reports whether a global name exists.
func (s *scope) Has(key string) bool {
	m := (*machine)(s)
	if builtins()[key] != nil || m.names.root.kids[key] != nil {
		return true
	}
	_, found, err := m.host.variable(key)
	if !found {
		m.missed = key
	}
	return err == nil && found
}

// Delete keeps every global.
func (s *scope) Delete(string) bool { return false }

// Keys lists the platform's globals and the operations' spaces.
func (s *scope) Keys() []string {
	keys := make([]string, 0, len(builtins())+len(s.names.root.kids))
	for k := range builtins() {
		keys = append(keys, k)
	}
	for k := range s.names.root.kids {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// shadow gives globals of the language the operations of the spaces that have their names, such as Proxy: the scope is not
// asked for a name that the language has.
func (m *machine) shadow(roots []string) {
	for _, root := range roots {
		s := m.names.root.kids[root]
		of, ok := m.vm.GlobalObject().Get(root).(*goja.Object)
		if s == nil || !ok {
			continue
		}
		for name, kid := range s.kids {
			if of.Get(name) == nil {
				_ = of.DefineDataProperty(name, m.space(kid, root+"."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
			}
		}
	}
}

// globalRoots are the globals of the language whose members a script names.
func globalRoots(tree *ast.Program) []string {
	var roots []string
	walk(reflect.ValueOf(tree.Body), func(node any) {
		dot, ok := node.(*ast.DotExpression)
		if !ok {
			return
		}
		if id, ok := dot.Left.(*ast.Identifier); ok && isGlobal(id.Name.String()) && !slices.Contains(roots, id.Name.String()) {
			roots = append(roots, id.Name.String())
		}
	})
	return roots
}

// namespace is an object of operations.
type namespace struct {
	m    *machine
	s    *space
	path string
	made map[string]goja.Value
}

// space makes what a name of the tree of operations stands for.
func (m *machine) space(s *space, path string) goja.Value {
	if s.op == "" {
		return m.vm.NewDynamicObject(&namespace{m: m, s: s, path: path})
	}
	fn := m.operation(s.op, path)
	for name, kid := range s.kids {
		_ = fn.DefineDataProperty(name, m.space(kid, path+"."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	return fn
}

// operation is the function that calls op with (input, params).
func (m *machine) operation(op, path string) *goja.Object {
	return m.function(path, func(call goja.FunctionCall) goja.Value {
		m.count(op)
		v, err := m.called(op, path, call.Arguments)
		if err != nil {
			m.refused(err, op)
		}
		return m.enter(v)
	})
}

// function makes a native function whose name says nothing about the server's code.
func (m *machine) function(name string, f func(goja.FunctionCall) goja.Value) *goja.Object {
	fn := m.vm.ToValue(f).(*goja.Object)
	_ = fn.DefineDataProperty("name", m.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return fn
}

// Get returns an operation or a space below this one.
func (n *namespace) Get(key string) goja.Value {
	if v := n.made[key]; v != nil {
		return v
	}
	kid := n.s.kids[key]
	if kid == nil {
		n.m.missed = n.path + "." + key
		return nil
	}
	if n.made == nil {
		n.made = make(map[string]goja.Value, 4)
	}
	v := n.m.space(kid, n.path+"."+key)
	n.made[key] = v
	return v
}

// Set refuses: operations are not the script's to change.
func (n *namespace) Set(string, goja.Value) bool { return false }

// Has reports whether the space has the name.
func (n *namespace) Has(key string) bool { return n.s.kids[key] != nil }

// Delete refuses.
func (n *namespace) Delete(string) bool { return false }

// Keys lists the names of the space.
func (n *namespace) Keys() []string {
	return slices.Sorted(maps.Keys(n.s.kids))
}
