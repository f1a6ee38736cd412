package template

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"catena/engine/expr"
	"catena/storage/declare"
	"catena/storage/fault"
)

var testLimits = Limits{Source: 64 << 10, Depth: 32, Steps: 100_000, Output: 64 << 10}

// model is what templates of tests see.
func model() map[string]any {
	at := time.Date(2024, 5, 2, 15, 4, 9, 0, time.UTC)
	doc := map[string]any{
		expr.Handle: &struct{}{}, "title": "A <b>", "id": "1", "dc": map[string]any{"title": "A <b>"},
		expr.Lookup: func(name string) any {
			return map[string]any{"dc:title": "A <b>", "dc:created": at, "dublincore": map[string]any{"title": "A <b>"}}[name]
		},
	}
	return map[string]any{
		"Document": doc, "CurrentDate": expr.Date(at), "n": 1234567, "f": 1234.5678, "yes": true, "none": nil, "empty": "", "name": "ann lee",
		"list": []any{"c", "a", "b"}, "names": []string{"x", "y"}, "rows": []any{map[string]any{"k": "b", "n": int64(2)}, map[string]any{"k": "a", "n": int64(1)}},
		"Fn": map[string]any{"twice": func(args ...any) (any, error) { return expr.Text(args[0]) + expr.Text(args[0]), nil }},
	}
}

// endless lets a rendering go on.
func endless(int) error { return nil }

func rendered(language, source string) (string, error) {
	t, err := Parse(language, "t", source, testLimits)
	if err != nil {
		return "", err
	}
	return t.Render(model(), testLimits, endless)
}

func TestFTL(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"plain $ # { < text }", "plain $ # { < text }"},
		{"${Document.title} ${Document['dc:title']} ${Document.dublincore.title} ${Document.dc.title}", "A <b> A <b> A <b> A <b>"},
		{"${Document[\"dc:created\"]?string('yyyy-MM-dd')} ${Document['dc:created']}", "2024-05-02 May 2, 2024, 3:04:09 PM"},
		{"${.now?date} ${.now?time} ${.now?iso_utc} ${.now?string.short} ${.now?date?string['d.M.yy']}", "May 2, 2024 3:04:09 PM 2024-05-02T15:04:09Z 5/2/24, 3:04 PM 2.5.24"},
		{"${n} ${n?c} ${f} ${f?string('0.0')} ${0.1 + 0.2} ${10 / 4} ${7 % 3} ${(-5)?abs} ${2.5?round} ${n?string.computer} ${0.25?string.percent}", "1,234,567 1234567 1,234.568 1234.6 0.3 2.5 1 5 3 1234567 25%"},
		{"${none!'d'} ${none!} ${(a.b.c)!'x'} ${none!n?c} ${(none)!\"a\"?upper_case}", "d  x 1234567 A"},
		{"<#if none??>a<#elseif empty?has_content>b<#else>c</#if>", "c"},
		{"<#if (n > 5) && n gte 5 && !(n lt 5) && 'a' == \"a\" && n != 2>yes</#if>", "yes"},
		{"<#list list as x>${x}${x?index}${x_index}${x?counter}<#if x_has_next>,</#if></#list>", "c001,a112,b223"},
		{"<#list list as x>${x}<#sep>, </#list>|<#list list as x>${x}<#sep>, </#sep>;</#list>", "c, a, b|c, ;a, ;b;"},
		{"<#list [] as x>x<#else>none</#list><#list list><ul><#items as x>${x}</#items></ul></#list>", "none<ul>cab</ul>"},
		{"<#list {'b': 1, 'a': 2} as k, v>${k}=${v};</#list>", "b=1;a=2;"},
		{"<#list 1..3 as i>${i}</#list><#list 3..1 as i>${i}</#list><#list 0..<2 as i>${i}</#list><#list 5..*2 as i>${i}</#list><#list 2..<2 as i>x</#list>", "12332101" + "56"},
		{"<#list list as x><#if x == 'a'><#continue></#if>${x}<#break></#list>", "c"},
		{"<#foreach x in list>${x}</#foreach>", "cab"},
		{"<#assign a = 1 b = 'x'><#assign a += 2>${a}${b}<#assign c>in ${a}</#assign>${c}<#assign a++>${a}", "3xin 34"},
		{"a<#-- no ${none} -->b<#noparse>${x}<#if></#noparse>c", "ab${x}<#if>c"},
		{"<#switch n><#case 1>one<#break><#case 1234567>many<#case 2>two<#break><#default>d</#switch>", "manytwo"},
		{"<#switch 9><#case 1>one<#default>d</#switch>", "d"},
		{"<@m a='1'/><@m '2' '3'; q>${q}</@m><#macro m a b='B'>[${a}${b}<#nested 'q'>]</#macro>", "[1B][23q]"},
		{"<#function f(x y=2)><#return x * y></#function>${f(3)} ${f(3, 3)}", "6 9"},
		{"<#macro r n><#if (n > 0)>${n}<@r n - 1/></#if></#macro><@r 3/>", "321"},
		{"${'a\"b\\'<&'?html} ${'a\\'<'?xml} ${'</a \"b\\n'?js_string} ${'x\"\\n'?json_string} ${'a b/é'?url}", "a&quot;b&#39;&lt;&amp; a&apos;&lt; \\u003C\\/a \\\"b\\n x\\\"\\n a%20b%2F%C3%A9"},
		{"${name?cap_first} ${name?capitalize} ${name?upper_case} ${' x '?trim} ${name?length} ${'ABC'?lower_case} ${'AB'?uncap_first}", "Ann lee Ann Lee ANN LEE x 7 abc aB"},
		{"${list?join(', ')} ${list?sort?join('')} ${list?reverse?join('')} ${list?first}${list?last} ${list?size} ${[]?join(',', 'none')}", "c, a, b abc bac cb 3 none"},
		{"<#list rows?sort_by('k') as r>${r.k}${r.n}</#list> ${rows?map(r -> r.n)?join(' ')} ${rows?filter(r -> r.n gt 1)?size} ${list?seq_contains('a')?c} ${list?seq_index_of('b')}", "a1b2 2 1 1 true 2"},
		{"${'a-b-c'?split('-')?join('+')} ${'aXbX'?replace('X', '_')} ${'a1b22'?replace('[0-9]+', '<$0>', 'r')} ${'abc'?contains('b')?string('y', 'n')} ${'abc'?starts_with('a')?c}", "a+b+c a_b_ a<1>b<22> y true"},
		{"${'abcdef'[1..3]} ${'abc'[1]} ${'abcdef'[2..]} ${list[0..1]?join('')} ${'abcdef'?substring(1, 3)} ${'5'?left_pad(3, '0')} ${'abc'[0..*9]}", "bcd b cdef ca bc 005 abc"},
		{"${'2024-05-02'?date?string('dd/MM/yyyy')} ${'02.05.2024'?date('dd.MM.yyyy')?string.iso} ${('2024-05-02'?date > '2024-05-01'?date)?c}", "02/05/2024 2024-05-02 true"},
		{"${{'a': 1, 'b': 2}?keys?join(',')} ${({'a': 1} + {'b': 2})?values?join(',')} ${([1] + [2])?size} ${'x' + 1}", "a,b 1,2 2 x1"},
		{"${yes?then('a', none)} ${2?switch(1, 'a', 2, 'b', 'c')} ${'12'?number + 1} ${'true'?boolean?c} ${yes?string}", "a b 13 true true"},
		{"${\"in ${name?upper_case} it\"} ${r'${x}'} ${'$\\{x}'}", "in ANN LEE it ${x} ${x}"},
		{"<#escape x as x?html>${Document.title}<#noescape>${Document.title}</#noescape><#escape x as x!'-'>${none}</#escape></#escape>", "A &lt;b&gt;A <b>-"},
		{"<#ftl output_format='HTML'>${Document.title}${'<'?no_esc}<#noautoesc>${'<'}</#noautoesc><#assign c>${'<'}</#assign>${c}", "A &lt;b&gt;<<&lt;"},
		{"<#setting number_format='0.00'>${1}<#setting datetime_format='yyyy'>${.now}<#setting boolean_format='ja,nein'>${yes}", "1.002024ja"},
		{"${Fn.twice('a')} ${names?join('')} ${Document?is_hash?c} ${list?is_sequence?c}", "aa xy true true"},
		{"<#if true>\n  a\n</#if>\nb\n", "  a\nb\n"},
		{"<#list list as x>\n  ${x}\n</#list>\n", "  c\n  a\n  b\n"},
		{"  <#assign a = 1> x\n  <#-- c -->\n${a}", "   x\n1"},
		{"<#ftl strip_whitespace=false><#if true>\na\n</#if>", "\na\n"},
		{"${none?default('x')}${none?if_exists}${(none?exists)?c}${'a'?is_string?c}", "xfalsetrue"},
		{"<#if list?size &gt; 2 &amp;&amp; true>x</#if>", "x"},
		{"<#assign m = {}><#list rows as r><#assign m = m + {r.k: r.n}></#list>${m.a}${m['b']}", "12"},
		{"${[1, 5, 3]?max}${[1, 5, 3]?min} <#list list?chunk(2) as c>${c?join('')};</#list>", "51 ca;b;"},
	} {
		got, err := rendered("ftl", tt.source)
		if err != nil || got != tt.want {
			t.Errorf("%s:\ngot  %q %v\nwant %q", tt.source, got, err, tt.want)
		}
	}
}

func TestFTLMistakes(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"a\n ${none}", "template t:2:4: none is missing: give it a default with !, or test it with ??"},
		{"${Document.nope.x}", "template t:1:3: Document.nope is missing: give it a default with !, or test it with ??"},
		{"${a.b!'x'}", "template t:1:3: a is missing: give it a default with !, or test it with ??"},
		{"${1 +}", "template t:1:6: expected an expression, not the end of the tag"},
		{"<#if x>", "template t:1:8: </#if> is missing at the end of the template"},
		{"x\n<#include 'y'>", "template t:2:1: <#include> is not supported"},
		{"<#assing x=1>", "template t:1:1: <#assing> is not supported, perhaps assign"},
		{"</#if>", "template t:1:1: </#if> closes nothing here"},
		{"<#if true></#list>", "template t:1:11: </#list> closes nothing here"},
		{"${x?nope}", "template t:1:5: unknown built-in ?nope"},
		{"${'a'?uper_case}", "template t:1:7: unknown built-in ?uper_case, perhaps upper_case"},
		{"${x?eval}", "template t:1:5: unknown built-in ?eval"},
		{"${yes}", `template t:1:3: true or false is not a text: write ?c or ?string("yes", "no")`},
		{"${list}", "template t:1:3: a list is not a text"},
		{"<#if n>x</#if>", "template t:1:6: must be true or false, not a number"},
		{"<#if n >= 1>x</#if>", "template t:1:8: >= ends the tag: write gte, or put the comparison in parentheses"},
		{"${n == 'a'}", "template t:1:5: a number and a text cannot be compared"},
		{"${1 / 0}", "template t:1:5: division by zero"},
		{"#{n}", "template t:1:1: #{…} is not supported: write ${…}, with ?string and a format"},
		{"[#ftl]", "template t:1:1: tags in square brackets are not supported: write <#…>"},
		{"<#setting locale='de'>", `template t:1:1: the locale is en, and cannot be "de"`},
		{"<#setting classic='x'>", "template t:1:11: <#setting classic> is not supported"},
		{"<#break>", "template t:1:1: <#break> is outside a matching directive"},
		{"<@nope/>", "template t:1:1: unknown macro nope"},
		{"<#macro m a></#macro><@m/>", "template t:1:22: m requires a"},
		{"<#stop 'why'>", "template t:1:1: why"},
		{"${.data_model}", "template t:1:3: .data_model is unknown; only .now is supported"},
		{"${n?string('0E0')}", `template t:1:5: "0E0" is not a number format`},
		{"${.now?string('yyyy-ww')}", `template t:1:8: "yyyy-ww" is not a date format`},
		{"${Document['\x00value']}", "template t:1:3: Document['\x00value'] is missing: give it a default with !, or test it with ??"},
		{"<#list 1..10 as x></#list>${x}", "template t:1:29: x is missing: give it a default with !, or test it with ??"},
		{"<#-- open", "template t:1:1: the comment is not closed"},
		{"${'open", "template t:1:3: the text is not closed"},
		{"${n", "template t:1:4: the template ends within a tag or an interpolation"},
	} {
		got, err := rendered("ftl", tt.source)
		if err == nil || err.Error() != tt.want || fault.Of(err) != fault.Invalid {
			t.Errorf("%q:\ngot  %q %v\nwant %s", tt.source, got, err, tt.want)
		}
	}
}

func TestMarked(t *testing.T) {
	for _, tt := range []struct{ source, want, fails string }{
		{source: "a@b.org @{name} @@{x} @{Document.title}", want: "a@b.org ann lee @{x} A <b>"},
		{source: "@if{n > 5}big@else{n > 3}some@else{}small@end{}", want: "big"},
		{source: "@if{n < 5}big@else{}small@end{}", want: "small"},
		{source: "@foreach{x : list}@{x}@end{', '}", want: "c, a, b"},
		{source: "@foreach{r : rows}@{r.k}@foreach{x : list}@{x}@end{}@end{}@comment{no}", want: "bcabacab"},
		{source: "\n@nope{x}", fails: "template t:2:1: @nope{} is not supported"},
		{source: "@if{true}", fails: "template t:1:10: @end{} is missing at the end of the template"},
		{source: "@end{}", fails: "template t:1:1: @end{} closes nothing here"},
		{source: "x @{1 +}", fails: "template t:1:3: expression: unexpected token EOF (1:3)"},
		{source: "@{name + 1}", fails: "template t:1:1: expression: invalid operation: string + int (1:6)"},
		{source: "@foreach{x : n}@end{}", fails: "template t:1:1: expected a list, not a number"},
	} {
		got, err := rendered("mvel", tt.source)
		if err != nil {
			if err.Error() != tt.fails {
				t.Errorf("%s: got %v, want %q", tt.source, err, tt.fails)
			}
			continue
		}
		if got != tt.want || tt.fails != "" {
			t.Errorf("%s: got %q, want %q %s", tt.source, got, tt.want, tt.fails)
		}
	}
}

// TestBounds: templates that would make too much, or go on for too long, end with an error that says so.
func TestBounds(t *testing.T) {
	for _, tt := range []struct{ language, source, want string }{
		{"ftl", strings.Repeat("x", 64<<10+1), "longer than 65536 bytes"},
		{"ftl", "<#list 1..400 as a><#list 1..400 as b></#list></#list>", "takes more than 100000 steps"},
		{"ftl", "<#list 1..100000000 as a></#list>", "produces more than 65536 bytes"},
		{"ftl", "<#assign s = 'xxxxxxxx'><#list 1..100 as i><#assign s = s + s></#list>", "produces more than 65536 bytes"},
		{"ftl", "<#assign s = ['x']><#list 1..100 as i><#assign s = s + s></#list>", "produces more than 65536 bytes"},
		{"ftl", "<#assign s = {'x': 1}><#list 1..99999 as i><#assign s = s + {'a' + i: i}></#list>", "produces more than"},
		{"ftl", "<#assign s = 'x'><#list 1..100 as i><#assign s>${s}${s}</#assign></#list>", "produces more than 65536 bytes"},
		{"ftl", "<#list 1..4000 as i>xxxxxxxxxxxxxxxxxxxxx</#list>", "produces more than 65536 bytes"},
		{"ftl", "${'x'?left_pad(2000000000)}", "produces more than 65536 bytes"},
		{"ftl", "${'aaaaaaaa'?replace('a', 'x'?left_pad(10000))}", "produces more than 65536 bytes"},
		{"ftl", "${('x'?left_pad(9000, 'a'))?replace('(a*)*b', 'y', 'r')}", "takes more than 100000 steps"},
		{"ftl", "<#macro m><@m/></#macro><@m/>", "is nested more than 32 deep"},
		{"ftl", "<#function f><#return f()></#function>${f()}", "is nested more than 32 deep"},
		{"ftl", "${" + strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100) + "}", "is nested more than 32 deep"},
		{"ftl", "${" + strings.Repeat("!", 100) + "true}", "is nested more than 32 deep"},
		{"ftl", strings.Repeat("<#if true>", 100) + strings.Repeat("</#if>", 100), "is nested more than 32 deep"},
		{"ftl", "${1" + strings.Repeat("+1", 2000) + "}", "has more than 1000 operators"},
		{"ftl", "${'" + strings.Repeat("${\"", 100) + "'}", ""},
		{"mvel", strings.Repeat("@if{true}", 100) + strings.Repeat("@end{}", 100), "is nested more than 32 deep"},
		{"mvel", "@foreach{a : 1..400}@foreach{b : 1..400}@if{b < 0}@end{}@end{}@end{}", "takes more than 100000 steps"},
	} {
		_, err := rendered(tt.language, tt.source)
		if tt.want == "" {
			if err == nil {
				t.Errorf("%.60s: no error", tt.source)
			}
			continue
		}
		if fault.Of(err) != fault.Limit || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: got %v, want %s", tt.source, err, tt.want)
		}
	}
	// As much as is allowed is made.
	l := testLimits
	l.Output, l.Depth, l.Source = 5, 3, len("<#if true>abcde</#if>")
	whole, err := Parse("ftl", "t", "<#if true>abcde</#if>", l)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := whole.Render(nil, l, endless); got != "abcde" || err != nil {
		t.Errorf("got %q %v", got, err)
	}
	small := l
	small.Output--
	if _, err := whole.Render(nil, small, endless); fault.Of(err) != fault.Limit {
		t.Errorf("one byte too many: %v", err)
	}
	small = l
	small.Source--
	if _, err := Parse("ftl", "t", "<#if true>abcde</#if>", small); fault.Of(err) != fault.Limit {
		t.Errorf("a longer text: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	long, err := Parse("ftl", "t", "<#list 1..3000 as x></#list>", testLimits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Render(nil, testLimits, func(int) error { return ended.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: got %v", err)
	}
}

// TestOver: texts replace templates of their names, and what is wrong is told with its place.
func TestOver(t *testing.T) {
	first, wrong := Resources{}.Over([]declare.Source{{Name: "a.ftl", Text: "one"}, {Name: "b.mvel", Text: "@{n}"}})
	all, more := first.Over([]declare.Source{{Name: "a.ftl", Text: "two"}})
	if err := declare.ErrorOf(append(wrong, more...)); err != nil || len(all) != 2 || first["a.ftl"] == all["a.ftl"] {
		t.Fatalf("got %v, %v", all, err)
	}
	a, err := all.Find("ftl", "a")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Render(nil, testLimits, endless); got != "two" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := all.Find("mvel", "a"); fault.Of(err) != fault.NotFound {
		t.Errorf("of another language: %v", err)
	}
	const want = "x.ftl:2:5: expected an expression, not the end of the tag\ny.mvel:1:1: @{ is not closed"
	_, wrong = all.Over([]declare.Source{{Name: "x.ftl", Text: "\n<#if>"}, {Name: "y.mvel", Text: "@{"}})
	if err := declare.ErrorOf(wrong); err == nil || err.Error() != want || wrong[0].At.Column != 5 {
		t.Errorf("got %v, want %s", err, want)
	}
}

// FuzzTemplate: no text makes a template panic, or go on beyond its limits.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"${Document.title?upper_case!'x'}", "<#if n gt 1>a<#elseif yes>b<#else>c</#if>", "<#list rows?sort_by('k') as r>${r.n}<#sep>,</#list>",
		"<#macro m a b=1>${a}<#nested a></#macro><@m a='x' ; y>${y}</@m>", "<#function f x><#return x+1></#function>${f(1)}",
		"<#switch n><#case 1>x<#break><#default>y</#switch>", "<#escape x as x?html>${name}</#escape>", "<#ftl output_format='XML'>${name}",
		"<#assign a = {'b': [1..3, 2.5]} c>x</#assign>", "${\"a${n?string('#,##0.0')}\"?replace('a(.)', '$1', 'ri')}", "${.now?string('yyyy-MM-dd')} ${'2024-01-01'?date?long}",
		"@if{n > 1}@foreach{x : list}@{x}@end{','}@else{}@{name}@end{}", "${list[0..*2]?join(',')}${'abc'[1..<2]?left_pad(9, 'xy')}", "<#noparse>${x}</#noparse><#-- c -->",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		l := Limits{Source: 4 << 10, Depth: 16, Steps: 5000, Output: 8 << 10}
		for _, language := range []string{"ftl", "mvel"} {
			p, err := Parse(language, "t", source, l)
			if err == nil {
				var out string
				if out, err = p.Render(model(), l, endless); len(out) > l.Output {
					t.Errorf("%s: makes %d bytes", language, len(out))
				}
			}
			if k := fault.Of(err); err != nil && k != fault.Invalid && k != fault.Limit {
				t.Errorf("%s: %v", language, err)
			}
		}
	})
}

// costly are templates that take far more time than the number of their steps suggests, unless steps count what they
// cost.
var costly = map[string]string{
	"hash grows":          "<#assign m = {}><#list 1..600000 as i><#assign m = m + {'k' + i: i}></#list>",
	"list grows":          "<#assign l = []><#list 1..600000 as i><#assign l = l + [i]></#list>",
	"text grows":          "<#assign s = ''><#list 1..600000 as i><#assign s = s + 'abc'></#list>",
	"hash is copied":      "<#assign m = {}><#list 1..2000 as i><#assign m = m + {'k' + i: i}></#list><#list 1..600000 as i><#assign n = m + {}></#list>",
	"view is sorted":      "<#list 1..600000 as i><#assign n = wide?keys?size></#list>",
	"view is counted":     "<#list 1..600000 as i><#assign n = wide?size></#list>",
	"cases":               "<#list 1..600000 as i><#switch 0>" + strings.Repeat("<#case 1>", 20_000) + "</#switch></#list>",
	"conditions":          "<#list 1..600000 as i><#if false>" + strings.Repeat("<#elseif false>", 10_000) + "</#if></#list>",
	"arguments":           "<#macro m" + counted(" p%d=1", 10_000) + "></#macro><#list 1..600000 as i><@m/></#list>",
	"constants":           "<#list 1..600000 as i>${[" + strings.Repeat("1,", 50_000) + "1]?size}</#list>",
	"sort":                "<#list 1..600000 as i>${texts?sort?size}</#list>",
	"join":                "<#list 1..600000 as i>${texts?join(',')?length}</#list>",
	"numbers":             "<#list 1..600000 as i>${huge?string('0.00000000000000000000000000000000000000000000000000')}</#list>",
	"dates":               "<#list 1..600000 as i>${.now?string('" + strings.Repeat("yyyy-", 2000) + "')}</#list>",
	"functions":           "<#list 1..600000 as i><#assign s = Fn.twice(texts)></#list>",
	"shared lists":        "<#assign a = [1, 1]><#list 1..60 as i><#assign a = [a, a]></#list>${Fn.twice(a)}",
	"scopes":              strings.Repeat("<#list 1..2 as a>", 30) + "${a}" + strings.Repeat("</#list>", 30),
	"strings":             "<#list 1..600000 as i>${long[1]}${long?substring(1, 2)}${long?contains('b')?c}</#list>",
	"regular expressions": "<#list 1..600000 as i>${long?replace('(a?a?)*b', '', 'r')?length}</#list>",
	"map":                 "<#list 1..600000 as i>${(1..1000)?map(x -> 1)?size}</#list>",
	"nested loops":        "<#list 1..600000 as i><#list 1..600000 as j></#list></#list>",
}

func counted(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
