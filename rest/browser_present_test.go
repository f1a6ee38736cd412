package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/people"
)

func TestBrowserPresent(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Talk", "data": threeSlides, "visibility": "all"})
	b := browse(t, s)
	b.signIn("alice")
	b.open(path + "/present")
	b.wait(`document.getElementById("notes").textContent === "Say hello."`)
	b.shot("present")

	audience := browse(t, s) // another browser: it hears from the server
	audience.open(path + "?follow")
	audience.wait(`document.body.classList.contains("alone")`)
	b.do(chromedp.KeyEvent("n"))
	b.wait(`document.getElementById("number").textContent === "2 / 4"`)
	audience.wait(`location.hash === "#/1"`)
	b.do(chromedp.KeyEvent("n")) // a fragment
	audience.wait(`location.hash === "#/1/0/0"`)
	b.do(chromedp.KeyEvent("b"))
	audience.wait(`document.getElementById("slides").style.visibility === "hidden"`)
	b.quiet()
	audience.quiet()
	if got := eval[string](audience, `document.documentElement.outerHTML`); strings.Contains(got, "Say hello") {
		t.Error("the audience has the notes")
	}
	if got := s.Do("POST", path+"/live", `{"h":0,"v":0,"f":-1}`); got.StatusCode != http.StatusForbidden {
		t.Errorf("somebody else leads: %s", got.Status)
	}
}

func TestBrowserShare(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	if err := s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, "alice")
		if err == nil {
			u.AccountType = "pro"
			err = people.SaveUser(tx, u, "")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	deck := makeDeck(t, s, map[string]any{"title": "Secret plans", "data": threeSlides})
	owner := browse(t, s)
	owner.signIn("alice")
	owner.open(deck + "/share")
	owner.wait(`document.getElementById("links").textContent === "No links yet."`)
	owner.write(`#new-link [name=name]`, "For the board")
	owner.write(`#new-link [name=password]`, "open sesame")
	owner.click("#new-link button.primary")
	owner.wait(`document.querySelector("#links strong")?.textContent === "For the board"`)
	owner.shot("links")
	link := eval[string](owner, `document.querySelector("#links a").href`)
	path := strings.TrimPrefix(link, s.URL)
	for _, below := range []string{"", "/fullscreen", "/live"} {
		if got := s.Do("GET", path+below, "", "as", ""); got.StatusCode != http.StatusUnauthorized || strings.Contains(got.Text, "Secret plans") || strings.Contains(got.Text, "First") {
			t.Errorf("%s without the password: %s", below, got.Status)
		}
	}
	b := browse(t, s)
	b.open(path)
	b.write(`[name=password]`, "wrong")
	b.click(`button.primary`)
	b.wait(`document.querySelector("[role=alert]")?.textContent === "Wrong password."`)
	b.shot("password")
	b.said = nil
	b.write(`[name=password]`, "open sesame")
	b.click(`button.primary`)
	b.wait(`document.getElementById("number")?.textContent === "1 / 4"`)
	b.shot("share")
	b.quiet()
	if got := eval[string](b, `document.cookie`); got != "" {
		t.Errorf("scripts see cookies: %q", got)
	}
	links := s.Do("POST", "/api/v1/automation/Deck.ListShareLinks", `{"params":{"deck_id":1}}`, "as", "alice")
	if !strings.Contains(links.Text, `"view_count":1`) {
		t.Errorf("views: %s", links.Text)
	}
	owner.open(deck + "/share")
	owner.wait(`document.querySelector("#links p + p")?.textContent.startsWith("1 view · first opened")`)
	owner.click(`#links button[aria-label="Views of For the board"]`)
	owner.wait(`document.getElementById("log").open && document.getElementById("views").textContent.startsWith("just nowChrome on Linux")`)
	owner.shot("views")
	owner.click("#log form button")
	owner.click("#links button.danger")
	owner.wait(`document.getElementById("links").textContent === "No links yet."`)
	owner.quiet()
	b.open(path + "/fullscreen")
	b.wait(`document.querySelector("h1")?.textContent === "Page not found"`)
	b.shot("gone")
}

// attacks are what hostile authors put into slides. CANARY is an address nobody may ask for.
var attacks = []string{
	`<script>HIT</script>`,
	`<img src=x onerror="HIT">`,
	`<svg onload="HIT"><script>HIT</script></svg>`,
	`<svg><animate onbegin="HIT" attributeName="x" dur="1s"/></svg>`,
	`<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg' onload='HIT'/>#x"/></svg>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=HIT&gt;">`,
	`<noscript><p title="</noscript><img src=x onerror=HIT>"></noscript>`,
	`<iframe srcdoc="<script>HIT</script>"></iframe>`,
	`<iframe src="javascript:HIT"></iframe>`,
	`<iframe src="CANARY"></iframe>`,
	`<object data="CANARY"></object><embed src="CANARY">`,
	`<form action="CANARY" id=f><input name=x value=1></form><button form=f formaction="CANARY">x</button>`,
	`<meta http-equiv="refresh" content="0;url=CANARY">`,
	`<base href="CANARY"><link rel=stylesheet href="CANARY">`,
	`<link rel=prefetch href="CANARY"><link rel=dns-prefetch href="CANARY">`,
	`<img src="CANARY"><picture><source srcset="CANARY 2x"><img></picture>`,
	`<video src="CANARY" autoplay poster="CANARY"></video><audio src="CANARY" autoplay></audio>`,
	`<style>@import "CANARY"; body{background:url(CANARY)} @font-face{font-family:x;src:url(CANARY)} *{font-family:x}</style>`,
	`<p style="background:url(CANARY);list-style:url(CANARY)">x</p>`,
	`<p style="behavior:url(CANARY);-moz-binding:url(CANARY)">x</p>`,
	`<svg><image href="CANARY" width=9 height=9 /><feImage href="CANARY"/></svg>`,
	`<a href="javascript:HIT" autofocus>x</a><a id=x tabindex=1 onfocus="HIT" autofocus>y</a>`,
	`<details open ontoggle="HIT"><summary>x</summary></details>`,
	`<script type="module" src="CANARY"></script><script type="text/template"><img src=x onerror=HIT></script>`,
	"</section></div></main><script>HIT</script><section>",
	`<div data-markdown><script type="text/template">` + "[x](javascript:HIT) <img src=x onerror=HIT> <!-- .element: onclick=\"HIT\" style=\"background:url(CANARY)\" -->\n\n```\" onmouseover=\"HIT\" x=\"\ncode\n```\n\n![x](CANARY)" + `</script></div>`,
	`<div data-markdown="CANARY"></div>`,
	`<pre><code data-trim data-noescape class="language-html"><img src=x onerror=HIT></code></pre>`,
	`<p>$$\href{javascript:HIT}{x} \includegraphics{CANARY} \htmlData{onclick=HIT}{x}$$</p>`,
	`<video data-src="CANARY" data-autoplay></video><iframe data-src="CANARY" data-preload></iframe>`,
	`<p data-preview-link="CANARY" data-auto-animate-id="</style><script>HIT</script>">x</p>`,
	`<p aria-label='"><script>HIT</script>'>x</p><p title="` + "`" + `><script>HIT</script>">x</p>`,
	`<table background="CANARY"><tr><td background="CANARY">x</table>`,
	`<a href="CANARY" ping="CANARY">x</a>`,
}

// TestBrowserAttacks shows hostile decks, both as they are kept and with the cleaning left
// out, as the editor's preview shows them: nothing runs, and nobody is asked for anything.
func TestBrowserAttacks(t *testing.T) {
	var hits atomic.Int64
	canary := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		t.Errorf("asked for %s", r.URL)
	}))
	t.Cleanup(canary.Close)
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) { c.Limits.Rate = -1 }})
	s.User("alice")
	armed := func(i int) string {
		return strings.NewReplacer("HIT", fmt.Sprintf("top.HIT%d=1;window.HIT%d=1;fetch('%s/%d')", i, i, canary.URL, i), "CANARY", fmt.Sprintf("%s/%d", canary.URL, i)).Replace(attacks[i])
	}
	ok, refused := 0, 0
	var kept strings.Builder
	for i := range attacks {
		res := s.Do("POST", "/v1/decks", jsonOf(t, map[string]any{"title": fmt.Sprint("attack ", i), "data": fmt.Sprintf("<section data-background-image=\"%[1]s/b\" data-background-video=\"%[1]s/v\" data-background-iframe=\"%[1]s/f\"><h2>%[2]d</h2>%[3]s</section>", canary.URL, i, armed(i))}), "as", "alice")
		switch res.StatusCode {
		case http.StatusCreated:
			ok++
			kept.WriteString(res.JSON(t)["data"].(map[string]any)["data"].(string) + "\n")
		case http.StatusUnprocessableEntity:
			refused++
		default:
			t.Fatalf("attack %d: %s %s", i, res.Status, res.Text)
		}
	}
	t.Logf("%d of %d kept in a harmless form, %d refused", ok, len(attacks), refused)
	path := makeDeck(t, s, map[string]any{"title": `"><script>top.HITtitle=1</script>`, "description": `"><img src=x onerror="top.HITabout=1">`, "data": kept.String(), "visibility": "all"})

	b := browse(t, s)
	b.signIn("alice")
	ran := `Object.keys(window).filter((k) => k.startsWith("HIT")).join(" ")`
	check := func(what string) {
		t.Helper()
		if got := eval[string](b, ran); got != "" {
			t.Errorf("%s: ran %s", what, got)
		}
		if hits.Load() > 0 {
			t.Errorf("%s: %d requests left", what, hits.Load())
		}
	}
	b.open(path)
	b.wait(`document.getElementById("number").textContent.startsWith("1 / ")`)
	check("page")
	b.shot("attack")
	b.open(path + "/fullscreen")
	b.wait(`document.readyState === "complete"`)
	walk := `(async () => { if (!window.Reveal?.isReady?.()) return 0; let n = 0; for (; n < 100 && !Reveal.isLastSlide(); n++) { Reveal.next(); await new Promise((r) => setTimeout(r, 15)); } return n; })()`
	if n := eval[int](b, walk); n < 20 {
		t.Errorf("walked over %d slides", n)
	}
	check("full screen")

	// A deck may hide what the document offers to scripts, and hurts itself alone.
	clobber := makeDeck(t, s, map[string]any{"title": "clobber", "data": `<section><img name=body><img name=querySelector><img name=documentElement><img id=Reveal></section>`})
	b.open(clobber)
	b.wait(`document.readyState === "complete"`)
	check("clobbered")

	// The preview gets HTML that was never cleaned.
	b.open(path + "/edit")
	b.wait(`document.getElementById("state")?.textContent === "Saved"`)
	var raw []string
	for i := range attacks {
		raw = append(raw, "<section>"+armed(i)+"</section>")
	}
	shown := eval[int](b, `(async () => {
		const frame = document.getElementById("preview").contentWindow;
		let n = 0;
		for (const html of `+jsonOf(t, raw)+`) {
			await new Promise((done) => {
				const heard = (e) => {
					if (e.source !== frame || e.data?.catena !== "state") return;
					removeEventListener("message", heard);
					n++;
					setTimeout(done, 10);
				};
				addEventListener("message", heard);
				setTimeout(done, 500);
				frame.postMessage({catena: "show", h: 0, v: 0, options: {width: 960, height: 700}, html}, "*");
			});
		}
		return n;
	})()`)
	if shown < len(attacks) {
		t.Errorf("the preview showed %d of %d", shown, len(attacks))
	}
	b.do(chromedp.Sleep(200 * time.Millisecond))
	check("preview")
}
