package scripts

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"

	"catena/scripts/locale"
	"catena/scripts/web"
	"catena/storage/fault"
)

// builtins are the globals of the platform; each is made when a script first names it. The table is made on first use,
// since its functions refer to it.
func builtins() map[string]func(*machine) goja.Value {
	builtinTable.once.Do(func() { builtinTable.of = allBuiltins() })
	return builtinTable.of
}

var builtinTable struct {
	once sync.Once
	of   map[string]func(*machine) goja.Value
}

func allBuiltins() map[string]func(*machine) goja.Value {
	all := map[string]func(*machine) goja.Value{
		"Console":     (*machine).console,
		"CurrentDate": (*machine).currentDate,
		"CurrentUser": (*machine).currentUser,
		"Env":         func(m *machine) goja.Value { return m.vm.NewObject() },
		"Fn":          (*machine).helpers,
		"Intl":        (*machine).intl,
		"Session":     (*machine).session,
		"console":     (*machine).console,
		"ctx":         (*machine).context,
		"currentUser": (*machine).currentUser,
		"input":       func(m *machine) goja.Value { return m.enter(m.input) },
		"params":      (*machine).parameters,
	}
	for name, f := range web.Globals {
		all[name] = func(m *machine) goja.Value { return f(m.web()) }
	}
	return all
}

// extension replaces something of the language in a machine. A script gets it if one of the words is in its text: most do
// not, and begin without delay.
type extension struct {
	words  []string
	extend func(*machine)
}

// extensions are functions, since they refer to the machine.
func extensions() []extension {
	return []extension{
		{[]string{"RegExp", "constructor", "compile"}, (*machine).replaceRegExp},
		{[]string{"groupBy"}, func(m *machine) { web.Group(m.web()) }},
		{[]string{"toLocale", "localeCompare"}, func(m *machine) { (*scope)(m).Get("Intl") }},
	}
}

// extended are the numbers of the extensions that a script needs.
func extended(source string) []int {
	var out []int
	for i, e := range extensions() {
		if slices.ContainsFunc(e.words, func(word string) bool { return strings.Contains(source, word) }) {
			out = append(out, i)
		}
	}
	return out
}

func (m *machine) web() *web.Host {
	return &web.Host{VM: m.vm, Handle: func(o *goja.Object) bool {
		t := o.ExportType()
		return t == typeDocument || t == typeFile
	}}
}

func (m *machine) intl() goja.Value { return locale.Intl(m.vm, m.function) }

func notParameters(op string) error {
	return fault.Invalid.Errorf("%s: parameters must be an object such as {name: value}", op).WithCode(fault.CodeScriptValue)
}

func (m *machine) currentUser() goja.Value {
	u, err := m.host.user()
	if err != nil {
		m.throw(err, "")
	}
	return m.enter(u)
}

// console writes to the server's log, a bounded number of bytes.
func (m *machine) console() goja.Value {
	obj := m.vm.NewObject()
	for _, level := range []string{"debug", "error", "info", "log", "trace", "warn"} {
		_ = obj.Set(level, m.function(level, func(call goja.FunctionCall) goja.Value {
			m.print(level, call.Arguments)
			return goja.Undefined()
		}))
	}
	return obj
}

func (m *machine) print(level string, args []goja.Value) {
	left := m.limits.Log - m.logged
	if left <= 0 {
		return
	}
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = m.text(a)
	}
	// The server's log must not grow by what a script prints in a loop.
	line := clip(strings.Join(parts, " "), left)
	if m.logged += len(line) + 1; m.logged >= m.limits.Log {
		line += " (console limit reached: the rest of this run is not shown)"
	}
	m.host.log(level, line)
}

// text shows a value as the console does.
func (m *machine) text(v goja.Value) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		return v.String()
	}
	if obj.ClassName() == "Error" {
		return obj.String()
	}
	x, err := m.export(obj)
	if err != nil {
		return obj.ClassName()
	}
	switch x := x.(type) {
	case document:
		path, _ := x.field(fieldIndex["path"])
		s, _ := path.(string)
		return "document " + s
	case file:
		return "blob " + x.info().name
	}
	b, err := json.Marshal(printable(x))
	if err != nil {
		return obj.ClassName()
	}
	return string(b)
}

// printable replaces handles by what names them.
func printable(v any) any {
	switch v := v.(type) {
	case document:
		path, _ := v.field(fieldIndex["path"])
		return path
	case file:
		return v.info().name
	case []any:
		for i := range v {
			v[i] = printable(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = printable(v[k])
		}
	}
	return v
}

// helperNames are the functions of Fn.
var helperNames = []string{
	"calendar", "concatenateIntoList", "concatenateValuesAsNewList", "date", "documentExists", "escapeHtml",
	"getEmail", "getEmails", "getEmailsFromGroup", "getNextId", "getPrincipal", "getPrincipalEmails", "getPrincipalsFromGroup",
	"getVocabularyLabel", "htmlEscape", "jsonPath", "nxqlEscape",
}

func (m *machine) helpers() goja.Value {
	obj := m.vm.NewObject()
	for _, name := range helperNames {
		_ = obj.Set(name, m.function(name, func(call goja.FunctionCall) goja.Value {
			return m.callOut("Fn."+name, func(int) (any, error) { return m.host.helper(name, m.arguments(call)) })
		}))
	}
	return obj
}

// session offers the calls that scripts of the older platform expect, each an operation.
func (m *machine) session() goja.Value {
	obj := m.vm.NewObject()
	define := func(name, op string, params func(args []any) map[string]any) {
		_ = obj.Set(name, m.function(name, func(call goja.FunctionCall) goja.Value {
			return m.callOut(op, func(line int) (any, error) {
				args := m.arguments(call)
				// The functions below read up to three arguments without looking how many there are.
				for len(args) < 3 {
					args = append(args, nil)
				}
				if params == nil {
					return m.host.call(op, args[0], nil, line)
				}
				return m.host.call(op, nil, params(args), line)
			})
		}))
	}
	value := func(args []any) map[string]any { return map[string]any{"value": args[0]} }
	define("getDocument", "Repository.GetDocument", value)
	define("getRootDocument", "Repository.GetDocument", func([]any) map[string]any { return map[string]any{"value": "/"} })
	define("query", "Repository.Query", func(args []any) map[string]any {
		return map[string]any{"query": args[0], "queryParams": args[1], "pageSize": args[2]}
	})
	define("getChildren", "Document.GetChildren", nil)
	define("getParent", "Document.GetParent", nil)
	define("removeDocument", "Document.Delete", nil)
	define("save", "Document.Save", nil)
	define("saveDocument", "Document.Save", nil)
	return obj
}

// contextObject is ctx: the context's variables, read and written in place.
type contextObject struct{ m *machine }

func (m *machine) context() goja.Value { return m.vm.NewDynamicObject(&contextObject{m}) }

// Get returns a copy of a variable.
func (c *contextObject) Get(key string) goja.Value {
	v, found, err := c.m.host.variable(key)
	if err != nil {
		c.m.throw(err, "")
	}
	if !found {
		return nil
	}
	return c.m.enter(v)
}

// Set changes a variable.
func (c *contextObject) Set(key string, v goja.Value) bool {
	if err := c.m.host.setVariable(key, c.m.mustExport(v)); err != nil {
		c.m.throw(err, "")
	}
	return true
}

// Has reports whether there is a variable.
func (c *contextObject) Has(key string) bool {
	_, found, err := c.m.host.variable(key)
	return err == nil && found
}

// Delete removes a variable.
func (c *contextObject) Delete(key string) bool { return c.m.host.setVariable(key, absent{}) == nil }

// Keys lists the variables.
func (c *contextObject) Keys() []string {
	keys, err := c.m.host.variables()
	if err != nil {
		c.m.throw(err, "")
	}
	return keys
}

// dates makes CurrentDate of the instant of the call.
var dates = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("CurrentDate", `(function (ms) {
  "use strict";
  const pad = (n, w = 2) => String(n).padStart(w, "0");
  class When {
    constructor(ms) { this.time = ms; Object.freeze(this); }
    get date() { return new Date(this.time); }
    get calendar() { return new Date(this.time); }
    get year() { return this.date.getUTCFullYear(); }
    get month() { return this.date.getUTCMonth(); }
    get day() { return this.date.getUTCDate(); }
    get hour() { return this.date.getUTCHours() % 12; }
    get minute() { return this.date.getUTCMinutes(); }
    get second() { return this.date.getUTCSeconds(); }
    get week() {
      const d = new Date(Date.UTC(this.year, this.month, this.day));
      d.setUTCDate(d.getUTCDate() + 4 - (d.getUTCDay() || 7));
      return Math.ceil(((d - Date.UTC(d.getUTCFullYear(), 0, 1)) / 864e5 + 1) / 7);
    }
    years(n) { const d = this.date; d.setUTCFullYear(d.getUTCFullYear() + n); return new When(d.getTime()); }
    months(n) { const d = this.date; d.setUTCMonth(d.getUTCMonth() + n); return new When(d.getTime()); }
    weeks(n) { return this.days(7 * n); }
    days(n) { return new When(this.time + 864e5 * n); }
    seconds(n) { return new When(this.time + 1e3 * n); }
    format(pattern) {
      const d = this.date, h = d.getUTCHours();
      return String(pattern).replace(/'([^']*)'|y+|M+|d+|H+|h+|m+|s+|S+|a|Z/g, (t, quoted) => {
        if (quoted !== undefined) return quoted || "'";
        switch (t[0]) {
        case "y": return t.length === 2 ? pad(this.year % 100) : pad(this.year, t.length);
        case "M": return pad(this.month + 1, t.length);
        case "d": return pad(this.day, t.length);
        case "H": return pad(h, t.length);
        case "h": return pad(h % 12 || 12, t.length);
        case "m": return pad(this.minute, t.length);
        case "s": return pad(this.second, t.length);
        case "S": return pad(d.getUTCMilliseconds(), t.length);
        case "a": return h < 12 ? "AM" : "PM";
        default: return "+0000";
        }
      });
    }
    toJSON() { return this.date.toJSON(); }
    toString() { return "TIMESTAMP '" + this.format("yyyy-MM-dd HH:mm:ss.SSS") + "'"; }
  }
  return new When(ms);
})`, true)
})

func (m *machine) currentDate() goja.Value {
	made, err := m.vm.RunProgram(dates())
	if err != nil {
		panic(err)
	}
	now := m.host.now()
	if now.IsZero() {
		now = time.Unix(0, 0)
	}
	f, _ := goja.AssertFunction(made)
	v, err := f(goja.Undefined(), m.vm.ToValue(now.UnixMilli()))
	if err != nil {
		m.throw(err, "CurrentDate")
	}
	return v
}
