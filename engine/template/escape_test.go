package template

import (
	"testing"
)

// TestHTMLTemplates holds that templates of HTML escape values, and only values, once.
func TestHTMLTemplates(t *testing.T) {
	for _, tt := range []row{
		{"<b>${Document.title}</b>", "<b>A &lt;b&gt;</b>"},
		{"${'\"'}${\"'\"}${'&amp;'}${'<'?no_esc}", "&quot;&#39;&amp;amp;<"},
		{"<#assign c><i>${'<'}</i></#assign>${c}${c}", "<i>&lt;</i><i>&lt;</i>"},
		{"<#assign c = '<'>${c} ${c?upper_case} ${'<' + '>'} ${\"a${c}\"}", "&lt; &lt; &lt;&gt; a&lt;"},
		{"<#noautoesc>${'<'}<#autoesc>${'<'}</#autoesc></#noautoesc>${'<'}", "<&lt;&lt;"},
		{"<#outputformat 'plainText'>${'<'}</#outputformat><#outputformat 'XML'>${\"'\"}</#outputformat>${\"'\"}", "<&apos;&#39;"},
		{"<#macro m a><u>${a}<#nested></u></#macro><@m '<'>${'&'}</@m>", "<u>&lt;&amp;</u>"},
		{"<#function f a><#return '<' + a></#function>${f('>')}", "&lt;&gt;"},
		{"<#list ['<', '>'] as x>${x}<#sep> & </#list> ${['<', 'b']?join('&')}", "&lt; & &gt; &lt;&amp;b"},
		{"${none!'<'} ${(none.x)!'&'} ${true?then('<', '')} ${'<'?html}", "&lt; &amp; &lt; &amp;lt;"},
		{"<#ftl output_format='plainText'>${'<'}", "<"},
		{"<#ftl auto_esc=false>${'<'}", "<"},
		{"<#ftl output_format='XML'>${\"'<\"}", "&apos;&lt;"},
		{"${1234} ${.now?date} ${yes?c}", "1,234 May 2, 2024 true"},
		{"<a href=\"?q=${'a b&<'?url}\">", "<a href=\"?q=a%20b%26%3C\">"},
		{"<#escape x as x?upper_case>${'<a'}</#escape>", "&lt;A"},
		{"<#noparse>${'<'}</#noparse>", "${'<'}"},
	} {
		if got, err := rendered("ftlh", tt.source); err != nil || got != tt.want {
			t.Errorf("%s:\ngot  %q %v\nwant %q", tt.source, got, err, tt.want)
		}
	}
	for _, tt := range []row{
		{"<#assign c>x</#assign>${c + '<'}", "1:27: escaped text cannot be joined with +: write one after the other"},
		{"\n<#ftl output_format='RTF'>", "2:21: expected the name of a format: HTML, XHTML, XML or plainText"},
	} {
		if got, err := rendered("ftlh", tt.source); err == nil || err.Error() != "template t:"+tt.want {
			t.Errorf("%s:\ngot  %q %v\nwant %s", tt.source, got, err, tt.want)
		}
	}
}

// TestEscapeBlocks holds which <#escape> counts where: by the source, from the inside out, and not within macros.
func TestEscapeBlocks(t *testing.T) {
	plays(t, []row{
		{"<#escape x as x?html>${'<'}<#escape y as y + '!'>${'<'}</#escape>${'>'}</#escape>${'<'}", "&lt;&lt;!&gt;<"},
		{"<#escape x as x?upper_case><#noescape>${'a'}<#escape x as x + x>${'b'}</#escape></#noescape>${'c'}</#escape>", "abbC"},
		{"<#macro m>${'<'}</#macro><#escape x as x?html><@m/>${'<'}</#escape>", "<&lt;"},
		{"<#escape x as x?html><@m>${'<'}</@m></#escape><#macro m>[<#nested>]</#macro>", "[&lt;]"},
		{"<#assign x = 'kept'><#escape x as x?upper_case>${'a'}</#escape>${x}", "Akept"},
		{"<#escape x as '(' + x + ')'><#list 1..2 as i>${i}</#list></#escape>", "(1)(2)"},
		{"<#escape x as x!'-'>${none}${'a'}</#escape>", "-a"},
	})
}

// TestMacros plays macros and functions: defaults, scopes, bodies, recursion, and calls before the definition.
func TestMacros(t *testing.T) {
	plays(t, []row{
		{"<@greet 'Joe'/> <@greet person='Ann' color='red'/><#macro greet person color='black'>${person}:${color}</#macro>", "Joe:black Ann:red"},
		{"<#macro m a b=a + 1>${a}${b}</#macro><@m 1/> <@m 1 5/> <@m a=2/>", "12 15 23"},
		{"<#assign x = 1><#macro m><#local x = 2>${x}<#assign y = 3></#macro><@m/>${x}${y}", "213"},
		{"<#macro m x><#local x = x + 1>${x}</#macro><#assign x = 5><@m 1/>${x}<@m x/>", "256"},
		{"<#macro m><#local c>in</#local>${c}</#macro><@m/>${c!'-'}", "in-"},
		{"<#macro rep n><#list 1..n as i><#nested i, i * i, i == n></#list></#macro><@rep 3; i, sq, last>${i}${sq}<#if !last>,</#if></@rep>", "11,24,39"},
		{"<#macro a>(<#nested>)</#macro><#macro b><@a><#nested></@a></#macro><@b>x<@a>y</@a></@b>", "(x(y))"},
		{"<#macro a><#nested><#nested></#macro><#assign n = 0><@a><#assign n += 1>${n}</@a>", "12"},
		{"<#macro m>a<#return>b</#macro><@m/>c", "ac"},
		{"<#macro m><#list 1..3 as x>${x}<#if x == 2><#return></#if></#list></#macro><@m/>.", "12."},
		{"<#macro m></#macro><@m>ignored</@m>|<#macro n>[<#nested>]</#macro><@n/>", "|[]"},
		{"<#function fact n><#if n lte 1><#return 1></#if><#return n * fact(n - 1)></#function>${fact(5)} ${fact(1)}", "120 1"},
		{"<#function f a b='x'>ignored<#return a + b></#function>${f('1')}${f('1', '2')}${f('a')?length}", "1x122"},
		{"<#function none></#function>${none()!'nothing'}", "nothing"},
		{"<#function f(a, b=2)><#return a * b></#function>${f(2)} ${f(2, 3)} ${[1, 2]?map(x -> f(x))?join(' ')}", "4 6 2 4"},
		{"<#macro tree n><#if n gt 0>(<@tree n - 1/>)</#if></#macro><@tree 3/>", "((()))"},
		{"<#macro 'my-m' a>${a}</#macro><@m/><#macro m>m</#macro>", "m"},
		{"<@m a=1 ; b>${b}</@m><#macro m a><#nested a + 1></#macro>", "2"},
		{"<#list 1..2 as x><@m x>${x}</@m></#list><#macro m v>${v * 10}<#nested></#macro>", "101202"},
		{"<#assign f = 'v'><#macro m f>${f}</#macro><@m 'p'/>${f} ${m?is_macro?c} ${f?is_macro?c}", "pv true false"},
	})
	refuses(t, []row{
		{"<#function f><#return f()!1></#function><@f/>", "1:41: unknown macro f"},
		{"<#function f a><#return a></#function>${f()}", "1:42: f requires a"},
		{"<#function f a><#return a></#function>${f(1, 2)}", "1:42: f requires 1 arguments, not 2"},
		{"<#macro m><#local x = 1></#macro><@m/>${x}", "1:41: x is missing: give it a default with !, or test it with ??"},
		{"<@m><#local x = 1></@m><#macro m><#nested></#macro>", "1:5: <#local> is outside a macro"},
		{"<#macro m><#nested 1></#macro><@m; x, y>${x}${y}</@m>", "1:47: y is missing: give it a default with !, or test it with ??"},
		{"<@m></@n><#macro m></#macro>", "1:9: expected </@m>, not </@n>"},
		{"<@m>", "1:5: </@> is missing at the end of the template"},
		{"<#macro m>", "1:11: </#macro> is missing at the end of the template"},
		{"<#return>", "1:1: <#return> is outside a matching directive"},
		{"<#macro></#macro>", "1:8: expected the name of the macro, not the end of the tag"},
		{"<#function f></#function><#function f></#function>", "1:26: duplicate function f"},
	})
}

// TestWhitespace holds which lines are left out: those of nothing but tags, comments and definitions.
func TestWhitespace(t *testing.T) {
	plays(t, []row{
		{"a\n<#if true>\nb\n</#if>\nc", "a\nb\nc"},
		{"a\r\n<#if true>\r\nb\r\n</#if>\r\nc", "a\r\nb\r\nc"},
		{"  <#if true>x</#if>\n", "  x\n"},
		{"\t<#assign x = 1>\t<#assign y = 2>  \n${x}${y}\n", "12\n"},
		{"<#macro m>\n  in\n</#macro>\n<@m/>\nout\n", "  in\nout\n"},
		{"<#-- a -->\n<#-- b\nc -->\nd", "d"},
		{"<#list 1..2 as x>\n* ${x}\n</#list>\nend", "* 1\n* 2\nend"},
		{"<#list 1..3 as x>${x}<#sep>,\n</#list>", "1,\n2,\n3"},
		{"${1}\n\n${2}\n", "1\n\n2\n"},
		{"\n<#if false>\nx\n<#elseif true>\ny\n<#else>\nz\n</#if>\n", "\ny\n"},
		{"<#assign x>\n a\n</#assign>\n[${x}]", "[ a\n]"},
		{"<#noparse>\n${x}\n</#noparse>\n", "${x}\n"},
		{"<#switch 1>\n<#case 1>\none\n<#break>\n<#default>\nd\n</#switch>\n", "one\n"},
		{"\ufeff<#assign x = 1>\n${x}", "1"},
	})
}
