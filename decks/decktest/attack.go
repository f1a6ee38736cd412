// Package decktest holds what tests of decks share: attacks on programs that show decks, random sources, and decks of
// the largest size allowed.
package decktest

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// schemed are addresses that run a script, as they are hidden.
func schemed() []string {
	return []string{
		"javascript:HIT", "JaVaScRiPt:HIT", " javascript:HIT", "\x01javascript:HIT", "java\tscript:HIT", "java\nscript:HIT", "java\rscript:HIT",
		"java&#9;script:HIT", "java&Tab;script:HIT", "java&NewLine;script:HIT", "&#106;avascript:HIT", "&#x6A;avascript:HIT", "&#0000106avascript:HIT",
		"javascript&colon;HIT", "javascript&#58;HIT", "javascript&#x3a;HIT", "java\u00adscript:HIT", "\ufeffjavascript:HIT", "javascript://%0aHIT",
		"data:text/html,<script>HIT</script>", "data:text/html;base64,PHNjcmlwdD50b3AuSElUPTE8L3NjcmlwdD4=", "data:application/xhtml+xml,<script xmlns='http://www.w3.org/1999/xhtml'>HIT</script>",
		"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='HIT'/>", "vbscript:HIT", "blob:HIT", "view-source:javascript:HIT", "//CANARY/x", "CANARY",
	}
}

// Attacks are about two thousand attacks on programs that show decks, made of elements,
// attributes, spellings and places, in alphabetical order. HIT is a script, CANARY an address
// nobody may ask for; Arm puts them in.
func Attacks() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	events := strings.Fields("onabort onanimationend onanimationstart onauxclick onbeforeinput onbeforetoggle onbegin onblur oncancel oncanplay onchange onclick " +
		"onclose oncontextmenu oncopy oncuechange oncut ondblclick ondrag ondrop onend onended onerror onfocus onfocusin onformdata onhashchange oninput oninvalid " +
		"onkeydown onload onloadeddata onloadstart onmessage onmouseenter onmouseover onpageshow onpaste onpointerover onpopstate onprogress onrepeat onreset " +
		"onresize onscroll onscrollend onselect onsubmit onsuspend ontimeupdate ontoggle ontransitionend onunload onwheel onfuture")
	for i, on := range events {
		add(`<img src=x %s="HIT">`, on)
		add(`<svg %s=HIT><animate %s=HIT attributeName=x dur=1s /></svg>`, on, on)
		add(`<p tabindex=0 autofocus style="animation:x 1s;transition:color 1s" %s%s='HIT'>x</p>`, strings.ToUpper(on), []string{" ", "\t", "\n", "/"}[i%4])
		add(`<video autoplay src=x/%s="HIT"></video>`, on)
		add(`<details open %s=HIT><summary %s=HIT>x</summary></details>`, on, on)
	}
	for _, u := range schemed() {
		for _, place := range []string{
			`<a href="%s" autofocus>x</a>`, `<area href="%s">`, `<iframe src="%s"></iframe>`, `<iframe srcdoc="%s"></iframe>`, `<img src="%s">`, `<img srcset="%s 1x">`,
			`<object data="%s"></object>`, `<embed src="%s">`, `<form action="%s"><input type=submit autofocus></form>`, `<button formaction="%s" form=f>x</button>`,
			`<svg><a href="%s"><text y=9>x</text></a></svg>`, `<svg><a xlink:href="%s"><text y=9>x</text></a></svg>`, `<svg><use href="%s#x"/></svg>`, `<svg><image href="%s"/></svg>`,
			`<svg><a id=a><text y=9>x</text></a><animate href=#a attributeName=href values="%s" /></svg>`, `<svg><a><set attributeName="xlink:href" to="%s"/><text y=9>x</text></a></svg>`,
			`<math href="%s"><mi xlink:href="%[1]s">x</mi></math>`, `<video src="%s" poster="%[1]s" autoplay></video>`, `<link rel=stylesheet href="%s">`, `<link rel=prefetch href="%s">`,
			`<base href="%s">`, `<meta http-equiv=refresh content="0;url=%s">`, `<body background="%s">`, `<section data-background-iframe="%s">x</section>`, `<p data-preview-link="%s">x</p>`,
			`<video><track default src="%s"><source src="%[1]s"></video>`, `<input type=image src="%s">`, `<a href=/x ping="%s">x</a>`, `<svg><script href="%s"></script><feImage href="%[1]s"/></svg>`,
			`<div data-markdown><script type="text/template">[x](%s) ![y](%[1]s) <%[1]s></script></div>`, `<div data-markdown="%s"></div>`, `<p>$$\href{%s}{x}$$</p>`, `<script src="%s"></script>`, `<img data-src="%s">`,
		} {
			add(place, u)
		}
	}
	for _, u := range []string{"CANARY", "javascript:HIT", `data:text/css,*{background:url(CANARY)}`, "//CANARY"} {
		for _, css := range []string{
			`background:url(%s)`, `background:url("%s")`, `background:u\72l(%s)`, `background:\75\72\6c(%s)`, `background:url/**/(%s)`, `list-style:url('%s')`, `content:url(%s)`,
			`cursor:url(%s),auto`, `border-image:url(%s) 30`, `filter:url(%s#x)`, `mask:url(%s)`, `clip-path:url(%s#x)`, `background:image-set("%s" 1x)`, `background:-webkit-image-set(url(%s) 1x)`,
			`behavior:url(%s)`, `-moz-binding:url(%s)`, `width:expression(HIT/*%s*/)`, `--x:url(%s);background:var(--x)`, `shape-outside:url(%s)`, `background:src("%s")`,
		} {
			rule := fmt.Sprintf(css, u)
			add(`<p style='%s'>x</p>`, rule)
			add(`<style>p,body,*{%s}</style><p>x</p>`, rule)
		}
		add(`<style>@import "%s";</style>`, u)
		add(`<style>@import url(%s);</style>`, u)
		add(`<style>@\69mport '%s';</style>`, u)
		add(`<style>@font-face{font-family:x;src:url(%s)}*{font-family:x}</style>`, u)
		add(`<style>@namespace url(%s);@document url(%[1]s){}</style>`, u)
		add(`<svg><rect fill="url(%s#x)" filter="url(%[1]s#y)" mask="url(%[1]s)" clip-path="url(%[1]s)" width=9 height=9 /></svg>`, u)
	}
	out = append(out, mutants()...)
	for _, name := range strings.Fields("body head documentElement querySelector getElementById cookie location forms images createElement currentScript Reveal catena options addEventListener parent top self") {
		add(`<img name=%s><form name=%[1]s><input name=%[1]s></form><a id=%[1]s><a id=%[1]s name=x href="CANARY">`, name)
		add(`<object name=%s></object><embed name=%[1]s><iframe name=%[1]s srcdoc="<script>HIT</script>"></iframe>`, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Some returns every fourth of what attacks were made into, or with CATENA_CORPUS=all
// everything: for the entry points behind the first, which everything goes through.
func Some[T any](all []T) []T {
	if os.Getenv("CATENA_CORPUS") == "all" {
		return all
	}
	some := make([]T, 0, len(all)/4+1)
	for i := 0; i < len(all); i += 4 {
		some = append(some, all[i])
	}
	return some
}

// Arm makes an attack of the script it is to run and the address it is to ask for.
func Arm(attack, script, canary string) string {
	_, bare, _ := strings.Cut(canary, ":")
	return strings.NewReplacer("HIT", script, "//CANARY", bare, "CANARY", canary).Replace(attack)
}
