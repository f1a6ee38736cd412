package expr

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"

	"catena/storage/fault"
)

// Meter counts what a computation costs and ends it when it may cost no more. The machine bounds the lists that an
// expression makes, but neither its time nor its texts: 30 additions of a text to itself make a gigabyte. So what takes
// time in an expression counts on a meter before it is done.
// err is the first refusal and stays: all further steps fail, so a function that ignores one error
// does not get further. A meter belongs to one goroutine.
type Meter struct {
	step func(size int) error
	err  error
}

// NewMeter returns a meter. step counts one step and the bytes it works on, and returns why the computation must end.
func NewMeter(step func(size int) error) *Meter { return &Meter{step: step} }

// Step counts a step and the bytes it works on.
func (m *Meter) Step(size int) error {
	if m.err == nil {
		m.err = m.step(size)
	}
	return m.err
}

// What values cost in bytes, and how deep they may be.
const (
	// An item is an interface of two words; an entry of a map takes two with a key and its share of
	// the table, which is rounded up. They need not be exact: they make small items cost something.
	itemSize  = 16
	entrySize = 256
	maxDeep   = 1000
	maxMade   = 10 << 20 // bytes of a text that is made on the way
)

// Weigh counts a value with all that it holds, each part as often as it occurs: anyone who writes the value or compares
// it goes through it in the same way.
// A value that refers to itself a hundred times at ten levels is small in memory and endless on
// paper; counting it as often as it occurs is what catches it.
func (m *Meter) Weigh(v any) error { return m.weigh(v, 1, 0) }

// weigh is Weigh for a value that occurs so many times.
func (m *Meter) weigh(v any, times, deep int) error {
	if deep > maxDeep {
		return m.exceed("a value is nested deeper than %d levels", maxDeep)
	}
	switch v := v.(type) {
	case string:
		return m.Step(len(v) * times)
	case []string:
		for _, item := range v {
			if err := m.Step((itemSize + len(item)) * times); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := m.Step(itemSize * times); err != nil {
				return err
			}
			if err := m.weigh(item, times, deep+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, item := range v {
			if err := m.Step((entrySize + len(name)) * times); err != nil {
				return err
			}
			if err := m.weigh(item, times, deep+1); err != nil {
				return err
			}
		}
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
			return m.Step(r.Len() * itemSize * times)
		}
	}
	return nil
}

// made bounds a text that is made, and counts it.
// A size below 0 is a product that has overflowed.
func (m *Meter) made(size int) error {
	if size > maxMade || size < 0 {
		return m.exceed("produces more than %d bytes", maxMade)
	}
	return m.Step(size)
}

func (m *Meter) exceed(format string, args ...any) error {
	if m.err == nil {
		m.err = fault.Limit.Errorf("expression: "+format, args...).WithCode(fault.CodeExpression)
	}
	return m.err
}

// meterName is the variable that holds the meter of a program that runs. No program can spell it.
// The same holds for the names of the functions below: a zero byte is not a letter of the language,
// so no source can call them with a meter of its own.
const meterName = "\x00meter"

// metered are the functions that take the place of what would not count. The first argument is the meter.
var metered = func() []expr.Option {
	var all []expr.Option
	for name, f := range map[string]func(m *Meter, args []any) (any, error){
		"step":    func(m *Meter, args []any) (any, error) { return args[0], m.Step(0) },
		"weigh":   func(m *Meter, args []any) (any, error) { return args[0], m.Weigh(args[0]) },
		"times":   func(m *Meter, args []any) (any, error) { return args[0], m.weigh(args[0], args[1].(int), 0) },
		"add":     add2,
		"compare": func(m *Meter, args []any) (any, error) { return instant(args[0]), m.Weigh(args[0]) },
		"join":    joined,
		"matches": matches,
		strict:    readStrict,
		lenient:   readLenient,
		"repeat":  repeated,
		"replace": replaced,
		"uniq":    uniq,
	} {
		all = append(all, expr.Function("\x00"+name, func(args ...any) (any, error) { return f(args[0].(*Meter), args[1:]) }))
	}
	return all
}()

// metering replaces what takes time in a program by what counts first.
// The visitor is called for the parts of a node before the node itself, so the arguments wrapped
// here have been dealt with, and what it inserts is not visited again.
type metering struct{}

func callOf(name string, args ...ast.Node) ast.Node {
	return &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: "\x00" + name},
		Arguments: append([]ast.Node{&ast.IdentifierNode{Value: meterName}}, args...),
	}
}

// small reports whether a value is known to be of a size that the length of the program bounds.
// It may err to one side only: a value of unknown type is large. Wrapping too much costs time,
// wrapping too little lets a program escape its bound.
func small(node ast.Node) bool {
	switch node.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NilNode, *ast.ConstantNode:
		return true
	}
	if t := node.Type(); t != nil {
		return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64
	}
	return false
}

func weighed(node ast.Node) ast.Node {
	if small(node) {
		return node
	}
	return callOf("weigh", node)
}

// light are the functions whose time does not depend on the size of what they are given.
var light = map[string]bool{
	"len": true, "type": true, "first": true, "last": true, "get": true, "abs": true, "ceil": true, "floor": true, "round": true,
	"hasPrefix": true, "bitand": true, "bitor": true, "bitxor": true, "bitnot": true, "bitnand": true, "bitshl": true, "bitshr": true, "bitushr": true,
}

// Visit changes a node whose parts were visited.
func (metering) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		n.Node = callOf("step", n.Node)
	case *ast.BinaryNode:
		binary(node, n)
	case *ast.MemberNode:
		access(node, n)
	case *ast.CallNode:
		for i := range n.Arguments {
			n.Arguments[i] = weighed(n.Arguments[i])
		}
	case *ast.BuiltinNode:
		switch n.Name {
		case "join", "repeat", "replace", "uniq":
			ast.Patch(node, callOf(n.Name, n.Arguments...))
			return
		// Sorting compares n log n times; the logarithm of the 200 000 items that the machine
		// allows is about 17.
		case "sort":
			n.Arguments[0] = callOf("times", n.Arguments[0], &ast.IntegerNode{Value: 16})
			return
		}
		for i := range n.Arguments {
			if _, loop := n.Arguments[i].(*ast.PredicateNode); loop {
				return // each item is a step
			}
		}
		for i := range n.Arguments {
			if !light[n.Name] {
				n.Arguments[i] = weighed(n.Arguments[i])
			}
		}
	}
}

func binary(node *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "+":
		if !small(n.Left) && !small(n.Right) || isText(n.Left) || isText(n.Right) {
			ast.Patch(node, callOf("add", n.Left, n.Right))
		}
	case "matches":
		if pattern, ok := n.Right.(*ast.StringNode); ok {
			// Matching takes time in proportion to text times pattern (RE2 does not backtrack), so
			// the text is counted once for each byte of the pattern. A constant pattern stays, as
			// the library compiles it once.
			n.Left = callOf("times", n.Left, &ast.IntegerNode{Value: 1 + len(pattern.Value)})
		} else {
			ast.Patch(node, callOf("matches", n.Left, n.Right))
		}
	case "??":
		mayLack(n.Left)
	case "==", "!=", "<", "<=", ">", ">=":
		comparison(n)
	case "in", "not in":
		n.Right = weighed(n.Right)
	case "contains", "endsWith", "startsWith":
		n.Left = weighed(n.Left)
	}
}

func comparison(n *ast.BinaryNode) {
	if isNil(n.Left) || isNil(n.Right) {
		mayLack(n.Left)
		mayLack(n.Right)
	} else if !small(n.Left) && !small(n.Right) {
		n.Left, n.Right = callOf("compare", n.Left), callOf("compare", n.Right)
	}
}

func isNil(node ast.Node) bool {
	_, null := node.(*ast.NilNode)
	return null
}

func isText(node ast.Node) bool {
	_, text := node.(*ast.StringNode)
	return text
}

// add2 is +.
// Only the sum of two texts can be larger than a word; all other types are added as the library
// does.
func add2(m *Meter, args []any) (any, error) {
	a, ok := args[0].(string)
	b, also := args[1].(string)
	if ok && also {
		if err := m.made(len(a) + len(b)); err != nil {
			return nil, err
		}
	}
	return runtime.Add(args[0], args[1]), m.Step(0)
}

func joined(m *Meter, args []any) (any, error) {
	between := ""
	if len(args) == 2 {
		between, _ = args[1].(string)
	}
	var texts []string
	switch list := args[0].(type) {
	case []string:
		texts = list
	case []any:
		if err := m.Step(len(list) * itemSize); err != nil {
			return nil, err
		}
		texts = make([]string, len(list))
		for i, item := range list {
			s, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("join: %T is not a text", item)
			}
			texts[i] = s
		}
	default:
		return nil, fmt.Errorf("join: %T is not a list", list)
	}
	size := len(between) * len(texts)
	for _, s := range texts {
		size += len(s)
	}
	if err := m.made(size); err != nil {
		return nil, err
	}
	return strings.Join(texts, between), nil
}

func matches(m *Meter, args []any) (any, error) {
	s, ok := args[0].(string)
	pattern, also := args[1].(string)
	if !ok || !also {
		if args[0] == nil || args[1] == nil {
			return false, nil
		}
		return nil, fmt.Errorf("matches: %T and %T are not texts", args[0], args[1])
	}
	if err := m.made(len(pattern)); err != nil {
		return nil, err
	}
	if err := m.Step(len(s) * (1 + len(pattern))); err != nil {
		return nil, err
	}
	return regexp.MatchString(pattern, s)
}

func repeated(m *Meter, args []any) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("repeat: %T is not a text", args[0])
	}
	n := runtime.ToInt(args[1])
	if n < 0 || n > maxMade {
		return nil, m.exceed("repeat: %d is not a number from 0 to %d", n, maxMade)
	}
	if err := m.made(len(s) * n); err != nil {
		return nil, err
	}
	return strings.Repeat(s, n), nil
}

func replaced(m *Meter, args []any) (any, error) {
	var texts [3]string
	for i := range texts {
		s, ok := args[i].(string)
		if !ok {
			return nil, fmt.Errorf("replace: %T is not a text", args[i])
		}
		texts[i] = s
	}
	n := -1
	if len(args) == 4 {
		n = runtime.ToInt(args[3])
	}
	s, from, to := texts[0], texts[1], texts[2]
	if err := m.Step(len(s)); err != nil {
		return nil, err
	}
	if err := m.made(len(s) + strings.Count(s, from)*max(0, len(to)-len(from))); err != nil {
		return nil, err
	}
	return strings.Replace(s, from, to, n), nil
}

// Items of any type have to be compared in pairs, so the time is the square of the length: each
// item pays for those kept so far.
func uniq(m *Meter, args []any) (any, error) {
	v := reflect.ValueOf(args[0])
	if v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("uniq: %T is not a list", args[0])
	}
	if err := m.Weigh(args[0]); err != nil {
		return nil, err
	}
	out := []any{}
items:
	for i := range v.Len() {
		if err := m.Step(len(out) * itemSize); err != nil {
			return nil, err
		}
		item := v.Index(i).Interface()
		for _, other := range out {
			if runtime.Equal(item, other) {
				continue items
			}
		}
		out = append(out, item)
	}
	return out, nil
}
