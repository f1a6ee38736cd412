package template

import (
	"maps"
	"math"
	"strings"
	"time"
)

// builtin is what stands behind a question mark. Whether the number of arguments fits is checked when the
// template is parsed; f may index args up to least without looking.
type builtin struct {
	least, most int  // arguments
	loop        bool // of the variable of a loop
	f           func(r *run, x *built, v any) (any, error)
	absent      func(r *run, x *built, v any) (any, error) // instead of f: the value may be missing
}

// builtins are all of them, by name.
var builtins = func() map[string]builtin {
	all := map[string]builtin{}
	for _, part := range []map[string]builtin{textBuiltins, listBuiltins, valueBuiltins, loopBuiltins} {
		maps.Copy(all, part)
	}
	return all
}()

// text is the argument i as text.
func (x *built) text(r *run, i int) (string, error) { return r.textOf(x.args[i]) }

// texts are all arguments as texts.
func (x *built) texts(r *run) ([]string, error) {
	out := make([]string, len(x.args))
	for i := range x.args {
		var err error
		if out[i], err = x.text(r, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// is makes a built-in that asks for the kind of a value, by the words that errors use for it (what).
func is(kinds ...string) builtin {
	return builtin{f: func(_ *run, _ *built, v any) (any, error) {
		for _, k := range kinds {
			if _, empty := v.(nothing); what(v) == k || empty && (k == "a list" || k == "a hash") {
				return true, nil
			}
		}
		return false, nil
	}}
}

var valueBuiltins = map[string]builtin{
	"has_content": {absent: func(_ *run, _ *built, v any) (any, error) { return hasContent(v), nil }},
	"exists":      {absent: func(_ *run, _ *built, v any) (any, error) { return v != nil, nil }},
	"if_exists": {absent: func(_ *run, _ *built, v any) (any, error) {
		if v == nil {
			return nothing{}, nil
		}
		return v, nil
	}},
	"default": {least: 1, most: 1, absent: func(r *run, x *built, v any) (any, error) {
		if v != nil {
			return v, nil
		}
		return r.eval(x.args[0])
	}},
	"then": {least: 2, most: 2, f: then},
	// Ten cases with their results, and a default.
	"switch": {least: 2, most: 21, f: choose},
	"c":      {f: computed},
	"cn":     {absent: func(r *run, x *built, v any) (any, error) { return orNull(r, x, v) }},
	"string": {most: 2, f: toString},

	"is_string": is("a text"), "is_boolean": is("true or false"), "is_number": is("a number"),
	"is_date": is("a date", "a time", "a datetime"), "is_date_like": is("a date", "a time", "a datetime"),
	"is_date_only": is("a date"), "is_time": is("a time"), "is_datetime": is("a datetime"),
	"is_sequence": is("a list"), "is_enumerable": is("a list"), "is_indexable": is("a list"), "is_collection": is("a list"),
	"is_hash": is("a hash"), "is_hash_ex": is("a hash"), "is_method": is("a function"),
	"is_macro": is("a macro"), "is_directive": is("a macro"),

	"date": {most: 1, f: toMoment("date")}, "time": {most: 1, f: toMoment("time")}, "datetime": {most: 1, f: toMoment("datetime")},
	"iso_utc":            {f: iso},
	"long":               {f: long},
	"number_to_date":     {f: fromNumber("date")},
	"number_to_time":     {f: fromNumber("time")},
	"number_to_datetime": {f: fromNumber("datetime")},

	"abs":     {f: absolute},
	"ceiling": {f: rounded(ceil)}, "floor": {f: rounded(floor)}, "round": {f: rounded(round)}, "int": {f: rounded(trunc)},
	"double": {f: rounded(func(f float64) float64 { return f })}, "float": {f: rounded(func(f float64) float64 { return f })},
}

func hasContent(v any) bool {
	switch v := v.(type) {
	case nil, nothing:
		return false
	case string:
		return v != ""
	case markup:
		return v != ""
	case []any:
		return len(v) > 0
	case *hash:
		return len(v.keys) > 0
	case view:
		return v.size() > 0
	}
	return true
}

func then(r *run, x *built, v any) (any, error) {
	b, ok := v.(bool)
	switch {
	case !ok:
		return nil, x.at.fail("?then requires true or false, not %s", what(v))
	case b:
		return r.eval(x.args[0])
	}
	return r.eval(x.args[1])
}

// choose is ?switch(case, result, …, otherwise).
func choose(r *run, x *built, v any) (any, error) {
	i := 0
	for ; i+1 < len(x.args); i += 2 {
		w, err := r.need(x.args[i])
		if err != nil {
			return nil, err
		}
		same, err := r.equal(x.args[i].position(), v, w)
		if err != nil {
			return nil, err
		}
		if same {
			return r.eval(x.args[i+1])
		}
	}
	if i < len(x.args) {
		return r.eval(x.args[i])
	}
	return nil, x.at.fail("?switch has no case for the value, and no default")
}

// computed is a value for programs.
func computed(r *run, x *built, v any) (any, error) {
	switch v := v.(type) {
	case int64, float64:
		return plainNumber(v), nil
	case bool:
		if v {
			return "true", nil
		}
		return "false", nil
	case string:
		if err := r.step(x.at, len(v)); err != nil {
			return nil, err
		}
		v = `"` + jsonString(v) + `"`
		return v, r.made(x.at, len(v))
	}
	return nil, x.at.fail("?%s requires a number, text, true or false, not %s", x.name, what(v))
}

func orNull(r *run, x *built, v any) (any, error) {
	if v == nil {
		return "null", nil
	}
	return computed(r, x, v)
}

// toString is ?string, ?string("0.00"), ?string("yes", "no") and ?string.short.
func toString(r *run, x *built, v any) (any, error) {
	args, err := x.texts(r)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case bool:
		if len(args) == 0 {
			args = []string{"true", "false"}
		}
		if len(args) != 2 {
			return nil, x.at.fail(`?string of true or false takes two texts, as in ?string("yes", "no")`)
		}
		if v {
			return args[0], nil
		}
		return args[1], nil
	case int64, float64:
		if len(args) == 1 {
			return r.formatNumber(x.at, v, args[0])
		}
	case moment:
		if len(args) == 1 {
			return r.momentText(x.at, v, args[0])
		}
	}
	if len(args) > 0 {
		return nil, x.at.fail("?string of %s cannot have %d arguments", what(v), len(args))
	}
	if m, ok := v.(moment); ok {
		return r.momentText(x.at, m, "")
	}
	return r.text(x.at, v)
}

// formatted is ?string before a dot or a bracket: what stands there is the format.
func (x *built) formatted(r *run, format string) (any, error) {
	v, err := r.need(x.of)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case int64, float64:
		return r.formatNumber(x.at, v, format)
	case moment:
		return r.momentText(x.at, v, format)
	}
	return nil, x.at.fail("?string of %s cannot have a format", what(v))
}

func toMoment(kind string) func(r *run, x *built, v any) (any, error) {
	return func(r *run, x *built, v any) (any, error) {
		if m, ok := v.(moment); ok {
			if m.kind != kind && m.kind != "datetime" {
				return nil, x.at.fail("a %s is not a %s", m.kind, kind)
			}
			return moment{m.t, kind}, nil
		}
		text, ok := v.(string)
		if !ok {
			return nil, x.at.fail("?%s requires a text or a date, not %s", kind, what(v))
		}
		pattern := ""
		if len(x.args) == 1 {
			var err error
			if pattern, err = x.text(r, 0); err != nil {
				return nil, err
			}
		}
		// The text is tried against several layouts, so it costs more than its length.
		if err := r.step(x.at, 16*(len(text)+len(pattern))); err != nil {
			return nil, err
		}
		return readMoment(x.at, text, pattern, kind)
	}
}

func iso(r *run, x *built, v any) (any, error) {
	m, ok := v.(moment)
	if !ok {
		return nil, x.at.fail("?iso_utc requires a date, not %s", what(v))
	}
	return r.momentText(x.at, m, "iso")
}

// long is milliseconds since 1970 for a date, as in Java.
func long(_ *run, x *built, v any) (any, error) {
	if m, ok := v.(moment); ok {
		return m.t.UnixMilli(), nil
	}
	f, ok := float(v)
	if !ok {
		return nil, x.at.fail("?long requires a number or a date, not %s", what(v))
	}
	return shortened(trunc(f)), nil
}

func fromNumber(kind string) func(r *run, x *built, v any) (any, error) {
	return func(_ *run, x *built, v any) (any, error) {
		ms, ok := v.(int64)
		if !ok {
			return nil, x.at.fail("?%s requires an integer number of milliseconds, not %s", x.name, what(v))
		}
		return moment{time.UnixMilli(ms).UTC(), kind}, nil
	}
}

// absolute is ?abs. Integers stay exact, except the smallest, whose opposite is no integer of 64 bits.
func absolute(_ *run, x *built, v any) (any, error) {
	if n, ok := v.(int64); ok && n != math.MinInt64 {
		return max(n, -n), nil
	}
	f, ok := float(v)
	if !ok {
		return nil, x.at.fail("?%s requires a number, not %s", x.name, what(v))
	}
	return shortened(math.Abs(f)), nil
}

// rounded makes a built-in that makes a number an integer; one that is an integer already is not touched, since it may have
// more digits than a float64.
func rounded(to func(float64) float64) func(r *run, x *built, v any) (any, error) {
	return func(_ *run, x *built, v any) (any, error) {
		if n, ok := v.(int64); ok {
			return n, nil
		}
		f, ok := float(v)
		if !ok {
			return nil, x.at.fail("?%s requires a number, not %s", x.name, what(v))
		}
		return shortened(to(f)), nil
	}
}

// Their operand is the name of the variable and not its value, which would not know its place in the list.
var loopBuiltins = map[string]builtin{
	"index":        {loop: true, f: ofLoop(func(l *loop) any { return int64(l.index) })},
	"counter":      {loop: true, f: ofLoop(func(l *loop) any { return int64(l.index + 1) })},
	"has_next":     {loop: true, f: ofLoop(func(l *loop) any { return l.index+1 < l.size })},
	"is_first":     {loop: true, f: ofLoop(func(l *loop) any { return l.index == 0 })},
	"is_last":      {loop: true, f: ofLoop(func(l *loop) any { return l.index+1 == l.size })},
	"is_odd_item":  {loop: true, f: ofLoop(func(l *loop) any { return l.index%2 == 0 })},
	"is_even_item": {loop: true, f: ofLoop(func(l *loop) any { return l.index%2 == 1 })},
	"item_parity":  {loop: true, f: ofLoop(func(l *loop) any { return parity(l, "odd", "even") })},

	"item_parity_cap": {loop: true, f: ofLoop(func(l *loop) any { return parity(l, "Odd", "Even") })},
	"item_cycle": {loop: true, least: 1, most: 20, f: func(r *run, x *built, v any) (any, error) {
		l, err := r.loopOf(x, v)
		if err != nil {
			return nil, err
		}
		return r.eval(x.args[l.index%len(x.args)])
	}},
}

func parity(l *loop, odd, even string) string {
	if l.index%2 == 0 {
		return odd
	}
	return even
}

// ofLoop makes a built-in that asks where a loop is.
func ofLoop(f func(l *loop) any) func(r *run, x *built, v any) (any, error) {
	return func(r *run, x *built, v any) (any, error) {
		l, err := r.loopOf(x, v)
		if err != nil {
			return nil, err
		}
		return f(l), nil
	}
}

// loopOf finds the loop of a variable.
func (r *run) loopOf(x *built, name any) (*loop, error) {
	text, _ := name.(string)
	if err := r.step(x.at, len(r.locals)*scopeSize); err != nil {
		return nil, err
	}
	for i := len(r.locals) - 1; i >= 0; i-- {
		if l, ok := r.locals[i][loopMark+text].(*loop); ok {
			return l, nil
		}
		// A macro does not see the loops of its caller.
		if _, bottom := r.locals[i][bottomOfMacro]; bottom {
			break
		}
	}
	return nil, x.at.fail("%s is not a loop variable", strings.TrimSpace(text))
}

// loopMark is in front of the name of a variable where its loop is kept.
const loopMark = "\x00loop "
