package scripts

import (
	"errors"
	"reflect"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"catena/scripts/charclass"
	"catena/storage/fault"
)

// The runtime takes the property escapes of regular expressions, such as \p{L}, for the letter p. They are replaced by
// classes of characters before it sees them: in literals when a script is compiled, in texts when the script makes a
// regular expression of one. Scripts see the source that they have written.

// maxExpanded bounds the sources of a script's regular expressions together, once their properties are replaced.
const maxExpanded = 4 << 20

// replaceProperties replaces the property escapes in the literals of a tree, and returns what their sources were.
func replaceProperties(tree *ast.Program) (map[string]string, error) {
	var escaped map[string]string
	var err error
	size := 0
	walk(reflect.ValueOf(tree.Body), func(node any) {
		n, ok := node.(*ast.RegExpLiteral)
		if !ok || err != nil || !strings.Contains(n.Flags, "u") {
			return
		}
		expanded, mistake := charclass.Expand(n.Pattern, strings.Contains(n.Flags, "i"))
		if size += len(expanded); mistake == nil && size > maxExpanded {
			mistake = &charclass.Error{Message: "the properties of its regular expressions stand for too many characters"}
		}
		if mistake != nil {
			offset := int(n.Idx) + 1 // behind the slash
			var at *charclass.Error
			if errors.As(mistake, &at) {
				offset += at.Offset
			}
			p := tree.File.Position(offset - tree.File.Base())
			err = fault.Invalid.Errorf("Invalid regular expression: %w", mistake).WithCode(fault.CodeScriptSyntax).At(p.Line, p.Column)
			return
		}
		if expanded != n.Pattern {
			if escaped == nil {
				escaped = map[string]string{}
			}
			escaped[shownSource(expanded)] = shownSource(n.Pattern)
			n.Pattern = expanded
		}
	})
	return escaped, err
}

// shownSource is a source as the property source shows it: in a form that a literal may have.
func shownSource(source string) string {
	if !strings.ContainsAny(source, "/\n\r\u2028\u2029") {
		return source
	}
	var b strings.Builder
	quoted := false
	for _, c := range source {
		switch {
		case quoted:
			b.WriteRune(c)
		case c == '/':
			b.WriteString(`\u002f`) // as the runtime does
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\u2028':
			b.WriteString(`\u2028`)
		case c == '\u2029':
			b.WriteString(`\u2029`)
		default:
			b.WriteRune(c)
		}
		quoted = !quoted && c == '\\'
	}
	return b.String()
}

// regexps puts a constructor in front of the runtime's, and shows sources as they were written.
var regexps = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("RegExp", `(function (expand, shown) {
  "use strict";
  const native = RegExp, {construct, apply} = Reflect;
  const proto = native.prototype;
  const sourceOf = Object.getOwnPropertyDescriptor(proto, "source").get;
  const compile = proto.compile;
  const isRegExp = v => v !== null && (typeof v === "object" || typeof v === "function") && v[Symbol.match] !== undefined;
  const make = (args, target) => {
    const like = isRegExp(args[0]);
    const source = like ? args[0].source : args[0] === undefined ? "" : `+"`${args[0]}`"+`;
    const flags = args[1] !== undefined ? `+"`${args[1]}`"+` : like ? args[0].flags : "";
    return construct(native, [expand(source, flags), flags], target);
  };
  // Not a proxy: the runtime refuses those in instanceof.
  const made = function RegExp(pattern, flags) {
    if (new.target) return make([pattern, flags], new.target);
    return flags === undefined && isRegExp(pattern) && pattern.constructor === made ? pattern : make([pattern, flags], made);
  };
  Object.defineProperty(made, "prototype", {value: proto, writable: false});
  Object.defineProperty(made, Symbol.species, {get() { return this; }, configurable: true});
  const methods = {
    get source() { return shown(apply(sourceOf, this, [])); },
    compile(source, flags) {
      if (source instanceof native) return apply(compile, this, [source, flags]);
      const text = source === undefined ? "" : `+"`${source}`"+`, all = flags === undefined ? "" : `+"`${flags}`"+`;
      return apply(compile, this, [expand(text, all), all]);
    },
    toString() { return "/" + this.source + "/" + this.flags; },
  };
  for (const name of ["source", "compile", "toString"]) {
    const d = Object.getOwnPropertyDescriptor(methods, name);
    d.enumerable = false;
    Object.defineProperty(proto, name, d);
  }
  Object.defineProperty(proto, "constructor", {value: made, writable: true, enumerable: false, configurable: true});
  Object.defineProperty(globalThis, "RegExp", {value: made, writable: true, enumerable: false, configurable: true});
})`, true)
})

// replaceRegExp replaces the constructor of regular expressions for a script that may need another one.
func (m *machine) replaceRegExp() {
	v, err := m.vm.RunProgram(regexps())
	if err != nil {
		panic(err)
	}
	replace, _ := goja.AssertFunction(v)
	expand := m.function("expand", func(call goja.FunctionCall) goja.Value { return m.expand(call.Argument(0), call.Argument(1).String()) })
	shown := m.function("source", func(call goja.FunctionCall) goja.Value {
		source := call.Argument(0)
		text := source.String()
		if s, ok := m.program.escaped[text]; ok {
			return m.vm.ToValue(s)
		}
		if s, ok := m.escaped[text]; ok {
			return m.vm.ToValue(s)
		}
		return source
	})
	if _, err := replace(goja.Undefined(), expand, shown); err != nil {
		panic(err)
	}
}

// expand replaces the property escapes of a source that is a text.
func (m *machine) expand(source goja.Value, flags string) goja.Value {
	if !strings.Contains(flags, "u") {
		return source
	}
	text := source.String()
	expanded, err := charclass.Expand(text, strings.Contains(flags, "i"))
	if err != nil {
		mistake, jsErr := m.vm.New(m.vm.GlobalObject().Get("SyntaxError"), m.vm.ToValue("Invalid regular expression: "+err.Error()))
		if jsErr != nil {
			panic(jsErr)
		}
		panic(mistake)
	}
	if expanded == text {
		return source
	}
	if m.escaped == nil {
		m.escaped = map[string]string{}
	}
	m.escaped[shownSource(expanded)] = shownSource(text)
	return m.vm.ToValue(expanded)
}
