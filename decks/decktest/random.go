package decktest

import (
	"math/rand/v2"
	"strings"
	"sync"
)

// Pieces that sources are put together from: elements of every kind, whole and torn.
var (
	elements = strings.Fields(`a abbr article aside audio b bdo blockquote button caption center cite code col colgroup dd del details
		dfn div dl dt em figcaption figure font footer h1 h2 h3 h6 header hgroup hr i iframe img ins kbd li main mark nav ol p picture pre
		rp rt ruby s samp script section small source span strong style sub summary sup table tbody td tfoot th thead title tr tt u
		ul var video wbr circle clipPath defs desc g image line linearGradient marker path svg symbol text textPath tspan use
		math maction mi mn mo mtext ms mrow mtable mtd none semantics annotation-xml foreignObject mglyph malignmark form input select option
		template textarea noscript nobr big strike object embed base link meta frameset body html head plaintext xmp listing marquee applet animate set`)
	torn = []string{
		"<", ">", "</", "/>", "<!--", "-->", "--!>", "<!-->", "<![CDATA[", "]]>", "<?x", "&", "&lt;", "&lt", "&#60;", "&#x0;", "\x00", "\r", "\r\n", "\f", "\"", "'", "`", "=",
		"</section", "<section", "</p>", "</br>", "<br/>", "</ >", "<a/>", "<svg/>", "<path/>", "<title/>", "<p/>", "<math/>", "<mi/>", "\ufeff", "\xff", "ü", "\u2028",
	}
	attributesOf = []string{
		"", "", "", ` id=x`, ` class="notes"`, ` onclick=HIT`, ` href="javascript:HIT"`, ` href=/x`, ` style="color:red"`, ` style="background:url(CANARY)"`, ` src=x`, ` encoding="text/html"`,
		` data-markdown`, ` data-notes="a<b"`, ` data-x`, ` type="text/template"`, ` type="text/template" x`, ` a=b c="d>" e='f<'`, ` a="`, ` a='`, "\x00", ` x=y/z`, ` x="y"z=1`, "/", "\n", ` ID=X id=y`,
		` xmlns="http://www.w3.org/2000/svg"`, ` fill="url(#a)"`, ` srcset="a 1x, b 2x"`, ` title="</section><script>HIT</script>"`,
	}
	whole = sync.OnceValue(Attacks)
)

// Random is the source of a deck put together at random: elements that are closed and such that
// are not, in order and out of it, between attacks and torn pieces.
func Random(r *rand.Rand) string {
	names := elements
	if r.IntN(3) > 0 { // few of them, which are in each other's way
		names = make([]string, 1+r.IntN(6))
		for i := range names {
			names[i] = pick(r, elements)
		}
	}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString("<section" + pick(r, attributesOf[:4]) + ">")
		content(r, &b, names, 5)
		b.WriteString("</section>" + pick(r, []string{"", "\n", " <!-- x -->"}))
	}
	if r.IntN(20) > 0 {
		return b.String()
	}
	torn := []byte(b.String())
	for range 1 + r.IntN(3) {
		torn[r.IntN(len(torn))] = "<>/\"'= \x00a&-!s"[r.IntN(13)]
	}
	return string(torn)
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func content(r *rand.Rand, b *strings.Builder, names []string, deep int) {
	for range r.IntN(4) {
		switch n := r.IntN(24); {
		case n < 4:
			b.WriteString(pick(r, []string{"text", " ", "a &amp; b", "x: y"}))
		case n < 5:
			b.WriteString(pick(r, torn))
		case n < 6:
			b.WriteString(pick(r, whole()))
		case n < 7:
			b.WriteString("</" + pick(r, names) + ">")
		case n < 9:
			b.WriteString("<" + pick(r, names) + pick(r, attributesOf) + pick(r, []string{">", ">", " />"}))
		case deep > 0:
			name := pick(r, names)
			b.WriteString("<" + name + pick(r, attributesOf) + ">")
			content(r, b, names, deep-1)
			if r.IntN(6) > 0 {
				b.WriteString("</" + name + ">")
			}
		}
	}
}
