package decktest

import "fmt"

// mutants are attacks that only begin to act when a browser writes them down and reads them
// again: what is text in one context is an element in another.
func mutants() (out []string) {
	outer := []string{
		"%s", "<svg>%s</svg>", "<math>%s</math>", "<svg><desc>%s</desc></svg>", "<svg><foreignObject>%s</foreignObject></svg>", "<svg><title>%s</title></svg>", "<math><mtext>%s</mtext></math>",
		`<math><annotation-xml encoding="text/html">%s</annotation-xml></math>`, "<math><mtext><table><mglyph>%s", "<form><math><mtext></form><form><mglyph>%s", "<svg></p>%s", "<math></p>%s",
		"<template>%s</template>", "<table>%s</table>", "<select>%s</select>", "<ul><li><table><tr>%s", "<b><p><i></b>%s", "<noscript>%s</noscript>", "<svg><style>%s</style></svg>", "<p><svg><![CDATA[%s]]></svg>",
	}
	inner := []string{
		"<style><!--</style><img src=x onerror=HIT>-->", "<style><a title=\"</style><img src=x onerror=HIT>\">", "<title><a id=\"</title><img src=x onerror=HIT>\">",
		"<textarea><a id=\"</textarea><img src=x onerror=HIT>\">", "<noembed><a id=\"</noembed><img src=x onerror=HIT>\">", "<xmp><a id=\"</xmp><img src=x onerror=HIT>\">", "<noscript><p title=\"</noscript><img src=x onerror=HIT>\">",
		"<iframe><a id=\"</iframe><img src=x onerror=HIT>\">", "<plaintext><img src=x onerror=HIT>", "<listing>&lt;img src=x onerror=HIT&gt;</listing>", "<!--><img src=x onerror=HIT>-->",
		"<!--x--!><img src=x onerror=HIT>-->", "<![CDATA[><img src=x onerror=HIT>]]>", "<?x ><img src=x onerror=HIT>?>", "</p title=><img src=x onerror=HIT>", "<img alt=\"`><script>HIT</script>\" src=`x`onerror=HIT``>",
		"<script>HIT</script>", "<script\n/x>HIT</script\t>", "<scr<script>ipt>HIT</scr</script>ipt>", "&lt;script&gt;HIT&lt;/script&gt;", "<svg/onload=HIT//", "<img src='x'onerror=HIT a=\"", "<input autofocus onfocus=HIT><x tabindex=1 onfocus=HIT>",
		"<script type=\"text/template\"></script ><script>HIT</script>", "<script type=\"text/template\"><!--<script></script><script>HIT</script>--></script>", "<mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=HIT&gt;\">", "<select><template><img src=x onerror=HIT></template></select>",
		"<isindex type=image src=1 onerror=HIT><keygen autofocus onfocus=HIT>", "<frameset onload=HIT><frame src='javascript:HIT'></frameset>", "<a is=x href='javascript:HIT'><portal src='CANARY'></portal><fencedframe src='CANARY'></fencedframe>",
	}
	for _, o := range outer {
		for _, i := range inner {
			out = append(out, fmt.Sprintf(o, i))
		}
	}
	return out
}
