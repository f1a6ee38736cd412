package html

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
)

func TestCleanKeeps(t *testing.T) {
	sources := []string{
		``,
		"\n <!-- one -->\n<section>a</section>\n",
		`<section><section><p>a<p>b</section><section data-notes='x'></section></section>`,
		`<SECTION Data-Background-Color=red ><h1 class='r-fit-text' >A &amp; B &nbsp; a < b</h1></SECTION>`,
		`<section data-markdown><script type="text/template">## A` + "\n" + `- <b>x</b> <unknown></script></section>`,
		`<section><pre><code data-trim data-line-numbers="1|2">  if a &lt; b {` + "\t\n" + ` }</code></pre></section>`,
		`<section><svg viewBox="0 0 1 1"><title>t</title><linearGradient id="g"/><path d="M0 0"/><use href="#a"/></svg></section>`,
		`<section><math><mfrac><mi>x</mi><mn>2</mn></mfrac></math></section>`,
		`<section><p class="fragment fade-up" data-fragment-index="1" style="color: red; background: url('a.png')">x</p></section>`,
		`<section><script type="math/tex; mode=display">a < b & \\frac{1}{2}</script><script type="math/tex">x</script></section>`,
		"<section data-markdown><script type=\"text/template\">\n# Code\n```html [1|2-3]\n<script src=x>\n<p onclick=\"go()\">\n```\nafter\n</script></section>",
		"<section data-markdown>\n<script type=\"text/template\">\n    # Code\n\n    ~~~\n    <!-- <iframe onload=x> -->\n    ~~~\n    after\n</script></section>",
		`<section data-markdown data-separator="^\n\n\n" data-separator-vertical="^\n\n" data-separator-notes="^Say:" data-attributes="--\s(.*?)$" data-element-attributes="x"><script type="text/template">a</script></section>`,
		`<section><pre><code><script type="text/template"><p onclick="go()"></script></code></pre></section>`,
		`<section><svg><style>.a > b { fill: red }</style><rect><animate attributeName="fill" values="red;blue" dur="2s" repeatCount="indefinite"/></rect><set attributeName="x" to="1" begin="1s"/><foreignObject width="9" height="9"><p>x</p></foreignObject></svg></section>`,
		`<section><style>.a > p { color: red }</style><a href="https://example.org/?a=b&c=d" target=_blank>x</a></section>`,
		`<section><img src="data:image/png;base64,AA=="><video data-autoplay src="a.mp4" controls></video></section>`,
		`<section data-background-image="a.png, b.png"><iframe src="https://example.org"></iframe></section>`,
		`<section><style>/* blue */ .a::after { content: "\\201C url(no: address) // x" } .b { background: url(a.png) } .c::before { content: 'it(s; {a} url(javas' }</style></section>`,
		`<section><p style="font-family: 'A;B'; content: &quot;url(x:y)&quot;; background: url(a.png)">x</p></section>`,
		`<section><aside class="notes">Say <em>this</em></aside><table><tr><td colspan=2>x</table></section>`,
	}
	for _, src := range append(sources, fixtures(t)...) {
		got, err := Clean(t.Context(), src)
		if err != nil || got.HTML != src || len(got.Removed) > 0 {
			t.Errorf("%s\n got %+v %v", src, got, err)
		}
	}
}

// fixtures are decks as people write them.
func fixtures(t testing.TB) (out []string) {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

func TestCleanRemoves(t *testing.T) {
	tests := []struct{ src, want, removed string }{
		{`<section><script>alert(1)</script>a</section>`, `<section>a</section>`, "<script> at line 1, column 10"},
		{"<section>\n <p onclick='x()' id=a>a</p></section>", "<section>\n <p id=\"a\">a</p></section>", "attribute onclick of <p> at line 2, column 2"},
		{`<section><a href="java&#9;script:x()">a</a></section>`, `<section><a>a</a></section>`, "attribute href of <a> at line 1, column 10"},
		{`<section data-background-iframe="javascript:x()">a</section>`, `<section>a</section>`, "attribute data-background-iframe of <section> at line 1, column 1"},
		{`<section data-other=1 data-x.y_z="a (b)">a</section>`, `<section data-other=1 data-x.y_z="a (b)">a</section>`, ""},
		{`<section data-link="java&#9;script:x()">a</section>`, `<section>a</section>`, "attribute data-link of <section> at line 1, column 1"},
		{`<section data-markdown data-markdown-parsed>a</section>`, `<section data-markdown="">a</section>`, "attribute data-markdown-parsed of <section> at line 1, column 1"},
		{`<section><canvas width="9" height="9">a</canvas><progress value="1" max="2"></progress><fieldset><legend>b</legend>c</fieldset></section>`, `<section><canvas width="9" height="9">a</canvas><progress value="1" max="2"></progress><fieldset><legend>b</legend>c</fieldset></section>`, ""},
		{`<section><img src="a.png" usemap="#m"><map name="m"><area shape="rect" coords="0,0,9,9" href="https://example.org"><area href="javascript:x"></map></section>`, `<section><img src="a.png" usemap="#m"><map name="m"><area shape="rect" coords="0,0,9,9" href="https://example.org"><area></map></section>`, "attribute href of <area> at line 1, column 116"},
		{`<section><svg><defs><filter id="f"><feGaussianBlur in="SourceAlpha" stdDeviation="3"/><feImage href="https://example.org/a.png"/></filter></defs><circle r="4" filter="url(#f)"/></svg></section>`, `<section><svg><defs><filter id="f"><feGaussianBlur in="SourceAlpha" stdDeviation="3"/></filter></defs><circle r="4" filter="url(#f)"/></svg></section>`, "<feimage> at line 1, column 87"},
		{`<section data-markdown><textarea data-template>## A &lt;b> &amp; <i onclick=x>i</i>` + "\n" + `</script></textarea></section>`, `<section data-markdown><script type="text/template">## A <b> & <i>i</i>` + "\n" + `__SCRIPT_END__</script></section>`, "attribute onclick of <i> at line 1, column 59"},
		{`<section><textarea data-template>x</textarea></section>`, `<section></section>`, "<textarea> at line 1, column 10"},
		{`<section><pre><code><button onclick="a && b">x</button><script>y</script><b>z</b></code></pre></section>`, `<section><pre><code>&lt;button onclick="a &amp;&amp; b">x&lt;/button>&lt;script>y&lt;/script><b>z</b></code></pre></section>`, ""},
		{`<section><pre><code data-noescape><b onclick=x>z</b></code></pre></section>`, `<section><pre><code data-noescape><b>z</b></code></pre></section>`, "attribute onclick of <b> at line 1, column 35"},
		{`<section><div data-markdown><pre><code><b onclick=x>z</b></code></pre></div></section>`, `<section><div data-markdown><pre><code><b>z</b></code></pre></div></section>`, "attribute onclick of <b> at line 1, column 40"},
		{`<section><div data-markdown><script type="math/tex"><img src=x onerror=x></script></div></section>`, `<section><div data-markdown></div></section>`, "<script> at line 1, column 29"},
		{`<section><svg><a><animate attributeName="href" values="javascript:x" /></a></svg></section>`, `<section><svg><a><animate values="javascript:x" /></a></svg></section>`, "attribute attributename of <animate> at line 1, column 18"},
		{`<section><svg><foreignObject><p></svg></p></foreignObject><script type="math/tex"><img src=x onerror=x></script></svg></section>`, `<section><svg><foreignObject><p></svg></p></foreignObject></svg></section>`, "<script> at line 1, column 59"},
		{`<section><svg><style>a{background:url(java&#115;cript:x)}</style></svg></section>`, `<section><svg></svg></section>`, "<style> at line 1, column 15"},
		{`<section><svg><style><img onerror=x></style></svg></section>`, `<section><svg></svg></section>`, "<style> at line 1, column 15"},
		{`<section><svg><title><img src=x onerror=x></title></svg></section>`, `<section><svg><title>&lt;img src=x onerror=x></title></svg></section>`, ""},
		{`<section><svg><use href="data:image/svg+xml,x"/></svg></section>`, `<section><svg><use /></svg></section>`, "attribute href of <use> at line 1, column 15"},
		{`<section><img src="data:image/svg+xml,x"></section>`, `<section><img></section>`, "attribute src of <img> at line 1, column 10"},
		{`<section><p style="width: expression(x)">a</p></section>`, `<section><p>a</p></section>`, "attribute style of <p> at line 1, column 10"},
		{`<section><p style="background: u\72l(javascript:x)">a</p></section>`, `<section><p>a</p></section>`, "attribute style of <p> at line 1, column 10"},
		{`<section><p style="color: red; width: expression(x); background: url(javascript:x); margin: 0">a</p></section>`, `<section><p style="color: red; margin: 0">a</p></section>`, "declaration width of the style of <p> at line 1, column 10|declaration background of the style of <p> at line 1, column 10"},
		{"<section><style>\n@import url(https://fonts.example/a.css);\n.a { color: red; behavior: url(x) }\n.b { margin: 0 }</style></section>", "<section><style>\n\n.a { color: red;}\n.b { margin: 0 }</style></section>", "@import of <style> at line 2, column 1|declaration behavior of <style> at line 3, column 18"},
		{`<section><style>.a { b: url(java;script:x); c: "\201C"; d: url(/**/javascript:x) } .e { f: "<" }</style></section>`, `<section><style>.a { c: "\201C";} .e {}</style></section>`, "declaration b of <style> at line 1, column 22|declaration d of <style> at line 1, column 57|declaration f of <style> at line 1, column 89"},
		{`<section><style>a[b="javascript:x"] { c: d }</style></section>`, `<section></section>`, "<style> at line 1, column 10"},
		{`<section data-markdown><script type="text/template"><p style="a: b; c: expression(d)">x</p></script></section>`, `<section data-markdown><script type="text/template"><p style="a: b;">x</p></script></section>`, "declaration c of the style of <p> at line 1, column 53"},
		{`<section><form action="x"><input>b</form></section>`, `<section>b</section>`, "<form> at line 1, column 10|<input> at line 1, column 27"},
		{`<section><<script>x</script>img src=x onerror=x></section>`, `<section><img src="x"></section>`, "<script> at line 1, column 11|attribute onerror of <img> at line 1, column 10"},
		{`<section><iframe srcdoc="<script>x</script>">y</iframe></section>`, `<section><iframe></iframe></section>`, "attribute srcdoc of <iframe> at line 1, column 10|content of <iframe> at line 1, column 46"},
		{`<section data-markdown><script type="text/template"><img src=x onerror=x></script></section>`, `<section data-markdown><script type="text/template"><img src="x"></script></section>`, "attribute onerror of <img> at line 1, column 53"},
		{`<section data-markdown>&lt;script>x</section>`, `<section data-markdown>&amp;lt;script>x</section>`, "hidden script at line 1, column 24"},
		{`<section data-markdown>[a](java&Tab;script:x)</section>`, "<section data-markdown>[a](java\tscript&amp;amp;colon;x)</section>", "hidden script at line 1, column 24"},
		{`<section><!-- a --!> <img onerror=x> --></section>`, `<section> <img> --></section>`, "comment at line 1, column 10|attribute onerror of <img> at line 1, column 22"},
		{`<section><script type="math/tex"><!-- <script> --></script>a</section>`, `<section>a</section>`, "<script> at line 1, column 10"},
		{`<section><script type="math/tex+x">x</script>a</section>`, `<section>a</section>`, "<script> at line 1, column 10"},
		{`<section><p`, ``, ""},
	}
	for _, test := range tests {
		got, err := Clean(t.Context(), test.src)
		if test.want == "" {
			if err == nil {
				t.Errorf("%s: got %+v", test.src, got)
			}
			continue
		}
		if err != nil || got.HTML != test.want || strings.Join(got.Removed, "|") != test.removed {
			t.Errorf("%s\n got  %+v\n want %s %v", test.src, got, test.want, err)
		}
	}
}

// TestCleanCounts reports so many removals with their places, and how many more there are.
func TestCleanCounts(t *testing.T) {
	got, err := Clean(t.Context(), "<section>"+strings.Repeat("<x>\n", 130)+"</section>")
	if err != nil || len(got.Removed) != 101 || got.Removed[99] != "<x> at line 100, column 1" || got.Removed[100] != "and 30 more" {
		t.Errorf("%v %q", err, got.Removed)
	}
}

// TestCleanEnds cleans HTML of the largest size whose reading takes long, for a call that has ended: readers of other people
// notice it too.
func TestCleanEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, piece := range map[string]string{"plain": "<p>a</p>", "crossed": "<b><p>", "unusual": "<p a=&#39;b'>"} {
		begun := time.Now()
		_, err := Clean(ctx, "<section>"+strings.Repeat(piece, MaxBytes/2/len(piece))+"</section>")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v after %v", name, err, time.Since(begun))
		}
	}
}

// TestAttributes bounds the attributes of an element, which are compared with each other.
func TestAttributes(t *testing.T) {
	element := func(n int) string {
		var b strings.Builder
		b.WriteString("<section><p")
		for i := range n {
			fmt.Fprintf(&b, " a%d", i)
		}
		return b.String() + ">a</p></section>"
	}
	if _, err := Clean(t.Context(), element(maxAttributes)); err != nil {
		t.Error(err)
	}
	var f *fault.Error
	if _, err := Clean(t.Context(), element(MaxBytes/20)); !errors.As(err, &f) || f.Kind != fault.Limit || f.Line != 1 || f.Column != 10 {
		t.Error(err)
	}
}

func TestCleanRefuses(t *testing.T) {
	tests := []struct {
		src          string
		line, column int
	}{
		{"<div></div>", 1, 1},
		{"<section></section>\n  text", 2, 3},
		{"<section>\n</section>\n <!-- ü --> <p>", 3, 13},
		{"<!doctype html><section></section>", 1, 1},
		{"<section></section></section>", 1, 20},
		{"\n<section><section></section>", 2, 1},
		{"<script>x</script>", 1, 1},
	}
	for _, test := range tests {
		_, err := Clean(t.Context(), test.src)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Line != test.line || f.Column != test.column {
			t.Errorf("%q: got %v, want line %d, column %d", test.src, err, test.line, test.column)
		}
	}
}

func TestSane(t *testing.T) {
	tests := []struct {
		tag  string
		want bool
	}{
		{"<p>", true},
		{"</p\n>", true},
		{"<br/>", true},
		{`<p a b=c d="<e>" f='g"' h = i />`, true},
		{"<p a=b/c/>", true},
		{"<>", false},
		{"<p", false},
		{"<p/a=b>", false},
		{`<p a="b"c=d>`, false},
		{`<p a=b"c>`, false},
		{`<p a=>`, false},
		{`<p "a">`, false},
		{`<p a="b>`, false},
		{"<p a=`b`>", false},
		{"<p\x00>", false},
		{"<p a='\x00'>", false},
		{"<1>", false},
	}
	for _, test := range tests {
		if got := sane(test.tag); got != test.want {
			t.Errorf("%q: got %t", test.tag, got)
		}
	}
}

func TestOutline(t *testing.T) {
	src := `<section data-notes="one">a<section>b<aside class="x notes"><p>two</p><p>three</p></aside></section><section></section></section>
<section data-visibility="hidden"><aside class="notes">four</aside></section>`
	got, err := Clean(t.Context(), src)
	if want := "one\n\ntwo\nthree\n\nfour"; err != nil || got.Slides != 3 || got.Notes != want || got.Text != "a b" {
		t.Errorf("got %+v %v, want 3 slides, %q", got, err, want)
	}
}

func FuzzClean(f *testing.F) {
	for _, src := range fixtures(f) {
		f.Add(src)
	}
	f.Add(`<section><svg><script type="text/template"><img src=x onerror=y></script></svg><math><mtext><style><!--</style><img title="--><img src=1 onerror=1>"></section>`)
	f.Add(`<section data-markdown>&lt;a href=java&#115;cript:x&gt;<!--a--><title>b</title><iframe src=//x>c</iframe></section>`)
	f.Fuzz(func(t *testing.T, src string) {
		once, err := Clean(t.Context(), src)
		if err != nil {
			return
		}
		twice, err := Clean(t.Context(), once.HTML)
		if err != nil || twice.HTML != once.HTML || len(twice.Removed) > 0 {
			t.Errorf("%q\n once  %+v\n twice %+v %v", src, once, twice, err)
		}
	})
}

func TestWithoutNotes(t *testing.T) {
	for src, want := range map[string]string{
		`<section data-notes="n" id="a">x<aside class="notes">n<aside>m</aside></aside>y</section>`:                            `<section id="a">xy</section>`,
		`<section><aside class="box">kept</aside></section>`:                                                                   `<section><aside class="box">kept</aside></section>`,
		"<section data-markdown data-separator=\"\\r?\\n---\\r?\\n\">a\nNote: n\n--\nm\n---\nb</section>":                      "<section data-markdown data-separator=\"\\r?\\n---\\r?\\n\">a\n\n---\nb</section>",
		"<section data-markdown>a\nNote: n\n---\nof one slide</section><section>b</section>":                                   "<section data-markdown>a\n</section><section>b</section>",
		"<section data-markdown>a\nNote: n <b>m</b> o<section>p</section>q</section>":                                          "<section data-markdown>a\n<section>p</section>q</section>",
		"<section data-markdown data-separator-notes=\"^Say:\">a\nNote: kept\nSay: n\n---\nb</section>":                        "<section data-markdown data-separator-notes=\"^Say:\">a\nNote: kept\n\n---\nb</section>",
		"<section data-markdown data-separator=\"^===$\" data-separator-vertical=\"^==$\">a\nnote: n\n---\nm\n==\nb</section>": "<section data-markdown data-separator=\"^===$\" data-separator-vertical=\"^==$\">a\n==\nb</section>",
		"<section data-markdown data-separator-notes=\"(?!x)\">a\nNote: n</section><section>b</section>":                       "<section data-markdown data-separator-notes=\"(?!x)\"></section><section>b</section>",
		"<section data-markdown><script type=\"text/template\">a\nnotes: n\n</script></section><section>Note: kept</section>":  "<section data-markdown><script type=\"text/template\">a\n</script></section><section>Note: kept</section>",
	} {
		if got := WithoutNotes(src); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", src, got, want)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	src := strings.Repeat(fixtures(b)[1], 24)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Clean(b.Context(), src); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFences keeps code between fences in Markdown as it is, and filters what might not be code: each of
// these has an image that some reader of Markdown brings to life.
func TestFences(t *testing.T) {
	const attack = "<img src=x onerror=x>"
	for _, text := range []string{
		"```\n---\n" + attack + "\n```", "```\nNote: a\n" + attack + "\n```", "<div>\n```\n" + attack + "\n```", "<!--\n\n```\n-->" + attack + "\n```",
		"- a\n\n  ```\n" + attack + "\n  ```", "```\"><b>\n" + attack + "\n```", "```js x\ny\n\n```\n" + attack + "\n```", "```\n" + attack, "    ```\n    a\n```\n" + attack + "\n```",
		"<pre>\n\n```\n</pre>" + attack + "\n```", "```\n  ```\n" + attack + "\n```", "a `b\n```\n```\n" + attack + "\n```", "~~~\n```\n~~~\n" + attack + "\n```\n", "\n\n\n# a\n```\n  ```\n" + attack + "\n```",
		"<p title=\"\n\n```\n\">\n```\n" + attack + "\n```", "# a\n```\r" + attack + "\n```", "> ```\n" + attack + "\n```\n" + attack + "\n```",
	} {
		got, err := Clean(t.Context(), `<section data-markdown><script type="text/template">`+text+`</script></section>`)
		if err != nil || strings.Contains(got.HTML, "onerror") {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
	for _, separators := range []string{`data-separator="^src"`, `data-separator-vertical="[a-z]"`, `data-separator-notes="(?=x)"`, `data-separator-notes="y:"`} {
		got, err := Clean(t.Context(), `<section data-markdown `+separators+`><script type="text/template">`+"```\nsrc\ny: "+attack+"\n```"+`</script></section>`)
		if err != nil || strings.Contains(got.HTML, "onerror") {
			t.Errorf("%s: %+v %v", separators, got, err)
		}
	}
}
