package template

import "testing"

// TestManualLists plays sequences and hashes: slices, ranges, sorting, searching, and what is made of them.
func TestManualLists(t *testing.T) {
	plays(t, []row{
		{"<#assign s = ['A', 'B', 'C', 'D', 'E']>${s[1..3]?join('')} ${s[1..<3]?join('')} ${s[3..]?join('')} ${s[5..]?size} ${s[1..*2]?join('')} ${s[4..*9]?join('')}", "BCD BC DE 0 BC E"},
		// The items of a part are in the order of the numbers of the range.
		{"<#assign s = ['A', 'B', 'C', 'D', 'E']>${s[3..1]?join('')} ${s[4..0]?join('')} ${s[3..<1]?join('')} ${s[2..*-2]?join('')} ${s[0..0]?join('')} ${s[1..*-9]?join('')}", "DCB EDCBA DC CB A BA"},
		{"${(0..3)?join(' ')} ${(3..0)?join(' ')} ${(0..<3)?join(' ')} ${(2..*3)?join(' ')} ${(2..*-3)?join(' ')}", "0 1 2 3 3 2 1 0 0 1 2 2 3 4 2 1 0"},
		{"${(1..<1)?size} ${(1..1)?size} ${(0..!2)?join(' ')} ${(1..*0)?size} ${(-1..1)?join(' ')}", "0 1 0 1 0 -1 0 1"},
		{"${([1, 2] + [3])?join('')} ${[[1], [2, 3]]?size} ${[[1], [2, 3]][1][1]} ${[1, 2, 3]?reverse?join('')} ${[]?reverse?size}", "123 2 3 321 0"},
		{"${['x', 16, 'y', 20]?seq_contains(16)?c} ${['x', '16']?seq_contains(16)?c} ${[1, 1.0]?seq_index_of(1)} ${[true, false]?seq_index_of(false)}", "true false 0 1"},
		{"${['b', 'a', 'b']?seq_index_of('b')} ${['b', 'a', 'b']?seq_last_index_of('b')} ${[]?seq_index_of('x')} ${[]?seq_contains('x')?c}", "0 2 -1 false"},
		{"${['whale', 'Barbara', 'zeppelin', 'aardvark', 'beetroot']?sort?join(' ')} ${[10, 9, 1.5]?sort?join(' ')}", "aardvark Barbara beetroot whale zeppelin 1.5 9 10"},
		{"<#assign l = [{'n': {'f': 'Joe', 'l': 'Smith'}}, {'n': {'f': 'Fred', 'l': 'Ant'}}]><#list l?sort_by(['n', 'l']) as u>${u.n.f} </#list>", "Fred Joe "},
		{"<#list rows?sort_by('n')?reverse as r>${r.k}</#list> ${rows?sort_by('n')?map(r -> r.k)?join('')}", "ba ab"},
		{"${['a', 'b', 'c', 'd', 'e']?chunk(2)?map(c -> c?join(''))?join('|')} ${['a', 'b', 'c']?chunk(2, '-')?map(c -> c?join(''))?join('|')} ${[]?chunk(3)?size}", "ab|cd|e ab|c- 0"},
		{"${['a', 'b']?chunk(2)?size} ${['a', 'b', 'c']?chunk(3, 'x')?first?size} ${[1, 2, 3]?chunk(9)?first?join('')}", "1 3 123"},
		{"${[1, 2, 3, 4]?filter(x -> x % 2 == 0)?map(x -> x * x)?join(' ')} ${[]?map(x -> x.y)?size} ${[3]?filter(x -> x > 5)?size}", "4 16 0 0"},
		{"<#assign k = 10>${[1, 2]?map(x -> x + k)?join(' ')} ${[1]?map(k -> k)?join('')} ${k}", "11 12 1 10"},
		{"${['a', 'b']?join(', ')} ${[]?join(', ')}. ${[]?join(', ', 'none')} ${['a', 'b']?join(', ', 'none', '!')} ${[1, 1000]?join(' ')}", "a, b . none a, b! 1 1,000"},
		{"${['a']?first} ${['a', 'b']?last} ${'a'?is_sequence?c} ${[]?is_sequence?c} ${[]?is_enumerable?c} ${{}?is_hash_ex?c}", "a b false true true true"},
		{"<#assign h = {'name': 'mouse', 'price': 50}>${h.name} ${h['price']} ${h?keys?join('+')} ${h?values?join('+')} ${h?size} ${h.nope!'-'}", "mouse 50 name+price mouse+50 2 -"},
		{"<#assign a = {'Joe': 23, 'Fred': 25} + {'Joe': 30, 'Julia': 18}><#list a as n, v>${n}=${v};</#list>", "Joe=30;Fred=25;Julia=18;"},
		{"<#assign a = {'x': 1}><#assign b = a + {'x': 2}>${a.x}${b.x} <#assign s = [1]><#assign u = s + [2]>${s?size}${u?size}", "12 12"},
		{"${{'a': {'b': [10, 20]}}.a.b[1]} ${{'a-b': 1}['a-b']} ${{'a': 1}['a']} ${({'if': 1}).if}", "20 1 1 1"},
		{"${rows[0].k}${rows[1]['k']} ${rows?first.n} ${names[1]} ${(list?size - 1)} ${list[list?size - 1]}", "ba 2 y 2 b"},
		{"<#list ['a', 'b'] as x>${x?index}${x?counter}${x?has_next?c} </#list>", "01true 12false "},
		{"<#list 1..4 as x>${x?item_cycle('a', 'b', 'c')}${x?is_even_item?c[0]}${x?is_odd_item?c[0]} </#list>", "aft btf cft atf "},
	})
	refuses(t, []row{
		{"${list[1..3]?size}", "1:7: a slice from 1 is outside a length of 3"},
		{"${list[4..]?size}", "1:7: a slice from 4 is outside a length of 3"},
		{"${list[-1..1]?size}", "1:7: a slice from -1 is outside a length of 3"},
		{"${list[3..1]?size}", "1:7: a slice from 3 is outside a length of 3"},
		{"${list[1..-1]?size}", "1:7: a slice from 1 is outside a length of 3"},
		{"${{'a': 1}[0]}", "1:11: expected a list before the bracket, not a hash"},
		{"${n.x}", "1:4: n is a number, which has no x"},
		{"${list.x}", "1:7: list is a list, which has no x"},
		{"<#list none as x></#list>", "1:8: none is missing: give it a default with !, or test it with ??"},
		{"${list?join}", "1:8: ?join requires arguments"},
		{"${list?sort(1)?size}", "1:12: list?sort is a list and cannot be called"},
		{"${[none]?size}", "1:4: none is missing: give it a default with !, or test it with ??"},
		{"${{'a': none}?size}", "1:9: none is missing: give it a default with !, or test it with ??"},
		{"${[1, none.x!]?size}", "1:7: none is missing: give it a default with !, or test it with ??"},
		{"${list?map(x -> x.y)?size}", "1:18: x is a text, which has no y"},
	})
}

// TestManualLoops plays loops: variables that hide others, separators, ends, and loops within loops.
func TestManualLoops(t *testing.T) {
	plays(t, []row{
		{"<#assign x = 'o'><#list 1..2 as x>${x}</#list>${x}", "12o"},
		{"<#list 1..2 as x><#list 3..4 as x>${x}</#list>${x};</#list>", "341;342;"},
		{"<#list 1..2 as x><#list 1..2 as y>${x}${y}${x?index}${y?index}<#sep>,</#list><#sep>;</#list>", "1100,1201;2110,2211"},
		{"<#list 1..3 as x><#if x == 2><#continue></#if>${x}<#sep>,</#list>", "1,3"},
		{"<#list 1..9 as x><#if x == 3><#break></#if>${x}</#list>!", "12!"},
		{"<#list 1..2 as x><#list 1..9 as y><#if y == 2><#break></#if>${x}${y} </#list></#list>", "11 21 "},
		{"<#list 1..3 as x><#switch x><#case 2>two<#break><#default>${x}</#switch></#list>", "1two3"},
		{"<#list 1..3 as x><#switch x><#case 2><#continue></#switch>${x}</#list>", "13"},
		{"<#list []><p><#items as x>${x}</#items></p><#else>none</#list>|<#list [1, 2]><p><#items as x>${x}<#sep>, </#items></p><#else>none</#list>", "none|<p>1, 2</p>"},
		{"<#list [[1, 2], [3]]><#items as r><#list r><#items as c>${c}<#sep>,</#items></#list><#sep>;</#items></#list>", "1,2;3"},
		{"<#list {'a': 1, 'b': 2} as k, v>${k?index}${k}${v}<#sep>,</#list> <#list {} as k, v>x<#else>empty</#list>", "0a1,1b2 empty"},
		{"<#list {'a': 1, 'b': 2}><#items as k, v>${k}${v}<#sep>;</#items></#list>", "a1;b2"},
		{"<#list {'b': 1, 'a': 2}?keys as k>${k}</#list> <#list ({'b': 1})?values as v>${v}</#list>", "ba 1"},
		{"<#list list as x>${x_index}${x_has_next?c} </#list>", "0true 1true 2false "},
		{"<#list list?filter(x -> x != 'a') as x>${x?index}${x}${x?is_last?c[0]} </#list>", "0cf 1bt "},
		{"<#assign total = 0><#list 1..10 as i><#assign total += i></#list>${total}", "55"},
		{"<#foreach x in [1, 2]>${x}<#sep>,</#foreach>", "1,2"},
		{"<#list (1..3)?reverse as x>${x}</#list><#list [] as x>x</#list><#list 1..<1 as x>x</#list>", "321"},
		{"<#list 'a b c'?split(' ') as x>${x?counter}${x}</#list>", "1a2b3c"},
		{"<#list none![] as x>x<#else>nothing</#list> <#list none! as x>x<#else>nothing</#list>", "nothing nothing"},
		{"<#list [1, 2] as x>${x}<#else>none</#list>", "12"},
		{"<#list 1..3 as x><#if x != 9>${x}<#sep>, </#if></#list> <#list 1..2 as x><#switch x><#case 1>one<#sep>, </#switch></#list>", "1, 2, 3 one, "},
		{"<#macro m><#list 1..2 as i><#nested i></#list></#macro><#list ['a', 'b'] as x><@m; i>${x}${i}<#sep>,</#sep> </@m></#list>", "a1, a2, b1 b2 "},
		{"<#list [1, 2]>a<#break>b<#items as x>${x}</#items></#list>c <#list [1, 2, 3]><#items as x><#if x == 2><#break></#if>${x}</#items>.</#list>", "ac 1."},
		{"<#list 1..3 as x>${x?item_parity}<#sep> </#list>", "odd even odd"},
	})
	refuses(t, []row{
		{"<#list 1..2 as x></#list>${x?index}", "1:30: x is not a loop variable"},
		{"<#list 1..2 as x, y></#list>", "1:1: a loop over a hash has two variables, a loop over a list has one"},
		{"<#list {'a': 1} as k></#list>", "1:8: expected a list, not a hash"},
		{"<#list as x></#list>", "1:11: expected the end of the tag, not x"},
		{"<#list 1..2 as></#list>", "1:15: expected the name of a variable, not the end of the tag"},
		{"<#sep>,", "1:1: <#sep> is not expected here"},
		{"<#continue>", "1:1: <#continue> is outside a matching directive"},
		{"<#list 1..2 as x><#else><#else></#list>", "1:25: <#else> is not expected here"},
		{"<#list 'abc' as x></#list>", "1:8: expected a list, not a text"},
		{"<#list [1]><#continue><#items as x></#items></#list>", "1:12: <#continue> is outside a matching directive"},
		{"<#list [] as x><#else><#break></#list>", "1:23: <#break> is outside a matching directive"},
		{"<#switch 1><#case 1><#continue></#switch>", "1:21: <#continue> is outside a matching directive"},
		{"<#foreach x of list></#foreach>", "1:13: expected in, not of"},
		// What a macro is called from does not reach into it.
		{"<#macro m><#break></#macro><#list 1..3 as x>${x}<@m/></#list>", "1:11: <#break> is outside a matching directive"},
		{"<#list 1..3 as x><#macro m><#break></#macro><@m/></#list>", "1:28: <#break> is outside a matching directive"},
		{"<#switch 1><#case 1><#function f><#break></#function></#switch>", "1:34: <#break> is outside a matching directive"},
		{"<#list 1..3 as x><#function f><#sep>,</#sep></#function></#list>", "1:31: <#sep> is not expected here"},
		{"<#macro m><#items as y>${y}</#items></#macro><#list [1, 2]><@m/></#list>", "1:11: <#items> must be in a <#list> without a variable"},
		{"<#macro m><#sep>,</#sep></#macro><#list [1, 2] as x><@m/></#list>", "1:11: <#sep> is not expected here"},
		{"<#macro m>${x?index}</#macro><#list [1, 2] as x><@m/></#list>", "1:15: x is not a loop variable"},
		{"<#macro m>${x}</#macro><#list [1, 2] as x><@m/></#list>", "1:13: x is missing: give it a default with !, or test it with ??"},
	})
}
