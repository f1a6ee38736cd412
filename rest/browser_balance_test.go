package rest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"catena/decks/decktest"
	"catena/decks/html"
	"catena/rest/resttest"
)

// TestBrowserSlidesEnd has the browser read decks of attacks and of pieces put together at
// random, cleaned: every slide ends where it says, and the one behind is as it was written.
func TestBrowserSlidesEnd(t *testing.T) {
	var kept []string
	add := func(src string) {
		if p, err := html.Clean(t.Context(), src); err == nil && !strings.Contains(p.HTML, "<iframe") {
			kept = append(kept, p.HTML)
		}
	}
	for _, attack := range decktest.Some(decktest.Attacks()) {
		add("<section>" + decktest.Arm(attack, "top.HIT=1", "x:y") + "</section>")
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // to be repeated
	for len(kept) < 1500 {
		add(decktest.Random(r))
	}
	b := browse(t, resttest.Start(t, resttest.Config{}))
	b.open("/ui/login")
	const next = `<section>a<p>b</p><i>c</i></section>`
	bad := eval[[]string](b, `(() => {
		const next = `+"`"+next+"`"+`, bad = [];
		for (const html of `+jsonOf(t, kept)+`) {
			const doc = new DOMParser().parseFromString("<!doctype html><body><div><div>" + html + next + "</div></div>", "text/html");
			const outer = doc.body.firstElementChild, slides = outer.firstElementChild;
			const good = doc.body.children.length === 1 && outer.childNodes.length === 1 && slides.lastElementChild.outerHTML === next &&
				[...slides.childNodes].every((n) => n.localName === "section" || n.nodeType === 8 || n.nodeType === 3 && !n.data.trim());
			if (!good) bad.push(html);
		}
		return bad;
	})()`)
	for _, html := range bad {
		t.Errorf("a slide does not end: %q", html)
	}
	t.Logf("%d decks", len(kept))
}
