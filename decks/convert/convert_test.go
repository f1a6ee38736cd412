package convert

import (
	"maps"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	tests := []struct{ name, text, want, title string }{
		{"a.html", "<title>T</title><p>x</p><section>&lt;a&gt; &amp; 'b'<script type=\"text/template\"><section></script></section>", "<section>&lt;a&gt; &amp; 'b'<script type=\"text/template\"><section></script></section>", "T"},
		{"a.htm", `<div class="slides"><div><section>a</section></div></div><section>no slide</section>`, "<section>a</section>", ""},
		{"", "<section>open<section>too", "<section>open<section>too</section></section>", ""},
		{"a.md", "# A\r\n\r\n---\r\n\r\nb", "<section>\n<h1>A</h1>\n</section>\n<section>\n<p>b</p>\n</section>", "A"},
		{"", "a\n\n---\nNote: said\n---\n\nb", "<section>\n<p>a</p>\n</section>\n<section>\n<aside class=\"notes\">\n<p>said</p>\n</aside>\n</section>\n<section>\n<p>b</p>\n</section>", ""},
		{"", "a\n\n---\nAgenda: x\n\n- y\n---\n\nb", "<section>\n<p>a</p>\n</section>\n<section>\n<p>Agenda: x</p>\n<ul>\n<li>y</li>\n</ul>\n</section>\n<section>\n<p>b</p>\n</section>", ""},
		{"", "a\n\n```go [1|2-3]\nx<y\n```\n\n```js {2|4}\nz\n```\n\n```\nw\n```", "<section>\n<p>a</p>\n<pre><code class=\"language-go\" data-line-numbers=\"1|2-3\">x&lt;y\n</code></pre>\n<pre><code class=\"language-js\" data-line-numbers=\"2|4\">z\n</code></pre>\n<pre><code>w\n</code></pre>\n</section>", ""},
		{"x.md", "</section><b>x", "<section>\n<b>x</b></section>", ""},
		{"", `{"slides":[{"html":"<i>"}]}`, "<section>\n<i></i></section>", ""},
		{"a.json", `{"slides":[{"blocks":[{"type":"math","value":"a<b"}]}]}`, `<section>` + "\n" + `<div class="sl-block" data-block-type="math" style="position: absolute;"><div class="sl-block-content">\[a&lt;b\]</div></div>` + "\n</section>", ""},
	}
	for _, test := range tests {
		d, err := Read(t.Context(), "", test.name, test.text)
		if err != nil || d.HTML != test.want || d.Title != test.title {
			t.Errorf("%s %q:\ngot  %v %v\nwant %q %q", test.name, test.text, d, err, test.want, test.title)
		}
	}
	for _, bad := range []string{"<p>", `{"slides":[]}`, `{"slides":[1]}`, "---\na: [\n---\n"} {
		if d, err := Read(t.Context(), "", "", bad); err == nil {
			t.Errorf("%q: read as %v", bad, d)
		}
	}
	if _, err := Read(t.Context(), "pptx", "", ""); err == nil || !strings.Contains(err.Error(), "pptx") {
		t.Errorf("unknown format: %v", err)
	}
}

// TestOptions reads the options of the framework as a browser does: not those in comments, texts and options of plugins.
func TestOptions(t *testing.T) {
	for script, want := range map[string]map[string]any{
		"Reveal.initialize({ // rtl: true\n  /* loop: true, */ controls: true, margin: 0.04 })":                                                          {"margin": 0.04},
		"Reveal.initialize({ 'transition': \"fade\", \"rtl\": true, loop: !0, width: '100%' });":                                                         {"transition": "fade", "rtl": true, "loop": true},
		"const s = 'Reveal.initialize({ rtl: true })'":                                                                                                   {},
		"Reveal.initialize({ menu: { transition: 'zoom', loop: true }, keyboard: { 13: () => ({ rtl: true }) }, backgroundTransition: `none` })":         {"background_transition": "none"},
		"import Reveal from 'reveal.js';\nconst deck = new Reveal(document.querySelector('.a'), { plugins: [A], loop: true });\nawait deck.initialize()": {"loop": true},
		"window.onload = () => { if (a) Reveal.configure({ rtl: false }) }":                                                                              {"rtl": false},
		"Reveal.initialize({ rtl: yes(), loop: other, transition: 'a' + 'b', margin: -1, ...more })":                                                     {},
		"Other.initialize({ rtl: true })": {},
		"Reveal.initialize({ rtl: true":   {},
		"Reveal.initialize({ x: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + ", rtl: true })": {},
	} {
		d, err := Read(t.Context(), HTML, "", "<section>a</section><script>"+script+"</script>")
		if err != nil || !maps.Equal(d.Options, want) {
			t.Errorf("%.100s: got %v %v, want %v", script, d, err, want)
		}
	}
}

// TestLook reads the theme of an export of slides.com.
func TestLook(t *testing.T) {
	d, err := Read(t.Context(), HTML, "", `<body class="reveal-viewport theme-font-league theme-color-sky-blue"><div class="slides"><section class="theme-color-none">a</section></div>`)
	if want := map[string]any{"theme_font": "league", "theme_color": "sky-blue"}; err != nil || !maps.Equal(d.Options, want) {
		t.Errorf("got %v %v, want %v", d, err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("markdown", "---\na: b\n---\n# x\n--\n![bg](y)\n<!-- z -->")
	f.Add("html", `<div class="slides"><section a='b'>&lt;</section></div>`)
	f.Add("define", `{"slides":[[{"markdown":"#"}],{"blocks":[{"type":"text","value":"<"}]}]}`)
	f.Fuzz(func(t *testing.T, format, text string) {
		d, err := Read(t.Context(), format, "", text)
		if err == nil && strings.TrimSpace(d.HTML) == "" {
			t.Errorf("%s %q: no slides and no error", format, text)
		}
	})
}

// TestSettings: two names of a setting may say the same; the more specific one counts, whatever the order of a map.
func TestSettings(t *testing.T) {
	for range 20 {
		d, err := Read(t.Context(), "", "a.md", "---\nbackgroundImage: url(b.png)\nbackground: url(a.png)\n---\n# A\n")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(d.HTML, "b.png") || strings.Contains(d.HTML, "a.png") {
			t.Fatalf("got %s", d.HTML)
		}
	}
}
