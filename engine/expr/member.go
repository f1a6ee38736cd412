package expr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"

	"catena/storage/fault"
)

// The library reads a member that a map does not have as nil, which a template writes as an empty text: a misspelt column of a
// table would empty a property of every document. So members are read by functions of this package, and only what says that
// a member may be missing reads nil: ?. and ??, a comparison with nil, and the names of sparse.

// sparse are the variables whose members may be missing: what callers may set, or leave out.
var sparse = map[string]bool{
	"ChainParameters": true, "Context": true, "ctx": true, "Env": true, "NodeVariables": true, "Session": true, "WorkflowVariables": true,
}

// The functions that read members: of one that is missing, strict returns an error and lenient nil.
const (
	strict  = "member"
	lenient = "optional"
)

// access replaces a member by a call, unless ?. stands in the same chain: its jump out of the chain cannot leave a call.
func access(node *ast.Node, n *ast.MemberNode) {
	if n.Optional {
		mayLack(n.Node)
	}
	if _, index := n.Property.(*ast.IntegerNode); index || optional(n) {
		return
	}
	how := strict
	if of, ok := n.Node.(*ast.IdentifierNode); ok && sparse[of.Value] {
		how = lenient
	}
	ast.Patch(node, callOf(how, n.Node, n.Property, &ast.StringNode{Value: written(n.Node)}))
}

// optional reports whether a chain of members and calls may end at a ?. in it.
func optional(node ast.Node) bool {
	for {
		switch n := node.(type) {
		case *ast.MemberNode:
			if n.Optional {
				return true
			}
			node = n.Node
		case *ast.SliceNode:
			node = n.Node
		case *ast.CallNode:
			node = n.Callee
		default:
			return false
		}
	}
}

// mayLack has nil read for a member that is missing.
func mayLack(node ast.Node) {
	if call, of := reads(node); call != nil {
		of.Value = "\x00" + lenient
	}
}

// reads returns the call that reads a member, and the name of its function.
func reads(node ast.Node) (*ast.CallNode, *ast.IdentifierNode) {
	call, ok := node.(*ast.CallNode)
	if !ok || len(call.Arguments) != 4 {
		return nil, nil
	}
	of, ok := call.Callee.(*ast.IdentifierNode)
	if !ok || of.Value != "\x00"+strict && of.Value != "\x00"+lenient {
		return nil, nil
	}
	return call, of
}

// written is how the text calls the value of which a member is read, "" if that takes more than names.
func written(node ast.Node) string {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.CallNode:
		call, _ := reads(n)
		if call == nil {
			return ""
		}
		of, name := written(call.Arguments[1]), call.Arguments[2]
		if key, ok := name.(*ast.StringNode); ok && of != "" {
			return of + "." + key.Value
		}
	}
	return ""
}

// readStrict reads a member that has to be there.
func readStrict(_ *Meter, args []any) (any, error) {
	v, ok := memberOf(args[0], args[1])
	if ok {
		return v, nil
	}
	name, of := args[1].(string), args[2].(string)
	if of == "" {
		of = "the value"
	}
	m := args[0].(map[string]any)
	form := "?." + name
	if !identifier.MatchString(name) {
		form = fmt.Sprintf("?.[%q]", name)
	}
	return nil, fault.Invalid.Errorf("expression: %s has no member %q%s; write %s if it may be missing", of, name, fault.Perhaps(name, shown(m)), form).WithCode(fault.CodeExpression)
}

// identifier is a name that a dot may stand before.
var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// readLenient reads a member, or nil.
func readLenient(_ *Meter, args []any) (any, error) {
	v, _ := memberOf(args[0], args[1])
	return v, nil
}

// memberOf reads a member; ok is false if a map does not have it. A property that the type of a document does not have is
// empty. Instants have the members of dates.
func memberOf(of, key any) (v any, ok bool) {
	name, isText := key.(string)
	switch of := of.(type) {
	case map[string]any:
		if v, ok = of[name]; ok || !isText {
			return v, ok || !isText
		}
		_, document := of[Lookup]
		return nil, document && strings.Contains(name, ":")
	case time.Time:
		if v, ok = Date(of)[name]; ok {
			return v, true
		}
	}
	return runtime.Fetch(of, key), true
}

// shown are the names of members that an author may have meant.
func shown(m map[string]any) func(yield func(string) bool) {
	names := slices.Collect(maps.Keys(m))
	if all, ok := m[Members].([]string); ok {
		names = append(names, all...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.Values(slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "\x00") }))
}

// instant is the instant of a date, so that it can be compared with others; other values stay.
func instant(v any) any {
	if m, ok := v.(map[string]any); ok {
		if t, ok := m[Handle].(time.Time); ok {
			return t
		}
	}
	return v
}
