package expr

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr"

	"catena/storage/fault"
)

func free() *Meter { return NewMeter(func(int) error { return nil }) }

// eval evaluates a text of a chain.
func eval(text string, env map[string]any) (any, error) {
	p, err := Parse(text, false)
	if err != nil {
		return nil, err
	}
	return p.Eval(env, free())
}

// TestShifts: a date is moved by whole units, in either direction, over the ends of months and leap days, and nothing that is
// no date comes of it.
func TestShifts(t *testing.T) {
	at := time.Date(2024, 2, 29, 23, 59, 59, 5e6, time.UTC)
	for _, c := range []struct{ call, want string }{
		{"days(1)", "2024-03-01T23:59:59.005"},
		{"days(-60)", "2023-12-31T23:59:59.005"},
		{"days(0)", "2024-02-29T23:59:59.005"},
		{"months(1)", "2024-03-29T23:59:59.005"},
		{"months(12)", "2025-03-01T23:59:59.005"},
		{"years(4)", "2028-02-29T23:59:59.005"},
		{"years(-2024)", "0000-02-29T23:59:59.005"},
		{"weeks(2)", "2024-03-14T23:59:59.005"},
		{"hours(1)", "2024-03-01T00:59:59.005"},
		{"minutes(-1440)", "2024-02-28T23:59:59.005"},
		{"seconds(1)", "2024-03-01T00:00:00.005"},
		{"days(1.9)", "2024-03-01T23:59:59.005"},
		{"hours(10000000)", "3164-12-16T15:59:59.005"},
		{"seconds(20000000000)", "2657-12-09T11:33:19.005"},
		{"days(1).days(-1).hours(1).hours(-1)", "2024-02-29T23:59:59.005"},
		{"years(8000)", "!date: the year is outside 0 to 9999"},
		{"years(-2025)", "!date: the year is outside 0 to 9999"},
		{"seconds(631152000000)", "!date: the year is outside 0 to 9999"},
		{"days(631152000001)", "!date: 631152000001 is outside ±631152000000"},
		{"hours(-9223372036854775807)", "!date: -9223372036854775807 is outside ±631152000000"},
		{"days(1e300)", "!date: must be a number, not "},
		{"days('1')", "!date: must be a number, not 1"},
		{"days(nil)", "!date: must be a number, not "},
		{"days()", "!date: requires one argument"},
		{"days(1, 2)", "!date: requires one argument"},
		{"days(true)", "!date: must be a number, not true"},
		{"format()", "!date.format: requires one argument"},
	} {
		text := "expr:d." + c.call + ".format(\"yyyy-MM-dd'T'HH:mm:ss.SSS\")"
		if strings.HasPrefix(c.call, "format") {
			text = "expr:d." + c.call
		}
		got, err := eval(text, map[string]any{"d": Date(at)})
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, %v, want %s", c.call, got, err, want)
			}
		} else if got != c.want || err != nil {
			t.Errorf("%s: %v, %v, want %s", c.call, got, err, c.want)
		}
	}
}

func TestFnDate(t *testing.T) {
	day := time.Date(2024, 5, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		in   any
		want time.Time
		ok   bool
	}{
		{day, day, true},
		{day.In(time.FixedZone("", 7200)), day, true},
		{int(day.UnixMilli()), day, true},
		{day.UnixMilli(), day, true},
		{float64(day.UnixMilli()), day, true},
		{Date(day), day, true},
		{"2024-05-02", day, true},
		{"2024-05-02T00:00:00", day, true},
		{"2024-05-02T02:00:00+02:00", day, true},
		{"2024-05-02T00:00:00.001Z", day.Add(time.Millisecond), true},
		{"0000-01-01", time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), true},
		{int64(0), time.UnixMilli(0), true},
		{int64(-1), time.UnixMilli(-1), true},
		{"", day, false},
		{"2024-5-2", day, false},
		{"2024-02-30", day, false},
		{" 2024-05-02", day, false},
		{"٢٠٢٤-05-02", day, false},
		{nil, day, false},
		{true, day, false},
		{map[string]any{}, day, false},
		{int64(math.MaxInt64), day, false},
		{int64(math.MinInt64), day, false},
		{math.NaN(), day, false},
		{math.Inf(1), day, false},
		{"9999-12-31T23:00:00-02:00", day, false},
		{[]any{"2024-05-02"}, day, false},
	} {
		got, err := date(c.in)
		if !c.ok {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%v: %v, %v", c.in, got, err)
			}
			continue
		}
		if m, _ := got.(map[string]any); err != nil || !c.want.Equal(m[Handle].(time.Time)) || m[Handle].(time.Time).Location() != time.UTC {
			t.Errorf("%v: %v, %v", c.in, got, err)
		}
	}
	for _, args := range [][]any{{}, {day, day}} {
		if _, err := date(args...); !fault.Is(err, fault.Invalid) {
			t.Errorf("%d arguments: %v", len(args), err)
		}
	}
}

// TestParts: the parts of a date are counted as chains of the platform expect.
func TestParts(t *testing.T) {
	at := time.Date(2021, 1, 3, 12, 30, 45, 0, time.UTC)
	for name, want := range map[string]any{
		"year": int64(2021), "month": int64(0), "day": int64(3), "hour": int64(0), "minute": int64(30), "second": int64(45), "week": int64(53), "time": at.UnixMilli(), "date": at, "calendar": at,
	} {
		if got, err := eval("expr:d."+name, map[string]any{"d": Date(at)}); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
}

func TestFormatKnown(t *testing.T) {
	for pattern, want := range map[string]bool{
		"yyyy-MM-dd": true, "'T'": true, "''": true, "d. M. yy": true, "d年M月": true, "E a D Z X z S": true, "'literal quick' d": true, "ɐ": true,
		"": false, "'": false, "d'open": false, "Q": false, "yyyy-MM-ddThh": false, "k": false, "'a' b": false, "''b''": false,
	} {
		if got := FormatKnown(pattern); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
	at := time.Date(7, 12, 31, 0, 0, 0, 0, time.UTC)
	for pattern, want := range map[string]string{
		"yyyy": "0007", "yy": "07", "y": "7", "yyy": "007", "h a": "12 AM", "H": "0", "HHHH": "0000", "SSS": "000", "D": "365", "MMMMM": "December", "MMM": "Dec", "EE": "Mon", "EEEEE": "Monday",
		"dd''dd": "31'31",
		"年":      "年", "Q": "Q", "T": "T", "''''": "''", "'a": "a", "'a''b'": "ab",
	} {
		if got := Format(at, pattern); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}

func TestClosing(t *testing.T) {
	for s, want := range map[string]int{
		"}": 0, "a}b": 1, "{}}": 2, "{a: {b: 1}}}": 11, "'}'}": 3, `"}\"}"}`: 6, "`}\\`}": 4, `'\\'}`: 4, "": -1, "{": -1, "{}": -1, "'}": -1, `"\"}`: -1, "ä}": 2, "\xff}": 1, `"'}"}`: 4,
	} {
		if got := Closing(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

// TestReads: what a program reads of its environment is known before it runs.
func TestReads(t *testing.T) {
	for _, c := range []struct {
		text                                           string
		names, keys, helpers, methods, functions, path string
		open                                           bool
	}{
		{text: "expr:a + b * a", names: "a b"},
		{text: "expr:Document['dc:title']", names: "Document", keys: "dc:title", path: "dc:title"},
		{text: "expr:Document.dc.title", names: "Document", keys: "dc title dc:title"},
		{text: "expr:currentDocument['a:b/c']", names: "currentDocument", keys: "a:b/c", path: "a:b/c"},
		{text: "expr:Document[key]", names: "Document key", open: true},
		{text: "expr:list[0] + list[-1]", names: "list", open: true},
		{text: "expr:list[0]", names: "list"},
		{text: "expr:Fn.date(x)", names: "Fn x", keys: "date", helpers: "date", methods: "Fn.date"},
		{text: "expr:Document.getProperty('dc:title')", names: "Document", keys: "getProperty", methods: "Document.getProperty"},
		{text: "expr:own(1)", names: "own", functions: "own"},
		{text: "expr:let x = a; x + x", names: "a"},
		{text: "expr:map(list, # + x)", names: "list x"},
		{text: "a @{b} c @{d.e}", names: "b d", keys: "e"},
		{text: "@{'x'}", names: ""},
		{text: "expr:{'a': b}.a", names: "b", keys: "a"},
	} {
		p, err := Parse(c.text, false)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		names := slices.DeleteFunc(slices.Clone(p.Names), func(s string) bool { return strings.HasPrefix(s, "\x00") })
		for what, pair := range map[string][2]string{
			"names": {strings.Join(names, " "), c.names}, "keys": {strings.Join(p.Keys, " "), c.keys}, "helpers": {strings.Join(p.Helpers, " "), c.helpers},
			"methods": {strings.Join(p.Methods, " "), c.methods}, "functions": {strings.Join(p.Functions, " "), c.functions}, "xpaths": {strings.Join(p.Xpaths, " "), c.path},
		} {
			if !sameWords(pair[0], pair[1]) {
				t.Errorf("%s: %s %q, want %q", c.text, what, pair[0], pair[1])
			}
		}
		if p.Open != c.open {
			t.Errorf("%s: open %v", c.text, p.Open)
		}
		for _, name := range names {
			if at := p.At(name); !strings.HasPrefix(p.Source[at:], name) {
				t.Errorf("%s: %s is at %d", c.text, name, at)
			}
		}
	}
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{"expr:": true, "expr:a": true, "@{": true, "a @{b}": true, "": false, "expr": false, " expr:a": false, "EXPR:a": false, "@ {a}": false, "a@b": false} {
		if Is(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestBounds: a text may be as long as is allowed, and a template make as much.
func TestBounds(t *testing.T) {
	long := "expr:'" + strings.Repeat("x", maxSource-7) + "'"
	if v, err := eval(long, noVars()); err != nil || len(v.(string)) != maxSource-7 {
		t.Errorf("%d bytes: %v", len(long), err)
	}
	if _, err := eval(long+" ", noVars()); !fault.Is(err, fault.Limit) || fault.CodeOf(err) != fault.CodeExpression {
		t.Errorf("a byte more: %v", err)
	}
	env := map[string]any{"a": strings.Repeat("x", maxText/2)}
	if v, err := eval("@{a}@{a}", env); err != nil || len(v.(string)) != maxText {
		t.Errorf("as much as a template makes: %v", err)
	}
	if _, err := eval("@{a}@{a}.@{''}", env); !fault.Is(err, fault.Limit) {
		t.Errorf("more: %v", err)
	}
	if _, err := eval("expr:"+strings.Repeat("-", 3000)+"1", noVars()); err == nil {
		t.Error("as many signs as there are bytes")
	}
}

func noVars() map[string]any { return map[string]any{} }

// TestMistakes: what is wrong with an expression is Invalid or a Limit, in one line, and never a panic of the machine.
func TestMistakes(t *testing.T) {
	env := func() map[string]any {
		return map[string]any{
			"s": "a", "n": 1, "l": []any{1, 2}, "m": map[string]any{"a": 1}, "fails": func(...any) (any, error) { return nil, fault.Denied.Errorf("no").In("x") },
			"boom": func(...any) (any, error) { return nil, errors.New("boom") },
		}
	}
	for _, text := range []string{
		"expr:", "expr:(", "expr:'", "expr:1 +", "expr:a b", "@{", "@{}", "@{a", "@{a b}", "expr:s - 1", "expr:s.a.b.c()", "expr:l['x']", "expr:l[9]", "expr:n()", "expr:none()", "expr:1/0 + s",
		"expr:s matches '('",
		"expr:s matches s + '('", "expr:join(n)", "expr:join([1])", "expr:repeat(n, 1)", "expr:repeat(s, -1)", "expr:replace(n, s, s)", "expr:uniq(n)", "expr:now()", "expr:boom()", "expr:m.a.b",
		"expr:toJSON(fails)", "expr:fromJSON('{')", "expr:date('x')", "expr:int('x')", "expr:1 % 0", "expr:map(l, #.x.y)", "expr:reduce(l, #acc + #, 'a' - 1)",
	} {
		v, err := eval(text, env())
		if err == nil {
			if text != "expr:1/0 + s" {
				t.Errorf("%s: %v", text, v)
			}
			continue
		}
		if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v (%v)", text, err, fault.Of(err))
		}
	}
	_, err := eval("expr:fails()", env())
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Denied || f.Field != "x" || err.Error() != "no" {
		t.Errorf("what a function says: %v", err)
	}
}

type doc struct{ id string }

func (d doc) ID() string { return d.id }

func TestText(t *testing.T) {
	at := time.Date(2024, 5, 2, 15, 4, 9, 7654321, time.FixedZone("", -3600))
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, ""},
		{"", ""},
		{"a\x00", "a\x00"},
		{true, "true"},
		{-1, "-1"},
		{int64(math.MinInt64), "-9223372036854775808"},
		{1e21, "1000000000000000000000"},
		{0.1, "0.1"},
		{math.Copysign(0, -1), "0"},
		{math.Inf(1), "+Inf"},
		{at, "2024-05-02T16:04:09.007Z"},
		{[]any{}, ""},
		{[]any{nil, "a", []any{1, 2}}, ",a,1,2"},
		{[]string{"a", "b"}, "a,b"},
		{map[string]any{Handle: doc{"id-1"}}, "id-1"},
		{map[string]any{Handle: 7}, "7"},
		{Date(at), "TIMESTAMP '2024-05-02 16:04:09.007'"},
		{map[string]any{"a": 1, "at": Date(at), "f": Func(nil)}, `{"a":1,"at":"TIMESTAMP '2024-05-02 16:04:09.007'"}`},
		{[]any{map[string]any{"a": []any{nil, true}}, "<b>"}, `[{"a":[null,true]},"<b>"]`},
	} {
		if got := Text(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

// TestResults: numbers of results are of one type wherever they stand, views become what they show, and the variables
// themselves are left as they are.
func TestResults(t *testing.T) {
	d := doc{"1"}
	view := map[string]any{Handle: d, "n": 1}
	env := map[string]any{"v": view, "flat": map[string]any{"a": 1, "b": "x"}, "deep": map[string]any{"l": []any{1, map[string]any{"v": view}}}, "l": []any{1, view}}
	for text, want := range map[string]any{
		"expr:1": int64(1), "expr:[1, 2.5]": []any{int64(1), 2.5}, "expr:{'a': 1}": map[string]any{"a": int64(1)},
		"expr:{'a': {'b': 1}, 'c': 2}": map[string]any{"a": map[string]any{"b": int64(1)}, "c": int64(2)},
		"expr:v":                       d, "expr:l": []any{int64(1), d}, "expr:flat": map[string]any{"a": int64(1), "b": "x"}, "expr:deep": map[string]any{"l": []any{int64(1), map[string]any{"v": d}}},
		"expr:{}": map[string]any{}, "expr:nil": nil,
	} {
		if got, err := eval(text, env); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v, want %#v", text, got, err, want)
		}
	}
	if env["flat"].(map[string]any)["a"] != 1 || env["l"].([]any)[0] != 1 || !reflect.DeepEqual(env["v"], view) {
		t.Errorf("the variables have changed: %v", env)
	}
	p, err := Parse("expr:[v]", false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.View(env, free()); err != nil || !reflect.DeepEqual(got, []any{view}) {
		t.Errorf("a view: %v, %v", got, err)
	}
}

func TestFnHelpers(t *testing.T) {
	for _, c := range []struct {
		name string
		args []any
		want any
	}{
		{"escapeHtml", []any{"<a & 'b'>"}, "&lt;a &amp; &#39;b&#39;&gt;"},
		{"htmlEscape", []any{nil}, ""},
		{"nxqlEscape", []any{`a'b"c\`}, `a\'b\"c\\`},
		{"nxqlEscape", []any{1}, "1"},
		{"nxqlEscape", []any{"ä\u202e"}, "ä\u202e"},
		{"concatenateIntoList", nil, []any{}},
		{"concatenateIntoList", []any{nil, "a", []any{1, []any{2}}, []string{"b"}, nil}, []any{"a", 1, []any{2}, "b"}},
	} {
		got, err := Fn()[c.name].(Func)(c.args...)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s%v: %#v, %v", c.name, c.args, got, err)
		}
	}
	for _, name := range []string{"escapeHtml", "nxqlEscape", "date"} {
		if _, err := Fn()[name].(Func)(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "one argument") {
			t.Errorf("%s without arguments: %v", name, err)
		}
	}
}

// TestMeteredAlike: what takes the place of parts of the language, so that they count, gives the same as they do.
func TestMeteredAlike(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	env := map[string]any{"s": "aäba\u0301", "e": "", "n": 3, "f": 1.5, "l": []any{"b", "a", "b", "ä"}, "i": []any{3, 1, 2, 3}, "m": map[string]any{"k": "v"}, "z": nil, "texts": []string{"x", "y"}}
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	var text, list func(depth int) string
	text = func(depth int) string {
		if depth == 0 {
			return pick("s", "e", "'a'", "'ä'", "m.k", `""`)
		}
		return pick(
			"("+text(depth-1)+" + "+text(depth-1)+")", "join("+list(depth-1)+", "+text(depth-1)+")", "repeat("+text(depth-1)+", "+pick("0", "1", "n")+")",
			"replace("+text(depth-1)+", "+text(0)+", "+text(0)+")",
			"upper("+text(depth-1)+")", "trim("+text(depth-1)+")", "("+text(depth-1)+" matches "+text(0)+" ? s : e)", "("+text(depth-1)+" contains "+text(0)+" ? 'y' : 'n')", "join(texts)",
			"replace("+text(depth-1)+", "+text(0)+", "+text(0)+", 1)", "("+text(depth-1)+" == "+text(depth-1)+" ? 'q' : s)",
		)
	}
	list = func(depth int) string {
		if depth == 0 {
			return pick("l", "texts", "['c', s]", "split(s, 'a')")
		}
		return pick("uniq("+list(depth-1)+")", "sort("+list(depth-1)+")", "map("+list(depth-1)+", # + "+text(0)+")", "filter("+list(depth-1)+", # in l)", "reverse("+list(depth-1)+")",
			"concat("+list(0)+", "+list(depth-1)+")")
	}
	for range 1500 {
		source := pick(text(2), list(2), "len("+list(1)+") + n", "sum(i) + f", "["+text(1)+", n + n, f + n]", "uniq(i)")
		plain, err := expr.Eval(source, maps.Clone(env))
		got, ours := eval("expr:"+source, maps.Clone(env))
		if (err == nil) != (ours == nil) {
			t.Fatalf("%s: %v, %v; by the library %v, %v", source, got, ours, plain, err)
		}
		if a, b := fmt.Sprint(got), fmt.Sprint(plain); err == nil && a != b {
			t.Fatalf("%s: %s, by the library %s", source, a, b)
		}
	}
}

// FuzzExpr evaluates any text: it ends, and what is wrong with it is an error of a known kind.
func FuzzExpr(f *testing.F) {
	for _, seed := range []string{"1 + 1", "s + repeat(s, 3)", "let a = l; map(a, # + 1)", "@{s} and @{l[0]}", "d.days(1).format('yyyy')", "{'a': l}.a | len()", "s matches '^(a|b)*$'", "Fn.date(0).week", "\x00step(1)", "?.:", "s?.a ?? 1", "l[1:]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, source := range []string{"expr:" + text, text} {
			steps := 0
			p, err := Parse(source, true)
			if err == nil {
				_, err = p.Eval(map[string]any{"s": "ab", "l": []any{1, 2}, "d": Date(time.UnixMilli(0)), "Fn": Fn()}, NewMeter(func(size int) error {
					if steps += 1 + size>>6; steps > 100_000 {
						return fault.Limit.Errorf("too many steps")
					}
					return nil
				}))
			}
			if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
				t.Errorf("%q: %v (%v)", source, err, fault.Of(err))
			}
		}
	})
}

// TestForms holds the helpers that write numbers, dates and texts.
func TestForms(t *testing.T) {
	for text, want := range map[string]string{
		"@{Fn.padLeft(7, 5, '0')}":                   "00007",
		"@{Fn.padLeft('äö', 3)}|":                    " äö|",
		"@{Fn.padRight('a', 3, '.')}":                "a..",
		"@{Fn.padLeft('long', 2)}":                   "long",
		"@{Fn.padLeft('a', 1001)}":                   "!length from 0 to 1000",
		"@{Fn.padLeft('a', 5, '')}":                  "!one character",
		"@{Fn.padLeft('a')}":                         "!requires a text",
		"@{Fn.formatNumber(1234567.5, 2, ',', '.')}": "1.234.567,50",
		"@{Fn.formatNumber(-0.004, 2)}":              "0.00",
		"@{Fn.formatNumber('12', 0, '.', ' ')}":      "12",
		"@{Fn.formatNumber(-1234, 1, '.', \"'\")}":   "-1'234.0",
		"@{Fn.formatNumber('dear', 2)}":              "!requires a number",
		"@{Fn.formatNumber(1, 16)}":                  "!0 to 15 digits",
		"@{Fn.formatDate('2026-07-01T22:30:00Z', 'dd.MM.yyyy HH:mm Z', 'Europe/Berlin')}": "02.07.2026 00:30 +0200",
		"@{Fn.formatDate('2026-07-01', 'yyyy-MM-dd z')}":                                  "2026-07-01 UTC",
		"@{Fn.formatDate('2026-07-01', 'yyyy', 'Berlin')}":                                `!unknown time zone "Berlin"`,
		"@{Fn.formatDate('soon', 'yyyy')}":                                                "!soon is not a date",
		"@{Fn.daysBetween('2026-02-27T23:00:00Z', '2026-03-01T01:00:00Z')}":               "2",
		"@{Fn.daysBetween('2026-03-01', '2026-02-28')}":                                   "-1",
		"@{Fn.daysBetween('1969-12-31T23:59:59Z', '1970-01-01')}":                         "1",
		"@{Fn.urlEncode('a b&c/ü')}":                                                      "a%20b%26c%2F%C3%BC",
	} {
		got, err := eval(text, map[string]any{"Fn": Fn()})
		if message, fails := strings.CutPrefix(want, "!"); fails {
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), message) {
				t.Errorf("%s: %v, %v, want %s", text, got, err, message)
			}
		} else if got != want || err != nil {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
}
