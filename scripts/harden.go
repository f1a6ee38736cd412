package scripts

import (
	"runtime/metrics"
	"strings"

	"github.com/dop251/goja"
)

// Some builtins of the runtime do unbounded work inside one instruction, where no
// interrupt reaches them, or exhaust the process's stack. A worker may do so and be
// killed. In process they are replaced by bounded ones, but only those that the source
// mentions: a run that needs none pays nothing. The scripts that run in process are an
// administrator's; this guards against accidents, the worker against malice.

// risk is a set of builtins that a script's source mentions.
type risk uint32

const (
	riskRepeat risk = 1 << iota
	riskPad
	riskArray
	riskJSON
	riskEval
	riskBuffer
	riskReplace
)

// mentions are the words that make a risk.
var mentions = []struct {
	risk  risk
	words []string
}{
	{riskRepeat, []string{"repeat"}},
	{riskPad, []string{"padStart", "padEnd"}},
	{riskArray, []string{"Array"}},
	{riskJSON, []string{"JSON"}},
	{riskEval, []string{"eval", "Function", "constructor"}},
	{riskBuffer, []string{"ArrayBuffer", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt"}},
	{riskReplace, []string{"replace"}},
}

func risksOf(source string) risk {
	var r risk
	for _, m := range mentions {
		for _, w := range m.words {
			if strings.Contains(source, w) {
				r |= m.risk
				break
			}
		}
	}
	if setsLength(source) {
		r |= riskArray
	}
	return r
}

// setsLength reports whether source may set the length of something that is not as long.
func setsLength(source string) bool {
	for {
		before, after, found := strings.Cut(source, "length")
		if !found {
			return false
		}
		source = after
		if before == "" || before[len(before)-1] != '.' {
			if after != "" && strings.IndexByte("\"'`", after[0]) >= 0 {
				return true // a property by name
			}
			if strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":") {
				return true // an object that looks like an array
			}
			continue
		}
		after = strings.TrimLeft(after, " \t\r\n")
		switch {
		case strings.HasPrefix(after, "=="), strings.HasPrefix(after, "=>"):
		case strings.HasPrefix(after, "="), strings.HasPrefix(after, "++"), strings.HasPrefix(after, "--"):
			return true
		case len(after) > 1 && strings.IndexByte("+-*/%&|^<>?", after[0]) >= 0 && strings.ContainsRune(after[1:min(4, len(after))], '='):
			return true
		}
	}
}

const (
	maxText  = 64 << 20 // bytes of a string a builtin may make in process
	maxArray = 1 << 24  // items of an array a builtin may walk over in process
	maxJSON  = 1000     // nesting of text given to JSON.parse
)

// isWorker is set in worker processes, which need no hardening.
var isWorker bool

// harden bounds the builtins that the program mentions.
func (m *machine) harden(r risk) {
	if r == 0 || isWorker {
		return
	}
	global := m.vm.GlobalObject()
	if r&riskEval != 0 {
		m.dropEval(global)
	}
	if r&riskBuffer != 0 {
		for _, name := range mentions[5].words {
			_ = global.Delete(name)
		}
	}
	if r&riskJSON != 0 {
		m.guard(global.Get("JSON"), "parse", func(_ goja.Value, args []goja.Value) string {
			if len(args) > 0 && nestedDeeper(args[0].String(), maxJSON) {
				return "JSON.parse: text nested too deep"
			}
			return ""
		})
	}
	text := func(f func(this goja.Value, args []goja.Value) float64) check {
		return func(this goja.Value, args []goja.Value) string {
			if f(this, args) > maxText {
				return "Invalid string length"
			}
			return ""
		}
	}
	if r&(riskRepeat|riskPad|riskReplace) != 0 {
		proto := prototypeOf(global, "String")
		m.guard(proto, "repeat", text(func(this goja.Value, args []goja.Value) float64 {
			return float64(len(this.String())) * argument(args, 0)
		}))
		m.guard(proto, "padStart", text(func(_ goja.Value, args []goja.Value) float64 { return argument(args, 0) }))
		m.guard(proto, "padEnd", text(func(_ goja.Value, args []goja.Value) float64 { return argument(args, 0) }))
		grown := text(func(this goja.Value, args []goja.Value) float64 {
			if len(args) < 2 {
				return 0
			}
			if _, isFunction := goja.AssertFunction(args[1]); isFunction {
				return 0
			}
			return float64(len(this.String())) * float64(len(args[1].String())+1)
		})
		m.guard(proto, "replace", grown)
		m.guard(proto, "replaceAll", grown)
	}
	if r&riskArray != 0 {
		m.hardenArrays(global)
	}
}

// check says why a builtin may not be called with these arguments; "" lets it be called.
type check func(this goja.Value, args []goja.Value) string

// guard replaces a builtin method by one that checks first.
func (m *machine) guard(owner goja.Value, name string, c check) {
	obj, ok := owner.(*goja.Object)
	if !ok {
		return
	}
	original, ok := goja.AssertFunction(obj.Get(name))
	if !ok {
		return
	}
	_ = obj.DefineDataProperty(name, m.function(name, func(call goja.FunctionCall) goja.Value {
		if why := c(call.This, call.Arguments); why != "" {
			m.throwRange(why)
		}
		v, err := original(call.This, call.Arguments...)
		if err != nil {
			panic(err)
		}
		return v
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (m *machine) throwRange(text string) {
	obj, err := m.vm.New(m.vm.GlobalObject().Get("RangeError"), m.vm.ToValue(text))
	if err != nil {
		panic(m.vm.NewTypeError(text))
	}
	panic(obj)
}

func prototypeOf(global *goja.Object, class string) goja.Value {
	if c, ok := global.Get(class).(*goja.Object); ok {
		return c.Get("prototype")
	}
	return nil
}

func argument(args []goja.Value, i int) float64 {
	if i >= len(args) {
		return 0
	}
	return args[i].ToFloat()
}

// dropEval takes away what compiles text at run time.
func (m *machine) dropEval(global *goja.Object) {
	_ = global.Delete("eval")
	_, _ = m.vm.RunProgram(withoutCompilers)
}

var withoutCompilers = goja.MustCompile("", `for (const f of [function(){}, function*(){}, async function(){}]) {
  Object.defineProperty(Object.getPrototypeOf(f), "constructor", {value: undefined, writable: false, configurable: false});
}
delete globalThis.Function;`, true)

var arrayMethods = []string{
	"concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex", "flat", "flatMap",
	"forEach", "includes", "indexOf", "join", "lastIndexOf", "map", "reduce", "reduceRight", "reverse", "slice", "some",
	"sort", "splice", "toReversed", "toSorted", "toSpliced", "toString", "unshift", "shift", "with",
}

// hardenArrays bounds the methods that walk over a whole array, whose length is a number
// anyone can set.
func (m *machine) hardenArrays(global *goja.Object) {
	long := func(this goja.Value, _ []goja.Value) string {
		if obj, ok := this.(*goja.Object); ok {
			if n := obj.Get("length"); n != nil && n.ToInteger() > maxArray {
				return "Invalid array length"
			}
		}
		return ""
	}
	proto := prototypeOf(global, "Array")
	for _, name := range arrayMethods {
		m.guard(proto, name, long)
	}
	m.guard(global.Get("Array"), "from", func(_ goja.Value, args []goja.Value) string {
		if len(args) == 0 {
			return ""
		}
		return long(args[0], nil)
	})
}

// nestedDeeper reports whether JSON text nests more than max levels.
func nestedDeeper(s string, max int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > max {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// heapInUse is the size of all objects on the process's heap.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
