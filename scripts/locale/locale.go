// Package locale formats and compares as Intl of ECMAScript does, for the languages of Europe: numbers, currencies, dates,
// relative times, plurals and the order of texts. The data of formats is that of CLDR (locales.json); plurals and order are
// those of golang.org/x/text. An option that is not supported is an error, never another result.
package locale

import (
	"bytes"
	_ "embed" // data and the source of Intl
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // scripts run in processes without files

	"github.com/dop251/goja"
	"golang.org/x/text/cases"
	"golang.org/x/text/collate"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed intl.js
var source string

// locales has the data of one locale in each line: "name":{…}, in JSON.
//
//go:embed locales.json
var locales []byte

var program = sync.OnceValue(func() *goja.Program { return goja.MustCompile("Intl", source, true) })

// lines are the data of the locales by name.
var lines = sync.OnceValue(func() map[string][]byte {
	m := map[string][]byte{}
	for line := range bytes.Lines(locales) {
		if name, data, ok := bytes.Cut(bytes.TrimRight(line, ",\n"), []byte(":")); ok {
			m[string(bytes.Trim(name, `"`))] = data
		}
	}
	return m
})

// maxCollators bounds the orders that one run keeps.
const maxCollators = 32

// order is an order of texts.
type order struct {
	tag, sensitivity string
	numeric          bool
}

type host struct {
	vm     *goja.Runtime
	orders map[order]*collate.Collator
}

// Intl makes the global Intl, and replaces the methods of the language that depend on a locale.
func Intl(vm *goja.Runtime, function func(name string, f func(goja.FunctionCall) goja.Value) *goja.Object) goja.Value {
	h := &host{vm: vm, orders: map[order]*collate.Collator{}}
	f, err := vm.RunProgram(program())
	if err != nil {
		panic(err)
	}
	natives := vm.NewObject()
	for name, f := range h.natives() {
		_ = natives.Set(name, function(name, func(c goja.FunctionCall) goja.Value { return vm.ToValue(f(c)) }))
	}
	call, _ := goja.AssertFunction(f)
	v, err := call(goja.Undefined(), natives)
	if err != nil {
		panic(err)
	}
	return v
}

func (h *host) natives() map[string]func(goja.FunctionCall) any {
	text := func(c goja.FunctionCall, i int) string { return c.Argument(i).String() }
	return map[string]func(goja.FunctionCall) any{
		"canonical": func(c goja.FunctionCall) any { return h.tag(text(c, 0)).String() },
		"compare": func(c goja.FunctionCall) any {
			return h.compare(order{text(c, 0), text(c, 4), c.Argument(3).ToBoolean()}, text(c, 1), text(c, 2))
		},
		"data":   func(c goja.FunctionCall) any { return string(lines()[text(c, 0)]) },
		"fields": func(c goja.FunctionCall) any { return h.fields(c.Argument(0).ToInteger(), text(c, 1)) },
		"find":   func(c goja.FunctionCall) any { return find(text(c, 0)) },
		"lower":  func(c goja.FunctionCall) any { return cases.Lower(h.tag(text(c, 0))).String(text(c, 1)) },
		"plural": func(c goja.FunctionCall) any { return h.plural(text(c, 0), text(c, 1), c.Argument(2).ToBoolean()) },
		"upper":  func(c goja.FunctionCall) any { return cases.Upper(h.tag(text(c, 0))).String(text(c, 1)) },
		"zone":   func(c goja.FunctionCall) any { return h.zone(text(c, 0)).String() },
	}
}

// refuse raises a RangeError. It does not return.
func (h *host) refuse(message string) {
	e, err := h.vm.New(h.vm.Get("RangeError"), h.vm.ToValue(message))
	if err != nil {
		panic(err)
	}
	panic(e)
}

func (h *host) tag(text string) language.Tag {
	t, err := language.Parse(text)
	if err != nil || strings.ContainsRune(text, '_') {
		h.refuse("Incorrect locale information provided: " + text)
	}
	return t
}

// find is the name of the locale whose data a tag has; "" if there is none.
func find(tag string) string {
	tag, _, _ = strings.Cut(tag, "-u-")
	for tag != "" {
		if tag == "no" || tag == "nn" {
			tag = "nb"
		}
		if _, ok := lines()[tag]; ok {
			return tag
		}
		tag = tag[:max(strings.LastIndexByte(tag, '-'), 0)]
	}
	return ""
}

func (h *host) zone(name string) *time.Location {
	if strings.EqualFold(name, "utc") || name == "GMT" {
		return time.UTC
	}
	l, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		h.refuse("Invalid time zone specified: " + name)
	}
	return l
}

func (h *host) fields(ms int64, zone string) []any {
	t := time.UnixMilli(ms).In(h.zone(zone))
	return []any{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), int(t.Weekday())}
}

var forms = map[plural.Form]string{plural.Other: "other", plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}

// plural is the form for a number that is written in digits.
func (h *host) plural(tag, number string, ordinal bool) string {
	whole, fraction, _ := strings.Cut(number, ".")
	rules := plural.Cardinal
	if ordinal {
		rules = plural.Ordinal
	}
	// No rule looks at more than the last six digits, but whether there are others matters.
	value := func(s string) int {
		n := 0
		for _, c := range s {
			if n = 10*n + int(c-'0'); n >= 10_000_000 {
				n = n%1_000_000 + 1_000_000
			}
		}
		return n
	}
	trimmed := strings.TrimRight(fraction, "0")
	return forms[rules.MatchPlural(h.tag(tag), value(whole), len(fraction), len(trimmed), value(fraction), value(trimmed))]
}

func (h *host) compare(o order, a, b string) int {
	c := h.orders[o]
	if c == nil {
		var options []collate.Option
		if o.numeric {
			options = append(options, collate.Numeric)
		}
		switch o.sensitivity {
		case "base":
			options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics)
		case "accent":
			options = append(options, collate.IgnoreCase)
		case "case":
			options = append(options, collate.IgnoreDiacritics)
		}
		if len(h.orders) >= maxCollators {
			clear(h.orders)
		}
		tag := h.tag(o.tag)
		if base, _ := tag.Base(); base.String() == "nb" || base.String() == "nn" {
			tag = language.Danish // whose alphabet is the same, and which the package has
		}
		c = collate.New(tag, options...)
		h.orders[o] = c
	}
	return c.CompareString(a, b)
}
