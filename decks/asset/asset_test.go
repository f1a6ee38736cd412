package asset

import (
	"slices"
	"strings"
	"testing"
)

// TestRemote finds pictures on other servers in whatever shows them: attributes, style sheets, Markdown in templates and in
// sections, and the deck's own style sheet; not what is a link, code, a comment, a font, a film or another page.
func TestRemote(t *testing.T) {
	for src, want := range map[string]string{
		`<section><img src="https://x/1.png"><img data-src=" http://x/2 "><a href="https://x/3.png">a</a><img src="files/1/a.png"></section>`:                                                                                                                                                                "https://x/1.png http://x/2",
		`<section data-background="https://x/1"><section data-background-image="https://x/2" data-background-video="https://x/3"></section></section>`:                                                                                                                                                       "https://x/1 https://x/2",
		`<section><svg><image href="https://x/1"/></svg><video src="https://x/2" poster="https://x/3"></video><iframe src="https://x/4"></iframe></section>`:                                                                                                                                                 "https://x/1 https://x/3",
		`<section><p style="background: url('https://x/1?a=1&amp;b=2'); color: red">url(https://x/2)</p></section>`:                                                                                                                                                                                          "https://x/1?a=1&b=2",
		`<section><style>@font-face{src:url(https://x/f.woff2)} p{background:url("https://x/1")} q::after{content:"url(https://x/2)"} /* url(https://x/3) */</style></section>`:                                                                                                                              "https://x/1",
		"<section data-markdown><script type=\"text/template\">\n![a](https://x/1_(b).png \"t\") [l](https://x/2)\n```html\n![c](https://x/3)\n```\n![d](<https://x/4>) <img alt='a' src='https://x/5'>\n<!-- .slide: data-background=\"https://x/6\" -->\n<!-- https://x/7 --> `code`\n</script></section>": "https://x/1_(b).png https://x/4 https://x/5 https://x/6",
		"<section><div data-markdown><div>![a](https://x/1?a&amp;b)</div> ![b](https://x/2)</div> ![c](https://x/3)</section>":                                                                                                                                                                               "https://x/1?a&b https://x/2",
		"<section data-markdown>![a](https://x/1)</section><section>![b](https://x/2)</section>":                                                                                                                                                                                                             "https://x/1",
		`<section><script type="math/tex">![a](https://x/1)</script></section>`:                                                                                                                                                                                                                              "",
	} {
		if got := strings.Join(Remote(src, ""), " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", src, got, want)
		}
	}
	css := "@import url(https://x/a.css); body{background:url(https://x/1)} p{background:url(files/1/a.png),url(https://x/1),url(https://x/2)}"
	if got := Remote(`<section><img src="https://x/2"></section>`, css); !slices.Equal(got, []string{"https://x/2", "https://x/1"}) {
		t.Errorf("style sheet: %v", got)
	}
	if got := Remote("<section>"+strings.Repeat(`<img src="https://x/1">`, MaxRemote+1)+"</section>", ""); len(got) != 1 {
		t.Errorf("%d times the same", len(got))
	}
}

// TestVisit replaces the addresses that have a file, and leaves the bytes of all else.
func TestVisit(t *testing.T) {
	files := func(address string) (string, bool) { return "files/1/a.png", strings.HasSuffix(address, "/here") }
	for src, want := range map[string]string{
		`<section><img  src='https://x/gone'><p style="a:url(https://x/gone)"></section>`:                                                                         "",
		`<section><p style="a: b; c: url(https://x/here) 1px">`:                                                                                                   `<section><p style="a: b; c: url(files/1/a.png) 1px">`,
		"<section data-markdown><script type=text/template>![a&amp;](https://x/here)\n    ![b](http://x/gone)\n<!-- .slide: data-background='https://x/here' -->": "<section data-markdown><script type=text/template>![a&amp;](files/1/a.png)\n    ![b](http://x/gone)\n<!-- .slide: data-background='files/1/a.png' -->",
		"<section data-markdown>a &lt; b ![](https://x/here)":                                                                                                     "<section data-markdown>a &lt; b ![](files/1/a.png)",
		"<section><style>p{a:url(https://x/here)}</style>":                                                                                                        "<section><style>p{a:url(files/1/a.png)}</style>",
	} {
		if want == "" {
			want = src
		}
		if got := visit(src, files); got != want {
			t.Errorf("%s:\n got %s\nwant %s", src, got, want)
		}
	}
}
