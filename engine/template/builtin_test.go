package template

import (
	"errors"
	"strings"
	"testing"

	"catena/storage/fault"
)

// TestBuiltins states what stands behind a question mark, one rule a line, with the edges of each.
func TestBuiltins(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		// Texts. Positions and lengths count characters.
		{"${'äöü'?length} ${''?length} ${'äöü'?index_of('ü')} ${'abab'?last_index_of('b')} ${'a'?index_of('x')}", "3 0 2 3 -1"},
		{"${'éa'?cap_first}|${'  ab'?cap_first}|${' '?cap_first}|${''?cap_first}", "Éa|  Ab| |"},
		{"${'ONE two'?capitalize} ${'a\tb'?capitalize}", "One Two A\tB"},
		{"${'a/b/c'?keep_before('/')} ${'a/b/c'?keep_after('/')} ${'a/b/c'?keep_before_last('/')} ${'a/b/c'?keep_after_last('/')}", "a b/c a/b c"},
		{"${'abc'?keep_before('/')}|${'abc'?keep_after('/')}|${'abc'?keep_before_last('/')}|${'abc'?keep_after_last('/')}", "abc||abc|"},
		{"${'a.txt'?remove_ending('.txt')} ${'a.txt'?remove_beginning('x')} ${'a'?ensure_starts_with('/')} ${'/a'?ensure_starts_with('/')} ${'a/'?ensure_ends_with('/')}", "a a.txt /a /a a/"},
		{"${'a\\r\\n'?chop_linebreak}|${'a\\n\\n'?chop_linebreak?length}|${'a'?chop_linebreak}", "a|2|a"},
		{"${'é'?left_pad(3)}|${'é'?right_pad(4, 'ab')}|${'long'?left_pad(2)}|${'a'?left_pad(3, '')}", "  é|ébab|long|a"},
		{"${'aAa'?replace('a', 'x')} ${'aAa'?replace('a', 'x', 'i')} ${'aAa'?replace('a', 'x', 'f')} ${'a.b'?replace('.', '-')} ${'ab12'?replace('([a-z]+)(\\\\d+)', '$2$1', 'r')}", "xAx xxx xAa a-b 12ab"},
		{"${' a  b '?word_list?join('+')} ${'a,,b'?split(',')?size} ${''?split(',')?size}", "a+b 3 1"},
		{"${'a b&c/d'?url} ${'a b/c'?url_path}", "a%20b%26c%2Fd a%20b/c"},
		{"${'</script><!--]]>'?json_string}", `<\/script>\u003C!--]]\u003E`},
		{"${\"it's <b>\"?js_string}", `it\'s \u003Cb\>`},
		{"${' 7 '?number} ${'1.50'?number} ${'-3'?number} ${'9007199254740993'?number?c}", "7 1.5 -3 9007199254740993"},
		{"${'yes'?boolean?c} ${'no'?boolean?c}", "true false"},
		{"${'\\x41\\x263A\\l\\g\\a'}", "A☺<>&"},

		// Numbers. Integers stay exact; halves round up, as ?round says.
		{"${2.5?round} ${(-2.5)?round} ${2.4?ceiling} ${(-2.4)?ceiling} ${2.9?floor} ${(-2.1)?floor} ${(-2.9)?int}", "3 -2 3 -2 2 -3 -2"},
		{"${(-9007199254740993)?abs?c} ${(-9007199254740993)?round?c} ${(-9007199254740993)?floor?c} ${(-1.5)?abs}", "9007199254740993 -9007199254740993 -9007199254740993 1.5"},
		{"${1.5?c} ${1000000?c} ${'a\"'?c} ${true?c} ${none?cn} ${1?cn}", `1.5 1000000 "a\"" true null 1`},
		{"${1234.5?string('#,##0.00')} ${0?string('0.00')} ${(-5)?string('0')} ${0.125?string('0.00')} ${0.135?string('0.00')} ${12?string('0000')} ${0.5?string('%0')} ${(-0.001)?string('0.0')}", "1,234.50 0.00 -5 0.12 0.14 0012 %50 0.0"},
		{"${5?string['0.0']} ${7?string.c} ${1234?string.number}", "5.0 7 1,234"},
		{"${7 / 2} ${6 / 2} ${-7 % 3} ${2 * 3.5} ${(4611686018427387904 + 4611686018427387904 > 0)?c}", "3.5 3 -1 7 true"},

		// Dates and times, all in UTC.
		{"${1714662249000?number_to_datetime?iso_utc} ${1714662249000?number_to_date?string.iso} ${1714662249000?number_to_time?string.iso}", "2024-05-02T15:04:09Z 2024-05-02 15:04:09Z"},
		{"${'2024-05-02T15:04:09+02:00'?datetime?iso_utc} ${'15:04:09'?time?string('HH.mm')} ${'1970-01-01T00:00:01Z'?datetime?long?c} ${7.9?long}", "2024-05-02T13:04:09Z 15.04 1000 7"},
		{"${.now?string.full} ${.now?date?string.long} ${.now?time?string.short} ${.now?string.short_medium}", "Thursday, May 2, 2024, 3:04:09 PM UTC May 2, 2024 3:04 PM 5/2/24, 3:04:09 PM"},
		{"${.now?is_datetime?c} ${.now?date?is_date_only?c} ${.now?time?is_time?c} ${.now?is_date_like?c} ${'a'?is_date?c}", "true true true true false"},
		{"${(.now?time == '15:04:09'?time)?c} ${(.now?time < '15:04:10'?time)?c} ${(.now?time > '09:00:00'?time)?c} ${('2024-05-02T15:04:09Z'?datetime?time == '1999-01-01T15:04:09Z'?datetime?time)?c}", "true true true true"},
		{"${(.now?date == '2024-05-02'?date)?c} ${(.now?date < '2024-05-03'?date)?c} ${(.now?date > '2024-05-02'?date)?c} ${(.now > '2024-05-02'?date)?c}", "true true false true"},

		// Lists. Missing items do not show.
		{"${holes?join(', ')}|${holes?join(', ', 'empty', '.')}|${gaps?join(', ', 'empty', '.')}|${[]?join(', ', 'empty', '.')}|${['a']?join(', ', 'empty', '.')}", "a, b|a, b.|empty|empty|a."},
		{"${[3, 10, 2]?sort?join(' ')} ${['b', 'A', 'a', 'B']?sort?join(' ')} ${[true, false]?sort?first?c}", "2 3 10 a A b B false"},
		{"${[]?first!'none'} ${[]?last!'none'} ${[]?min!'none'} ${[1, 2.5]?max}", "none none none 2.5"},
		{"${['a', 'b', 'a']?seq_index_of('a')} ${['a', 'b', 'a']?seq_last_index_of('a')} ${['a']?seq_index_of('x')} ${['1', 1]?seq_contains(1)?c}", "0 2 -1 true"},
		{"<#list (1..5)?chunk(2, 0) as c>${c?join('')};</#list>", "12;34;50;"},
		{"<#list ['a', 'b', 'c'] as x>${x?item_parity}${x?item_parity_cap}${x?is_odd_item?c}${x?item_cycle('r', 'g')}<#if x?is_last>.</#if><#if x?is_first>!</#if></#list>", "oddOddtruer!evenEvenfalsegoddOddtruer."},
		{"${({'b': 1, 'a': 2})?keys?join('')} ${({'b': 1, 'a': 2})?values?join('')} ${({'b': 1})?size} ${({} + {'a': 1} + {'a': 2}).a}", "ba 12 1 2"},

		// What may be missing.
		{"${[]?has_content?c}${''?has_content?c}${{}?has_content?c}${0?has_content?c}${none?has_content?c}${false?has_content?c}", "falsefalsefalsetruefalsetrue"},
		{"${(none!)?size} ${(none!)?length} ${(none!)?is_string?c} ${(none!)?is_sequence?c} ${(none!)?is_hash?c}", "0 0 true true true"},
		{"${true?then(1, none.x)} ${'b'?switch('a', 1, 'b', 2)} ${'z'?switch('a', 1, 9)}", "1 2 9"},
	} {
		got, err := renderedWith(tt.source, map[string]any{"holes": []any{nil, "a", nil, "b"}, "gaps": []any{nil, nil}})
		if err != nil || got != tt.want {
			t.Errorf("%s:\ngot  %q %v\nwant %q", tt.source, got, err, tt.want)
		}
	}
}

// TestBuiltinMistakes states what is refused, and with which words.
func TestBuiltinMistakes(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"${1?upper_case?then(1, 2)}", "1:16: ?then requires true or false, not a text"},
		{"${'x'?switch('a', 1)}", "1:7: ?switch has no case for the value, and no default"},
		{"${list?c}", "1:8: ?c requires a number, text, true or false, not a list"},
		{"${yes?string('a')}", `1:7: ?string of true or false takes two texts, as in ?string("yes", "no")`},
		{"${'a'?string('b')}", "1:7: ?string of a text cannot have 1 arguments"},
		{"${.now?date?time}", "1:13: a date is not a time"},
		{"${1?date}", "1:5: ?date requires a text or a date, not a number"},
		{"${'2024-13-01'?date}", `1:16: "2024-13-01" is not a valid date`},
		{"${'1'?date('q')}", `1:7: "q" is not a format for parsing dates`},
		{"${'a'?long}", "1:7: ?long requires a number or a date, not a text"},
		{"${1.5?number_to_date}", "1:7: ?number_to_date requires an integer number of milliseconds, not a number"},
		{"${'a'?abs}", "1:7: ?abs requires a number, not a text"},
		{"${'a'?round}", "1:7: ?round requires a number, not a text"},
		{"${n?index}", "1:5: n is not a loop variable"},
		{"${(1)?index}", "1:7: ?index requires a loop variable"},
		{"${'a'?size}", "1:7: ?size requires a list or a hash, not a text"},
		{"${'a'?first}", "1:7: ?first requires a list, not a text"},
		{"${list?keys}", "1:8: ?keys requires a hash, not a list"},
		{"${list?chunk(0)}", "1:8: ?chunk requires a size of at least 1"},
		{"${list?map('x')?size}", "1:8: ?map requires a function, such as x -> x.title"},
		{"${list?filter(x -> 1)?size}", "1:8: must be true or false, not a number"},
		{"${['a', 1]?sort?size}", "1:12: a number and a text cannot be ordered"},
		{"${rows?sort_by('nope')?size}", "1:8: item 0 of the list has no value to sort by"},
		{"${rows?sort_by(1)?size}", "1:8: ?sort_by requires names, not a number"},
		{"${list?sort_by('k')?size}", "1:8: ?sort_by requires hashes, not a text"},
		{"${[1, 'a']?max}", "1:12: a text and a number cannot be ordered"},
		{"${'a'?replace('', 'x')}", "1:7: ?replace cannot search for an empty text"},
		{"${'a'?replace('a', 'x', 'q')}", `1:7: ?replace has the flags r, i and f, not "q"`},
		{"${'a'?split('')?size}", "1:7: ?split cannot search for an empty text"},
		{"${'a'?split('a', 'r')?size}", `1:7: ?split does not support flags such as "r"`},
		{"${'abc'?substring(2, 1)}", "1:9: the range 2 to 1 is outside a length of 3"},
		{"${'abc'?substring(0, 4)}", "1:9: the range 0 to 4 is outside a length of 3"},
		{"${'0x10'?number}", `1:10: "0x10" is not a number`},
		{"${'NaN'?number}", `1:9: "NaN" is not a number`},
		{"${'maybe'?boolean}", `1:11: "maybe" is neither true nor false`},
		{"${'a'?upper_case('b')}", "1:17: the value?upper_case is a text and cannot be called"},
		{"${'a'?replace}", "1:7: ?replace requires arguments"},
		{"${'a'?replace('b')}", "1:7: ?replace requires 2 to 3 arguments, not 1"},
		{"${'\\q'}", `1:5: there is no \q`},
		{"${'\\x'}", `1:5: \x without a number`},
		{"${list[0.5]}", "1:7: 0.5 is not an integer"},
		{"${list[yes]}", "1:7: expected a name or a number in the brackets, not true or false"},
		{"${'abc'[2..9]}", "1:8: a slice from 2 is outside a length of 3"},
		{"${'abc'[2..0]}", "1:8: a slice of a text cannot go backwards"},
		{"${(1..)?size}", "1:5: a range without an end is only allowed for slices of texts and lists"},
		{"${1.5 .. 2}", "1:3: expected an integer, not a number"},
		{"${{1: 2}?size}", "1:4: expected a text as the key, not a number"},
		{"${-'a'}", "1:3: expected a number after -, not a text"},
		{"${'a' * 2}", "1:7: expected numbers around *, not a text"},
		{"${'b' < 'a'}", "1:7: a text and a text cannot be ordered"},
		{"${[1] + 2}", "1:7: a list cannot be joined with a number"},
		{"${{} + 2}", "1:6: a hash cannot be joined with a number"},
		{"${n(1)}", "1:4: n is a number and cannot be called"},
		{"<#macro m a></#macro><@m b=1 a=2 c=3/>", "1:22: m has no parameter b"},
		{"<#macro m a></#macro><@m 1 2/>", "1:22: m requires 1 arguments, not 2"},
		{"<#macro m a></#macro><@m 1 a=2/>", "1:22: the arguments of a macro must be either all named or all positional"},
		{"<#macro m></#macro><#macro m></#macro>", "1:20: duplicate macro m"},
		{"<#macro m></#macro>${m()}", "1:23: m is a macro: write <@m/>"},
		{"<#macro m a...></#macro>", "1:12: a parameter for a variable number of arguments is not supported"},
		{"<#local a=1>", "1:1: <#local> is outside a macro"},
		{"<#nested>", "1:1: <#nested> is outside a macro"},
		{"<#items as x></#items>", "1:1: <#items> must be in a <#list> without a variable"},
		{"<#list {'a': 1} as x></#list>", "1:8: expected a list, not a hash"},
		{"<#list [1] as k, v></#list>", "1:1: a loop over a hash has two variables, a loop over a list has one"},
		{"<#switch 1>x<#case 1></#switch>", "1:1: expected <#case> after <#switch>"},
		{"<#ftl nope=1>", "1:1: <#ftl nope> is not supported"},
		{"a<#ftl auto_esc=true>", "1:2: <#ftl> must come first"},
		{"<#ftl output_format=n>", "1:21: expected a constant value"},
		{"<#outputformat 'nope'></#outputformat>", "1:16: expected the name of a format: HTML, XHTML, XML or plainText"},
		{"<#noparse>x", "1:1: expected </#noparse>"},
		{"<#setting time_zone='CET'>", `1:1: the time zone is UTC, and cannot be "CET"`},
		{"<#setting output_encoding='latin1'>", `1:1: output_encoding is UTF-8, and cannot be "latin1"`},
	} {
		got, err := rendered("ftl", tt.source)
		if err == nil || err.Error() != "template t:"+tt.want || fault.Of(err) != fault.Invalid {
			t.Errorf("%s:\ngot  %q %v\nwant template t:%s", tt.source, got, err, tt.want)
		}
	}
}

// TestMissing states which part of an expression a default covers: a.b! only the last, (a.b)! all of it.
func TestMissing(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"${Document.nope!'d'}", "d"},
		{"${Document.nope.deeper!'d'}", "template t:1:3: Document.nope is missing: give it a default with !, or test it with ??"},
		{"${(Document.nope.deeper)!'d'}", "d"},
		{"<#if Document.nope??>a<#else>b</#if>", "b"},
		{"<#if (Document.nope.deeper)??>a<#else>b</#if>", "b"},
		{"${(1/0)!'d'}", "template t:1:5: division by zero"}, // only what is missing has a default
		{"${list[99]!'d'} ${'abc'[99]!'d'} ${list[-1]!'d'}", "d d d"},
		{"<#macro m a='x'>${a}</#macro><@m a=none/>", "x"}, // an argument that is missing is not given
		{"<#function f></#function>${f()!'d'}", "d"},
	} {
		got, err := rendered("ftl", tt.source)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.source, got, tt.want)
		}
	}
}

// TestInvalidText checks that texts that are not UTF-8, which files may contain, are cut at bytes without a panic.
func TestInvalidText(t *testing.T) {
	for name := range textBuiltins {
		arguments := strings.Repeat(",'\xfe'", textBuiltins[name].least)
		if arguments != "" {
			arguments = "(" + arguments[1:] + ")"
		}
		for _, s := range []string{"\xff", "a\xff", " \xffa"} {
			_, err := rendered("ftl", "${'"+s+"'?"+name+arguments+"}")
			if err != nil && fault.Of(err) != fault.Invalid {
				t.Errorf("%s of %q: %v", name, s, err)
			}
		}
	}
}

// TestCanceled checks that a rendering ends with the error of its call, within 1,024 steps.
func TestCanceled(t *testing.T) {
	tpl, err := Parse("ftl", "t", "<#list 1..5000 as x>${x}</#list>", testLimits)
	if err != nil {
		t.Fatal(err)
	}
	canceled := errors.New("canceled")
	at := 0
	if _, err = tpl.Render(nil, DefaultLimits, func(steps int) error { at = steps; return canceled }); !errors.Is(err, canceled) || at > 1024+5000*itemSize/64 {
		t.Errorf("%v after %d steps", err, at)
	}
}

func renderedWith(source string, more map[string]any) (string, error) {
	t, err := Parse("ftl", "t", source, testLimits)
	if err != nil {
		return "", err
	}
	variables := model()
	for name, v := range more {
		variables[name] = v
	}
	return t.Render(variables, testLimits, endless)
}
