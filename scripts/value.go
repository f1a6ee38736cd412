package scripts

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/dop251/goja"

	"catena/storage/fault"
)

// maxDepth bounds how deep a value that crosses may nest.
const maxDepth = 64

// maxItems bounds the length of a list that crosses.
const maxItems = 1 << 20

var (
	typeDocument = reflect.TypeFor[*docObject]()
	typeFile     = reflect.TypeFor[*fileObject]()
	typeContext  = reflect.TypeFor[*contextObject]()
	typeTime     = reflect.TypeFor[time.Time]()
	typeInteger  = reflect.TypeFor[int64]()
	typePromise  = reflect.TypeFor[*goja.Promise]()
	typePlain    = reflect.TypeFor[map[string]any]()
	typeProxy    = reflect.TypeFor[goja.Proxy]()
)

// enter makes a value of the host one of the script: a copy, or a handle.
func (m *machine) enter(v any) goja.Value {
	switch v := v.(type) {
	case nil:
		return goja.Null()
	case bool, string, float64, int64, int:
		return m.vm.ToValue(v)
	case time.Time:
		return m.date(v)
	case document:
		return m.document(v)
	case file:
		return m.file(v)
	case list:
		return m.array(v, true)
	case []any:
		return m.array(v, false)
	case map[string]any:
		obj := m.vm.NewObject()
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		// In order, so that a script that goes through them does the same each time.
		slices.Sort(keys)
		for _, k := range keys {
			_ = obj.DefineDataProperty(k, m.enter(v[k]), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
		return obj
	}
	return goja.Null()
}

func (m *machine) array(items []any, handles bool) goja.Value {
	values := make([]any, len(items))
	for i, x := range items {
		values[i] = m.enter(x)
	}
	a := m.vm.NewArray(values...)
	if handles {
		_ = a.SetPrototype(m.listShape())
	}
	return a
}

func (m *machine) date(t time.Time) goja.Value {
	d, err := m.vm.New(m.vm.GlobalObject().Get("Date"), m.vm.ToValue(t.UnixMilli()))
	if err != nil {
		return m.vm.ToValue(t.UTC().Format(time.RFC3339Nano))
	}
	return d
}

// export copies a value of the script for the host, within the bounds of depth and size.
func (m *machine) export(v goja.Value) (any, error) {
	e := exporter{m: m, left: m.limits.Output}
	return e.value(v, 0)
}

type exporter struct {
	m    *machine
	left int
}

// spend takes about as many bytes off what is left as the value will have in its frame.
func (e *exporter) spend(n int) error {
	if e.left -= n; e.left < 0 {
		return breach(fault.CodeScriptOutput, "script: a value of more than %s", bytesText(int64(e.m.limits.Output)))
	}
	return nil
}

func (e *exporter) value(v goja.Value, depth int) (any, error) {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return nil, e.spend(1)
	}
	if depth > maxDepth {
		return nil, fault.Limit.Errorf("script: a value nested more than %d deep or cyclic", maxDepth).WithCode(fault.CodeScriptOutput)
	}
	switch x := v.(type) {
	case *goja.Object:
		return e.object(x, depth)
	case goja.String:
		if err := e.spend(x.Length()); err != nil {
			return nil, err
		}
		return x.String(), nil
	case *goja.Symbol:
		return nil, fault.Invalid.Errorf("script: a symbol cannot be returned from a script").WithCode(fault.CodeScriptValue)
	}
	if err := e.spend(8); err != nil {
		return nil, err
	}
	return primitive(v)
}

// primitive is a boolean or a number. A number without a fraction is an integer as long as a float64 holds it exactly.
func primitive(v goja.Value) (any, error) {
	switch x := v.Export().(type) {
	case bool, int64:
		return x, nil
	case int:
		return int64(x), nil
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return int64(x), nil
		}
		return x, nil
	case *big.Int:
		if !x.IsInt64() {
			return nil, fault.Invalid.Errorf("script: an integer of more than 64 bits cannot be returned from a script").WithCode(fault.CodeScriptValue)
		}
		return x.Int64(), nil
	}
	return nil, fault.Invalid.Errorf("script: a %s cannot be returned from a script", v.ExportType()).WithCode(fault.CodeScriptValue)
}

// object converts an object of a script. Documents and files are the server's own values again; functions become nil as in JSON; objects
// that have no plain form are refused rather than silently emptied.
func (e *exporter) object(obj *goja.Object, depth int) (any, error) {
	exported := obj.ExportType()
	switch exported {
	case typeDocument:
		return obj.Export().(*docObject).d, e.spend(8)
	case typeFile:
		return obj.Export().(*fileObject).f, e.spend(8)
	case typeContext:
		return nil, fault.Invalid.Errorf("script: ctx cannot be returned from a script; copy the values that you need").WithCode(fault.CodeScriptValue)
	case typeTime:
		t, ok := obj.Export().(time.Time)
		if !ok {
			return nil, fault.Invalid.Errorf("script: an invalid date").WithCode(fault.CodeScriptValue)
		}
		return t.UTC(), e.spend(8)
	}
	if _, ok := goja.AssertFunction(obj); ok {
		return nil, e.spend(1)
	}
	switch class := obj.ClassName(); class {
	case "Array":
		return e.list(obj, depth)
	case "Boolean", "Number", "String":
		if p, ok := obj.Export().(string); ok {
			return p, e.spend(len(p))
		}
		return obj.Export(), e.spend(8)
	case "Object", "Arguments":
		if exported != typePlain && exported != typeProxy {
			return nil, stays("special object (such as a Map, Set or Promise)")
		}
		return e.fields(obj, depth)
	case "Error":
		return obj.String(), e.spend(64)
	default:
		return nil, stays(class)
	}
}

func stays(what string) error {
	return fault.Invalid.Errorf("script: a %s cannot be returned from a script; use a plain object or a list", what).WithCode(fault.CodeScriptValue)
}

func (e *exporter) list(obj *goja.Object, depth int) (any, error) {
	n := obj.Get("length").ToInteger()
	if n > maxItems {
		return nil, breach(fault.CodeScriptOutput, "script: a list of %d items, at most %d can be returned", n, maxItems)
	}
	// Counted before the list is copied: its length may be set without any items.
	if err := e.spend(int(n) * 4); err != nil {
		return nil, err
	}
	var values []goja.Value
	if err := e.m.vm.ExportTo(obj, &values); err != nil {
		return nil, err
	}
	out := make([]any, len(values))
	for i, v := range values {
		x, err := e.value(v, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

func (e *exporter) fields(obj *goja.Object, depth int) (any, error) {
	keys := obj.Keys()
	out := make(map[string]any, len(keys))
	for _, k := range keys {
		v := obj.Get(k)
		if v == nil || goja.IsUndefined(v) {
			continue
		}
		if err := e.spend(len(k) + 4); err != nil {
			return nil, err
		}
		x, err := e.value(v, depth+1)
		if err != nil {
			return nil, err
		}
		out[k] = x
	}
	return out, nil
}

// arguments exports the arguments of a native function.
func (m *machine) arguments(call goja.FunctionCall) []any {
	out := make([]any, len(call.Arguments))
	for i, a := range call.Arguments {
		out[i] = m.mustExport(a)
	}
	return out
}

// mustExport is export for native functions: it throws in the script.
func (m *machine) mustExport(v goja.Value) any {
	x, err := m.export(v)
	m.must(err)
	return x
}

// must throws in the script that a value cannot leave it.
func (m *machine) must(err error) {
	if err == nil {
		return
	}
	// A limit ends the run, whether or not the script catches the error.
	if fault.Is(err, fault.Limit) {
		m.fatal = err
	}
	m.throw(err, "")
}

// decodeJSON reads JSON as values that cross.
func decodeJSON(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Internal.Errorf("properties: %w", err)
	}
	return numbers(v), nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}
