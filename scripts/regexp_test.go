package scripts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"catena/storage/fault"
)

var regexpCases = []struct{ name, source, want string }{
	{"letter", `["ä".match(/\p{L}/u)?.[0], /\p{L}/u.test("1"), /^\p{Lu}\p{Ll}+$/u.test("Élan")]`, `["ä",false,true]`},
	{"negated", `"aä-1".replace(/\P{L}/gu, "")`, `"aä"`},
	{"in a class", `"aä-1_".replace(/[^\p{L}\d]/gu, "")`, `"aä1"`},
	{"negated in a class", `"aä-1_".replace(/[\P{L}a]/gu, "")`, `"ä"`},
	{"case", `[/^\p{Lu}+$/iu.test("straße"), /^[^\p{Lu}]$/iu.test("a"), /\p{Lu}/u.test("a")]`, `[true,false,false]`},
	{"astral", `["x𝒜y".match(/\p{Lu}/u)[0], "a😀b😀".split(/\p{Emoji_Presentation}/u).join()]`, `["𝒜","a,b,"]`},
	{"script", `"abc абв αβγ".match(/\p{Script=Greek}+/u)[0] + "abc абв".match(/\p{sc=Cyrl}+/u)[0]`, `"αβγабв"`},
	{"lookahead uses the other engine", `"aé1".replace(/\p{L}(?=\d)/u, "x")`, `"ax1"`},
	{"global", `[..."Ünï cødé".matchAll(/\p{L}+/gu)].map(m => m.index + m[0]).join()`, `"0Ünï,4cødé"`},
	{"sticky", `const r = /\p{L}/uy; r.lastIndex = 1; [r.test("1é"), r.lastIndex]`, `[true,2]`},
	{"hyphens", `["a-b".replace(/[-\p{Lu}]/u, ""), "a-b".replace(/[\p{Lu}-]/u, ""), "ab-".replace(/[a-b-\p{Lu}]/gu, "")]`, `["ab","ab",""]`},
	{"without the flag", `/\p{L}/.test("p{L}") && !/\p{L}/.test("é")`, `true`},
	{"escaped backslash", `/\\p{3}/u.test("\\ppp")`, `true`},
	{"source", `const r = /[\p{L}/]x/giu; [r.source, String(r), r.flags]`, `["[\\p{L}\\u002f]x","/[\\p{L}\\u002f]x/giu","giu"]`},
	{"constructor", `[new RegExp("^\\p{L}+$", "u").test("é"), RegExp("\\p{Lu}", "iu").test("a"), new RegExp("\\p{L}").test("é")]`, `[true,true,false]`},
	{
		"of another",
		`const r = /\p{L}/gu; [new RegExp(r).source, new RegExp(r).flags, new RegExp(r, "iu").flags, RegExp(r) === r, new RegExp(r).test("é"), new RegExp(r, "").test("p{L}")]`,
		`["\\p{L}","gu","iu",true,true,true]`,
	},
	{"by its objects", `new (/x/.constructor)("\\p{L}", "u").test("é")`, `true`},
	{"instances", `[/x/ instanceof RegExp, new RegExp("x") instanceof RegExp, /x/.constructor === RegExp, RegExp.name, RegExp.prototype === Object.getPrototypeOf(/x/)]`, `[true,true,true,"RegExp",true]`},
	{"subclass", `class R extends RegExp { both() { return this.source } }; const r = new R("\\p{L}", "u"); [r.test("é"), r.both(), r instanceof R]`, `[true,"\\p{L}",true]`},
	{"compile", `/x/.compile("\\p{L}", "u").test("é")`, `true`},
	{"defaults", `[new RegExp().source, new RegExp(undefined, "g").flags, new RegExp("/").source, String(new RegExp(5))]`, `["(?:)","g","\\u002f","/5/"]`},
	{"mistake in a text", `try { new RegExp("a\\p{Nope}", "u") } catch (e) { e instanceof SyntaxError && e.message }`, `"Invalid regular expression: \\p{Nope}: unknown property \"Nope\""`},
	{"wrong flags", `try { new RegExp("a", "ux") } catch (e) { e.name }`, `"SyntaxError"`},
	{"in functions", `function run() { const f = s => s.normalize("NFD").replace(/\p{M}/gu, ""); return f("Ünï") }`, `"Uni"`},
	{"awaiting", `await null; /\p{L}/u.test("é")`, `true`},
}

func TestRegexps(t *testing.T) { playAll(t, regexpCases) }

// TestRegexpMistakes holds that what cannot be right is refused, with its place, before the script runs.
func TestRegexpMistakes(t *testing.T) {
	cases := []struct {
		source, message string
		line, column    int
	}{
		{"let a;\n  a = /é\\p{Leter}/u;", `\p{Leter}: unknown property "Leter", perhaps Letter`, 2, 10},
		{`/\p{Script=Grek1}/u`, `unknown script "Grek1"`, 1, 2},
		{`/\p{scx=Greek}/u`, `Script_Extensions is not supported, use Script`, 1, 2},
		{`/\p{gc=Script}/u`, `unknown general category`, 1, 2},
		{`/\p{Age=1.1}/u`, `unknown property "Age"`, 1, 2},
		{`/\pL/u`, `\p must be followed by a property in braces`, 1, 2},
		{`/\P{L/u`, `\P must be followed by a property in braces`, 1, 2},
		{`/[\p{L}-z]/u`, `a range of characters cannot begin or end with a property`, 1, 3},
		{`/[a-\p{L}]/u`, `a range of characters cannot begin or end with a property`, 1, 3},
		{`/` + strings.Repeat(`\p{L}`, 60) + `/u`, `a pattern of more than`, 1, 0},
	}
	for _, c := range cases {
		for _, source := range []string{c.source, "function run() { " + c.source + " }", "await null;\n" + c.source} {
			_, err := inProcess(newFakeHost(), Limits{}, "r.js", source, true, nil, nil)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code != fault.CodeScriptSyntax || !strings.Contains(f.Message, c.message) {
				t.Errorf("%s: %v", source, err)
				continue
			}
			if source == c.source && (f.Line != c.line || c.column > 0 && f.Column != c.column) {
				t.Errorf("%s: at %d:%d, want %d:%d", source, f.Line, f.Column, c.line, c.column)
			}
		}
	}
}

// TestManyProperties holds that a script cannot fill the memory by naming properties.
func TestManyProperties(t *testing.T) {
	_, err := inProcess(newFakeHost(), Limits{}, "r.js", strings.Repeat("/\\p{L}\\p{L}\\p{L}/u;\n", 1000), true, nil, nil)
	if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "too many characters") {
		t.Error(err)
	}
}

type regexpGolden struct {
	Samples []any   `json:"samples"`
	Classes [][]any `json:"classes"` // source, flags, bits
	Found   [][]any `json:"found"`   // source, flags, text, matches
}

// propertyNames are the properties that the golden file has, by how thoroughly they are tested.
func propertyNames() map[string][]string {
	every := slices.Collect(maps.Keys(unicode.Categories))
	every = append(every, "Any", "ASCII", "Assigned", "Alphabetic", "Lowercase", "Uppercase", "Cased", "Math", "Grapheme_Extend", "Grapheme_Base",
		"ID_Start", "ID_Continue", "Default_Ignorable_Code_Point", "Emoji", "Emoji_Component", "Emoji_Modifier", "Emoji_Modifier_Base",
		"Emoji_Presentation", "Extended_Pictographic", "White_Space", "Dash", "Hex_Digit", "Ideographic", "Pattern_Syntax", "Quotation_Mark",
		"Soft_Dotted", "Diacritic", "Script=Latin", "Script=Greek", "Script=Cyrillic", "Script=Cherokee", "Script=Georgian", "Script=Deseret",
		"Script=Han", "Script=Common", "Script=Inherited")
	once := []string{
		"AHex", "Bidi_C", "Dep", "Ext", "IDSB", "IDST", "Join_C", "LOE", "NChar", "Pat_WS", "Radical", "RI", "STerm", "Term", "UIdeo", "VS", "space", "Alpha",
		"Lower", "Upper", "Gr_Ext", "Gr_Base", "IDS", "IDC", "DI", "EBase", "EComp", "EMod", "EPres", "ExtPict", "sc=Qaac", "sc=Qaai", "sc=Latn",
		"sc=Zyyy", "sc=Hani", "General_Category=Uppercase_Letter", "gc=Lu",
	}
	for name := range unicode.CategoryAliases {
		once = append(once, name)
	}
	for name := range unicode.Scripts {
		once = append(once, "Script="+name)
	}
	slices.Sort(every)
	slices.Sort(once)
	return map[string][]string{"every": every, "once": once}
}

const bitsScript = `function run(_, {samples, rows}) {
  const texts = samples.map(c => String.fromCodePoint(c));
  return rows.map(([source, flags]) => {
    const r = new RegExp(source, flags);
    let out = "";
    for (let i = 0; i < texts.length; i += 4) {
      let n = 0;
      for (let j = i; j < i + 4; j++) n = 2 * n + (j < texts.length && r.test(texts[j]) ? 1 : 0);
      out += n.toString(16);
    }
    return out;
  });
}`

const foundScript = `const run = (_, {rows}) => rows.map(([s, f, text]) => JSON.stringify([...text.matchAll(new RegExp(s, f))].map(m => [m.index, m[0]])))`

// differing names the samples whose bits differ.
func differing(samples []any, got, want string) string {
	var out []string
	for i := range min(len(got), len(want)) {
		for j := range 4 {
			bit := func(s string) bool { return strings.IndexByte("0123456789abcdef", s[i])&(8>>j) != 0 }
			if bit(got) != bit(want) && 4*i+j < len(samples) {
				out = append(out, fmt.Sprintf("U+%04X", int(samples[4*i+j].(float64))))
			}
		}
	}
	return strings.Join(out, " ")
}
