package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/decks/decktest"
)

// TestBrowserCorpus writes about two thousand attacks into decks, by hand and by import, and
// shows what is left of them everywhere decks are shown: that is stored script in decks, notes
// and pictures, and what a private link must not give away. First in a page that holds nothing
// back, where no script may run and nothing navigate; then wherever the service shows decks,
// where nothing may be asked for either. The editor's preview gets them as they are. The bare
// page and the deck in full screen get all of them, the other entry points every fourth unless
// CATENA_CORPUS is all.
func TestBrowserCorpus(t *testing.T) {
	a := enter(t)
	kept, imported := a.keep(t), a.imported(t)
	a.use(browse(t, a.s)) // it has some minutes from here
	a.bare(t, slices.Concat(kept, imported))
	a.decks(t, "again", kept, 500, 4<<20, true)
	everything, all := a.slides(kept)
	slides, whole := a.slides(decktest.Some(kept))
	links := map[int]string{} // decks that are shown by links, and their passwords
	for id := range a.decks(t, "imports", imported[:20], 20, 4<<20, false) {
		links[id] = ""
	}
	var deck, large string
	for id, path := range a.decks(t, "all attacks", everything, len(everything), 4<<20, false) {
		links[id], large = "open sesame", path
	}
	for _, path := range a.decks(t, "attacks", slides, len(slides), 4<<20, false) {
		deck = path
	}
	a.signIn("alice")
	for _, entryPoint := range []struct {
		path, frame string
		whole       int
	}{
		{large + "/fullscreen", "", all},
		{deck, "slides", whole},
		{deck + "/present", "slides", whole},
	} {
		a.open(entryPoint.path)
		a.walk(entryPoint.path, entryPoint.frame, entryPoint.whole)
	}
	a.preview(t, deck)
	for id, password := range links {
		link := a.s.Do("POST", fmt.Sprintf("/v1/decks/%d/share", id), jsonOf(t, map[string]string{"password": password}), "as", "alice").JSON(t)["data"].(map[string]any)
		shared := strings.TrimPrefix(link["url"].(string), a.s.URL)
		a.use(browse(t, a.s)) // a guest
		a.open(shared)
		if password != "" {
			a.write("[name=password]", password)
			a.click("button.primary")
			a.wait(`document.getElementById("number")`)
		}
		a.open(shared + "/fullscreen")
		a.wait(`document.readyState === "complete"`)
		a.holds("link with password " + password)
	}
}

// slides puts what is kept on slides, many on one and some with notes; those that leave
// something open, and may swallow what follows, come last. It says how many come before them.
func (a *arena) slides(kept []string) (slides []string, whole int) {
	var inner []string
	for _, html := range kept {
		inner = append(inner, strings.TrimSuffix(strings.TrimPrefix(html, "<section>"), "</section>"))
	}
	grouped := grouped(inner, 8)
	slices.SortStableFunc(grouped, func(a, b string) int {
		switch x, y := contained(a), contained(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	for i, text := range grouped {
		notes := ""
		if i < 60 {
			notes = ` data-notes="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(a.armed[i*30][:40]) + `"`
		}
		if contained(text) {
			whole++
		}
		slides = append(slides, "<section"+notes+">"+text+"</section>")
	}
	return slides, whole
}

func filtered(all []string, keep func(string) bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, s := range all {
			if keep(s) && !yield(s) {
				return
			}
		}
	}
}

// bare shows what is kept in a page without any policy: read as text, as a document, and again
// as the browser wrote it down. Attacks as they are run there, which shows that the test sees it.
func (a *arena) bare(t *testing.T, kept []string) {
	t.Helper()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Set-Cookie", "secret=1")
		if r.URL.Path == "/" {
			fmt.Fprint(w, "<!doctype html><title>bare</title><body></body>")
		}
	}))
	t.Cleanup(bare.Close)
	b := a.tab
	b.base = bare.URL
	defer func() { b.base = a.s.URL; a.heard.Clear() }()
	const show = `(async (all) => {
		let n = 0;
		const body = document.body, make = document.createElement.bind(document); // names of elements may hide both
		for (const html of all) {
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
			if (++n % 25 === 0) { // what is focused has all of the page laid out
				await new Promise((r) => setTimeout(r, 20));
				body.replaceChildren();
			}
		}
		await new Promise((r) => setTimeout(r, 100));
		return n;
	})(`
	b.open("/")
	if shown := eval[int](b, show+jsonOf(t, kept)+")"); shown != len(kept) {
		t.Errorf("%d of %d were shown: something navigated", shown, len(kept))
	}
	ran, asked := a.hits()
	asked = slices.DeleteFunc(asked, func(address string) bool { return !strings.HasPrefix(address, "/script") })
	if ran != "" || len(asked) > 0 {
		t.Errorf("bare page: ran %q, asked for %v", ran, asked)
	}
	b.open("/")
	eval[int](b, show+jsonOf(t, slices.Collect(filtered(a.armed, func(s string) bool { return strings.HasPrefix(s, "<img src=x on") })))+")")
	ran, asked = a.hits()
	for end := time.Now().Add(time.Minute); (ran == "" || len(asked) == 0) && time.Now().Before(end); { // a picture fails when the server has answered
		ran, asked = a.hits()
	}
	if ran == "" || len(asked) == 0 {
		t.Errorf("attacks that were not cleaned: ran %q, asked for %v: the test sees nothing", ran, asked)
	}
	b.open("/")
}

// walk goes over the slides that a page shows, itself or in a frame, as its keys would.
func (a *arena) walk(entryPoint, frame string, least int) {
	a.t.Helper()
	began := time.Now()
	defer func() { a.t.Logf("%s: %s", entryPoint, time.Since(began)) }()
	if frame == "" {
		a.wait(`!!window.Reveal?.isReady?.()`)
		n := eval[int](a.tab, `(async () => {
			const all = Reveal.getSlides();
			for (const [i, s] of all.entries()) {
				const at = Reveal.getIndices(s);
				if (i % 4 === 0) Reveal.slide(at.h, at.v ?? 0); // its neighbours are loaded with it
				if (i % 16 === 0) await new Promise((r) => setTimeout(r, 1));
			}
			return all.length;
		})()`)
		if n < least {
			a.t.Errorf("%s: %d slides, want %d", entryPoint, n, least)
		}
	} else {
		a.wait(`/[/] \d\d/.test(document.getElementById("number")?.textContent)`)
		n := eval[int](a.tab, `(async () => {
			const frame = document.getElementById("`+frame+`").contentWindow;
			let n = 0;
			for (let h = 0; h < `+fmt.Sprint(least)+` && h <= n * 4 + 8; h += 4) {
				await new Promise((done) => {
					const heard = (e) => {
						if (e.source !== frame || e.data?.catena !== "state" || e.data.h !== h) return;
						removeEventListener("message", heard);
						n++;
						done();
					};
					addEventListener("message", heard);
					setTimeout(done, 2000);
					frame.postMessage({catena: "go", h, v: 0, f: -1}, "*");
					if (h === 0) frame.postMessage({catena: "state"}, "*");
				});
			}
			return n;
		})()`)
		if n < 3 { // what leaves something open makes one slide of several
			a.t.Errorf("%s: went over %d slides of %d", entryPoint, n*4, least)
		}
	}
	a.holds(entryPoint)
}

// preview opens the editor, and sends its preview the attacks as they are typed.
func (a *arena) preview(t *testing.T, deck string) {
	t.Helper()
	a.open(deck + "/edit")
	a.wait(`document.getElementById("state")?.textContent === "Saved"`)
	a.holds("editor")
	began := time.Now()
	var raw []string
	shows := func(attack string) bool { return !strings.Contains(attack, " name=") } // else the preview is blind, as only cleaned decks may not be
	for _, attacks := range grouped(slices.Collect(filtered(decktest.Some(a.armed), shows)), 32) {
		raw = append(raw, "<section>"+attacks+"</section>")
	}
	shown := eval[int](a.tab, `(async () => {
		const frame = document.getElementById("preview").contentWindow;
		let n = 0;
		for (const html of `+jsonOf(t, raw)+`) {
			await new Promise((done) => {
				const late = setTimeout(done, 400);
				const heard = (e) => {
					if (e.source !== frame || e.data?.catena !== "state") return;
					removeEventListener("message", heard);
					clearTimeout(late);
					n++;
					done();
				};
				addEventListener("message", heard);
				frame.postMessage({catena: "show", h: 0, v: 0, options: {width: 960, height: 700}, html}, "*");
			});
		}
		return n;
	})()`)
	t.Logf("preview: %d of %d in %s", shown, len(raw), time.Since(began))
	if shown < len(raw)*3/4 { // on a machine that has much else to do
		t.Errorf("the preview showed %d of %d", shown, len(raw))
	}
	a.holds("preview")
}
