package html

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"catena/decks/decktest"
)

// slides counts the sections at the top as a browser has them; -1 if anything else is there.
func slides(t testing.TB, src string) int {
	t.Helper()
	div := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader("<div><div>"+src+next+"</div></div>"), div)
	if err != nil || len(nodes) != 1 || nodes[0].FirstChild == nil || nodes[0].FirstChild.NextSibling != nil {
		return -1
	}
	n := 0
	last := nodes[0].FirstChild.LastChild
	for c := nodes[0].FirstChild.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.CommentNode, c.Type == html.TextNode && strings.TrimSpace(c.Data) == "":
		case !isSection(c):
			return -1
		default:
			n++
		}
	}
	var b strings.Builder
	if err := html.Render(&b, last); err != nil || b.String() != next {
		return -1
	}
	return n - 1
}

// tops counts the sections that are in no other, as the tags say.
func tops(src string) (n int) {
	f := newFilter(context.Background(), src)
	for kind := f.next(); kind != html.ErrorToken; kind = f.next() {
		switch {
		case f.name != "section":
		case kind == html.EndTagToken:
			if f.depth--; f.depth == 0 {
				n++
			}
		default:
			f.depth++
		}
	}
	return n
}

// settled checks that cleaning what was cleaned changes nothing, and that every slide ends
// where it says; false if the source was refused.
func settled(t testing.TB, src string) bool {
	t.Helper()
	once, err := Clean(t.Context(), src)
	if err != nil {
		return false
	}
	twice, err := Clean(t.Context(), once.HTML)
	if err != nil || twice.HTML != once.HTML || len(twice.Removed) > 0 {
		t.Errorf("%q\n once  %+v\n twice %+v %v", src, once, twice, err)
	}
	if got, want := slides(t, once.HTML), tops(once.HTML); got != want {
		t.Errorf("%q\nbecame %q\na browser has %d slides, want %d", src, once.HTML, got, want)
	}
	return true
}

// TestSettled cleans what was cleaned, of sources made at random: some thousands, a million if
// CATENA_CORPUS is all.
func TestSettled(t *testing.T) {
	count := 4000
	if os.Getenv("CATENA_CORPUS") == "all" {
		count = 1_000_000
	}
	seed := uint64(time.Now().UnixNano())
	if testing.Short() {
		seed = 1
	}
	var wg sync.WaitGroup
	var kept atomic.Int64
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w))) //nolint:gosec // to be repeated
			for range count / workers {
				if t.Failed() {
					return
				}
				if settled(t, decktest.Random(r)) {
					kept.Add(1)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d kept, seed %d", kept.Load(), count, seed)
	if kept.Load() < int64(count)/2 {
		t.Error("most are refused: the test does not test much")
	}
	for _, attack := range decktest.Attacks() {
		settled(t, "<section>"+attack+"</section>\n<section>after</section>")
	}
}

// TestBalanced repairs what leaves something open, and keeps every byte of what does not.
func TestBalanced(t *testing.T) {
	const after = "\n<section>after</section>"
	for src, want := range map[string]string{
		`<section><a href="/x">x</section>`:                                  `<section><a href="/x">x</a></section>`,
		`<section><svg><desc></section>`:                                     `<section><svg><desc></desc></svg></section>`,
		`<section><table><tr><td>x</section>`:                                `<section><table><tbody><tr><td>x</td></tr></tbody></table></section>`,
		`<section><div>x</div></div></div>y</section>`:                       `<section><div>x</div>y</section>`,
		`<section><b><i>x</b>y</section>`:                                    `<section><b><i>x</i></b><i>y</i></section>`,
		`<section><section><u>x</section><section>y</section></section>`:     `<section><section><u>x</u></section><section><u>y</u></section></section>`,
		`<section><math><mi><path/></math>z</section>`:                       `<section><math><mi><path>z</path></mi></math></section>`,
		`<section><h3><div><h1>a<h2>b</h2></h1></div></h3></section>`:        ``,
		`<section><ul><li><div><li>x</li></div></li></ul><p>y</p></section>`: ``,
	} {
		got, err := Clean(t.Context(), src+after)
		if err != nil || want != "" && got.HTML != want+after || tops(got.HTML) != slides(t, got.HTML) {
			t.Errorf("%s\n got  %+v %v\n want %s", src, got, err, want)
		}
	}
	for _, src := range []string{
		`<section><p>a<p>b<ul><li>c<li>d<p>e</ul><dl><dt>f<dd>g</dl></section>`,
		`<section><table><caption>c</caption><colgroup><col></colgroup><tr><td>a<td><p>b<tr><th>c<tbody><tr><td>d</table></section>`,
		`<section><span><p>x</span></section>`, `<section><p><a href="/">x<div>y</div></a></p></section>`,
		`<section><svg><a href="/x"><text>y</text></a><g><path d=""/></g></svg><ruby>a<rt>b</ruby></section>`,
		`<section><math><mi>x</mi><mrow><mo>+</mo></mrow></math><br/><img src=x />z</br></section>`,
	} {
		if got, err := Clean(t.Context(), src+after); err != nil || got.HTML != src+after {
			t.Errorf("%s\n got  %+v %v", src, got, err)
		}
	}
	if _, err := Clean(t.Context(), "<section>"+strings.Repeat("<div>", 600)+"</section>"); err == nil {
		t.Error("600 elements in each other are kept")
	}
}
