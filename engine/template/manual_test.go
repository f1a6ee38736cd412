package template

import (
	"testing"

	"catena/storage/fault"
)

// row is a template and what it renders, or the error that it ends with.
type row struct{ source, want string }

// plays renders rows of FTL with the variables of model.
func plays(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		if got, err := rendered("ftl", tt.source); err != nil || got != tt.want {
			t.Errorf("%s:\ngot  %q %v\nwant %q", tt.source, got, err, tt.want)
		}
	}
}

// refuses expects rows of FTL to end with errors of kind Invalid.
func refuses(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		if got, err := rendered("ftl", tt.source); err == nil || err.Error() != "template t:"+tt.want || fault.Of(err) != fault.Invalid {
			t.Errorf("%s:\ngot  %q %v\nwant template t:%s", tt.source, got, err, tt.want)
		}
	}
}

// TestManualTexts plays the examples that the manual of FreeMarker has for the built-ins of texts, and their edges.
func TestManualTexts(t *testing.T) {
	plays(t, []row{
		{"[${''?left_pad(5)}][${'a'?left_pad(5)}][${'abcde'?left_pad(5)}][${'abcdef'?left_pad(5)}]", "[     ][    a][abcde][abcdef]"},
		{"[${''?left_pad(5, '-')}][${'abc'?left_pad(5, '-')}][${'abcdef'?left_pad(5, '-')}]", "[-----][--abc][abcdef]"},
		{"[${''?left_pad(8, '.oO')}][${'a'?left_pad(8, '.oO')}][${'ab'?left_pad(8, '.oO')}]", "[.oO.oO.o][.oO.oO.a][.oO.oOab]"},
		{"[${'abc'?left_pad(8, '.oO')}][${'abcd'?left_pad(8, '.oO')}]", "[.oO.oabc][.oO.abcd]"},
		{"[${''?right_pad(5)}][${'a'?right_pad(5)}][${'abcde'?right_pad(5)}][${'abcdef'?right_pad(5)}]", "[     ][a    ][abcde][abcdef]"},
		// The filler of ?right_pad begins at the left edge of the column, behind the text.
		{"[${''?right_pad(8, '.oO')}][${'a'?right_pad(8, '.oO')}][${'ab'?right_pad(8, '.oO')}]", "[.oO.oO.o][aoO.oO.o][abO.oO.o]"},
		{"[${'abc'?right_pad(8, '.oO')}][${'abcd'?right_pad(8, '.oO')}]", "[abc.oO.o][abcdoO.o]"},
		{"${'abba'?replace('b', 'xy')} ${'abba'?replace('bb', '')} ${'aaa'?replace('aa', 'b')}", "axyxya aa ba"},
		{"${'foobar fooob'?replace('^foo', 'X', 'r')} ${'A1b2'?replace('[a-z]', '_', 'ri')} ${'aa'?replace('a', 'b', 'rf')}", "Xbar fooob _1_2 ba"},
		{"<#list 'someMOOtestMOOtext'?split('MOO') as x>- ${x}\n</#list>", "- some\n- test\n- text\n"},
		{"${'a,b,'?split(',')?size} ${',a'?split(',')?first?length} ${'abc'?split(',')?join('|')}", "3 0 abc"},
		{"${'  green mouse'?cap_first}|${'GreEN mouse'?cap_first}|${'- green mouse'?cap_first}", "  Green mouse|GreEN mouse|- green mouse"},
		{"${'  green  mouse'?capitalize}|${'GreEN mouse'?capitalize}|${' Green Mouse'?uncap_first}", "  Green  Mouse|Green Mouse| green Mouse"},
		{"${'abcabc'?index_of('bc')} ${'abcabc'?last_index_of('bc')} ${'abc'?index_of('')} ${'abc'?contains('')?c} ${''?contains('a')?c}", "1 4 0 true false"},
		{"${'redirect'?starts_with('red')?c} ${'ahead'?ends_with('head')?c} ${'head'?ends_with('ahead')?c} ${'Red'?starts_with('red')?c}", "true true false false"},
		{"${'http://x'?ensure_starts_with('http://')} ${'foo'?ensure_ends_with('/')} ${'foo/'?ensure_ends_with('/')} ${''?ensure_ends_with('/')}", "http://x foo/ foo/ /"},
		{"${'abcba'?keep_after('b')} ${'abcba'?keep_after_last('b')} ${'abcba'?keep_before('b')} ${'abcba'?keep_before_last('b')}", "cba a a abc"},
		{"${'foobarfoo'?remove_beginning('foo')} ${'foobarfoo'?remove_ending('foo')} ${'foo'?remove_beginning('foo')}.", "barfoo foobar ."},
		{"${'ÄÖ'?lower_case} ${'äö'?upper_case} ${'äö'?cap_first} ${'ÄÖ'?uncap_first} ${'日本'?length} ${'a😀b'?length}", "äö ÄÖ Äö äÖ 2 3"},
		{"${'abc'?substring(0)} ${'abc'?substring(3)}.${'abc'?substring(1, 1)}.${'aäb'?substring(1, 2)}", "abc ..ä"},
		{"${'hello'[0]}${'hello'[4]} ${'hello'[1..2]} ${'hello'[1..<3]} ${'hello'[1..*3]} ${'hello'[3..]} ${'hello'[5..]}.", "ho el el ell lo ."},
		{"${'\\t'?trim}${' a b '?trim}|${'\\na\\n'?trim}", "a b|a"},
		{"${'a b&c?d=e/f'?url} ${'a/b c'?url_path} ${'-_.~'?url}", "a%20b%26c%3Fd%3De%2Ff a/b%20c -_.~"},
		{"${'<a href=\"x\">&amp;'?html} ${\"it's\"?xml} ${''?html}.", "&lt;a href=&quot;x&quot;&gt;&amp;amp; it&apos;s ."},
		{`${'a"b\\c'?json_string} ${"it's"?json_string} ${'\t'?json_string}`, `a\"b\\c it's \t`},
		{`${'"'?js_string} ${"'"?js_string} ${'</x'?js_string}`, `\" \' \u003C\/x`},
		{"${'1'?number + '2'?number} ${'1' + '2'} ${1 + '2'} ${'-1.5'?number?abs}", "3 12 12 1.5"},
		{"${'true'?boolean?then('a', 'b')} ${('x' == 'true')?then('a', 'b')}", "a b"},
		{"${'one two  three'?word_list?size} ${''?word_list?size} ${'\\n a\\tb '?word_list?join('+')}", "3 0 a+b"},
	})
}

// TestManualNumbers plays numbers: arithmetic, rounding, and patterns as those of DecimalFormat.
func TestManualNumbers(t *testing.T) {
	plays(t, []row{
		{"${0?floor} ${1?floor} ${1.1?floor} ${1.5?floor} ${1.9?floor} ${(-1.1)?floor}", "0 1 1 1 1 -2"},
		{"${0?ceiling} ${1.1?ceiling} ${(-1.1)?ceiling} ${0?round} ${1.5?round} ${1.4?round} ${(-1.5)?round} ${(-1.6)?round}", "0 2 -1 0 2 1 -1 -2"},
		{"${(-0.4)?round} ${(-0.4)?ceiling} ${(-0.4)?int} ${0.5?round} ${(-0.5)?round}", "0 0 0 1 0"},
		{"${5 % 2} ${-5 % 2} ${5 % -2} ${5 / 2} ${6 / 3} ${2 * 1.5} ${0.1 * 3} ${1 - 0.9}", "1 -1 1 2.5 2 3 0.3 0.1"},
		{"${7.9 % 3} ${-7.9 % 3}", "1 -1"}, // both sides are cut to integers
		{"${1 + 2 * 3} ${(1 + 2) * 3} ${10 - 2 - 3} ${100 / 10 / 5} ${2 - -2} ${-2 + 5} ${+3}", "7 9 5 2 4 3 3"},
		{"${1000} ${1000?c} ${1000000.5} ${-1234.5} ${0.0001} ${0.0005} ${0.0015} ${12345.6785}", "1,000 1000 1,000,000.5 -1,234.5 0 0 0.002 12,345.678"},
		{"${1.0} ${1.50} ${100.0?c} ${0.10?c} ${1234567.891?c}", "1 1.5 100 0.1 1234567.891"},
		{"${1.2345?string('0.##')} ${1?string('0.##')} ${1?string('0.00')} ${0.5?string('#.##')} ${0?string('#')}", "1.23 1 1.00 .5 0"},
		{"${1234567?string(',##0')} ${1234567?string('#,###')} ${1234567?string('0')} ${12?string('#,##0000')} ${7?string('000')}", "1,234,567 1,234,567 1234567 0012 007"},
		{"${0.5?string('0')} ${1.5?string('0')} ${2.5?string('0')} ${(-1.5)?string('0')} ${0.045?string('0.00')} ${0.055?string('0.00')}", "0 2 2 -2 0.04 0.06"},
		{"${0.25?string.percent} ${1.234?string.percent} ${0.5?string('0.0%')} ${0.001?string('0‰')} ${12.34?string('0.00 EUR')}", "25% 123% 50.0% 1‰ 12.34 EUR"},
		{"${9.999?string('0.00')} ${999.5?string('#,##0')} ${0.999?string('0.0')} ${(-0.04)?string('0.0')} ${99999.99?string('#,##0.0')}", "10.00 1,000 1.0 0.0 100,000.0"},
		{"<#setting number_format='0.00'>${1} ${1?c} <#setting number_format='computer'>${1000000}<#setting number_format='number'> ${1000000}", "1.00 1 1000000 1,000,000"},
		{"${(1 < 2)?c} ${(1.0 == 1)?c} ${(2 lte 2)?c} ${(2 gte 3)?c} ${(1 != 1.0)?c} ${(1 &lt; 2)?c} ${('a' == 'a')?c}", "true true true false false true true"},
		{"${1?is_number?c} ${'1'?is_number?c} ${[1, 3, 2]?max} ${[1, 3, 2]?min} ${[]?max!'-'} ${[-1, -2.5]?min}", "true false 3 1 - -2.5"},
		{"${9007199254740993 + 0} ${9007199254740993 - 1} ${(9223372036854775807)?c} ${(3 * 3)?c}", "9,007,199,254,740,993 9,007,199,254,740,992 9223372036854775807 9"},
		{"<#assign x = 5><#assign x += 2><#assign x -= 1><#assign x *= 3><#assign x /= 2><#assign x %= 5>${x}<#assign x++><#assign x-->${x}", "44"},
	})
	refuses(t, []row{
		{"${1 % 0}", "1:5: division by zero"},
		{"${1?string('0E0')}", `1:5: "0E0" is not a number format`},
		{"${1?string('0,.0')}", `1:5: "0,.0" is not a number format`},
		{"${1?string('0#')}", `1:5: "0#" is not a number format`},
		{"${1?string('0.#0')}", `1:5: "0.#0" is not a number format`},
		{"${1?string('abc')}", `1:5: "abc" is not a number format`},
		{"${1?string('0%%')}", `1:5: "0%%" is not a number format`},
		{"<#setting number_format='nope'>${1}", `1:34: "nope" is not a number format`},
		{"${''?number}", `1:6: "" is not a number`},
		{"${'1,000'?number}", `1:11: "1,000" is not a number`},
		{"${'1 2'?number}", `1:9: "1 2" is not a number`},
	})
}

// TestManualDates plays dates: formats by name and by pattern, reading, comparing and settings. Everything is in UTC.
func TestManualDates(t *testing.T) {
	plays(t, []row{
		{"${.now?string('yyyy-MM-dd HH:mm:ss')} ${.now?string('dd.MM.yy')} ${.now?string('EEE, d MMM yyyy')}", "2024-05-02 15:04:09 02.05.24 Thu, 2 May 2024"},
		{"${.now?string('EEEE, MMMM dd')} ${.now?string.medium_short}", "Thursday, May 02 May 2, 2024, 3:04 PM"},
		{"${.now?string('h:mm a')} ${.now?string('hh')} ${.now?string('H')} ${.now?string(\"HH'h'mm\")} ${.now?string(\"yyyy'T'\")} ${.now?string('M/d')}", "3:04 PM 03 15 15h04 2024T 5/2"},
		{"${.now?string.short} | ${.now?string.medium} | ${.now?string.long}", "5/2/24, 3:04 PM | May 2, 2024, 3:04:09 PM | May 2, 2024, 3:04:09 PM UTC"},
		{"${.now?date?string.short} ${.now?date?string.medium} ${.now?date?string.full} ${.now?time?string.medium}", "5/2/24 May 2, 2024 Thursday, May 2, 2024 3:04:09 PM"},
		{"${.now?string.iso} ${.now?string.xs} ${.now?date?string.iso} ${.now?time?string.iso}", "2024-05-02T15:04:09Z 2024-05-02T15:04:09Z 2024-05-02 15:04:09Z"},
		{"${'2024-02-29'?date} ${'2024-02-29T23:59:59Z'?datetime?string.iso} ${'10/25/1995'?date('MM/dd/yyyy')?string.iso}", "Feb 29, 2024 2024-02-29T23:59:59Z 1995-10-25"},
		{"${'15:05:30'?time('HH:mm:ss')?string('h:mm')} ${'10/25/1995 03:05 PM'?datetime('MM/dd/yyyy hh:mm a')?string.iso}", "3:05 1995-10-25T15:05:00Z"},
		{"${('2024-01-02'?date > '2024-01-01'?date)?c} ${('2024-01-02'?date == '2024-01-02'?date)?c} ${('10:00:00'?time < '09:00:00'?time)?c}", "true true false"},
		{"${'1970-01-01'?date?long} ${0?number_to_datetime?string.iso} ${(-1)?number_to_datetime?string('yyyy')} ${1305575275540?number_to_date?string.iso}", "0 1970-01-01T00:00:00Z 1969 2011-05-16"},
		{"<#setting date_format='yyyy'><#setting time_format='HH'>${.now?date} ${.now?time} ${.now}", "2024 15 May 2, 2024, 3:04:09 PM"},
		{"<#setting datetime_format='iso'>${.now} <#setting datetime_format='short_long'>${.now}", "2024-05-02T15:04:09Z 5/2/24, 3:04:09 PM UTC"},
		{"<#setting datetime_format='iso'><#setting datetime_format=''>${.now}", "May 2, 2024, 3:04:09 PM"},
		{"${CurrentDate?date?is_date_only?c} ${CurrentDate?is_datetime?c} ${CurrentDate?iso_utc} ${Document['dc:created']?date}", "true true 2024-05-02T15:04:09Z May 2, 2024"},
		{"${'20240502'?date('yyyyMMdd')?string.iso} ${'2/5/24'?date('d/M/yy')?string.iso} ${'5 May 2024'?date('d MMM yyyy')?string.iso}", "2024-05-02 2024-05-02 2024-05-05"},
		{"${'2024_05_02'?date('yyyy_MM_dd')?string.iso} ${'2024-05-02 15:04:09.123'?datetime('yyyy-MM-dd HH:mm:ss.SSS')?long?c}", "2024-05-02 1714662249123"},
		{"${'05_2024'?date('MM_yyyy')?string.iso} ${.now + 1} ${('2024-05-02'?date < .now)?c}", "2024-05-01 May 2, 2024, 3:04:09 PM1 true"},
		{"${'2024-05-02T15:04:09-05:00'?datetime('yyyy-MM-dd\\'T\\'HH:mm:ssXXX')?string.iso} ${[.now, '2020-01-01T00:00:00Z'?datetime]?min?string('yyyy')}", "2024-05-02T20:04:09Z 2020"},
	})
	refuses(t, []row{
		{"${'2023-02-29'?date}", `1:16: "2023-02-29" is not a valid date`},
		{"${'24:00:00'?time}", `1:14: "24:00:00" is not a valid time`},
		{"${''?datetime}", `1:6: "" is not a valid datetime`},
		{"${'x'?date('yyyy')}", `1:7: "x" is not a valid date`},
		{"${(.now == 1)?c}", "1:9: a datetime and a number cannot be compared"},
		{"${(.now?date < .now?time)?c}", "1:14: a date and a time cannot be ordered"},
		{"${.now?time?date}", "1:13: a time is not a date"},
		{"${(.now < .now?time)?c}", "1:9: a datetime and a time cannot be ordered"},
		{"${(.now == '10:00:00'?time)?c}", "1:9: a datetime and a time cannot be compared"},
		{"${'20240502150409123'?datetime('yyyyMMddHHmmssSSS')}", `1:23: "yyyyMMddHHmmssSSS" is not a format for parsing dates`},
		{"${'2024_5_2'?date('yyyy_M_d')}", `1:14: "yyyy_M_d" is not a format for parsing dates`},
		{"${'a'?iso_utc}", "1:7: ?iso_utc requires a date, not a text"},
		{"${.now?string('QQ')}", `1:8: "QQ" is not a date format`},
		{"${.now?string.iso_nz}", `1:8: "iso_nz" is not a date format`},
	})
}
