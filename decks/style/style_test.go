package style

import (
	"strings"
	"testing"
)

func TestCompile(t *testing.T) {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for css, want := range map[string]string{
		"":                                    "",
		" /* none */":                         "",
		"h1 { color: red; background: blue }": ".reveal h1 { color: red; background: blue; }",
		"h1,.a > b , p::before{color:red!important}":                                   ".reveal h1, .reveal .a > b, .reveal p::before { color: red!important; }",
		".reveal h1{color:red}.reveal.dark p{margin:0}":                                ".reveal h1 { color: red; } .reveal.dark p { margin: 0; }",
		".reveal-viewport{a:b}.reveals p{a:b}":                                         ".reveal-viewport { a: b; } .reveal .reveals p { a: b; }",
		":root{--r-main-color:#123}html body .x{a:b}":                                  ".reveal-viewport { --r-main-color: #123; } .reveal-viewport .x { a: b; }",
		"body.wide>p{a:b} bodyx{a:b} HTML>BODY{a:b}":                                   ".reveal-viewport.wide>p { a: b; } .reveal bodyx { a: b; } .reveal-viewport { a: b; }",
		":is(h1,h2) a[href=\"a,b{}\"]{a:b}":                                            `.reveal :is(h1,h2) a[href="a,b{}"] { a: b; }`,
		"@media (width < 600px){h1{a:b}} @media print{}":                               "@media (width < 600px) { .reveal h1 { a: b; } }",
		"@supports (display:grid){@media screen{i{a:b}}}":                              "@supports (display:grid) { @media screen { .reveal i { a: b; } } }",
		"@keyframes x{from{a:b}50%{a:c}} @layer a,b;":                                  "@keyframes x { from { a: b; } 50% { a: c; } } @layer a,b;",
		"p{&:hover{a:b} > b{c:d} e:f; @media print{g:h}}":                              ".reveal p { &:hover { a: b; } > b { c: d; } e: f; @media print { g: h; } }",
		"&.x{a:b} > p{a:b}":                                                            ".reveal.x { a: b; }",
		"@import 'a.css'; @import url(b);@charset 'x'; p{a:b":                          ".reveal p { a: b; }",
		"@page{margin:0} @namespace x url(y); @x{p{a:b}}":                              "",
		"p{background:url(https://x.org/a.png)} q{a:b}":                                ".reveal q { a: b; }",
		"p{background:url( 'files/1/a.png' ) #fff}":                                    ".reveal p { background: url( 'files/1/a.png' ) #fff; }",
		"p{background:url(data:image/png;base64,iVB/+=)}":                              ".reveal p { background: url(data:image/png;base64,iVB/+=); }",
		"p{background:url(data:text/html,x)}":                                          "",
		`p{background:image-set("//x.org/a.png" 1x)}`:                                  "",
		`p{background:u\72l(//x.org/a);b:\75rl("//x")}`:                                "",
		"p{--x:url(//x.org/a);width:expression(alert(1))}":                             "",
		"p{behavior:url(#x);-moz-binding:url(#x);fill:url(#g)}":                        ".reveal p { fill: url(#g); }",
		`@font-face{font-family:X;src:url(data:font/woff2;base64,AA) format("woff2")}`: `@font-face { font-family: X; src: url(data:font/woff2;base64,AA) format("woff2"); }`,
		`@font-face{src:url("https://x.org/x.woff2")}`:                                 "",
		`p::after{content:"</style>; } { \"x"}`:                                        `.reveal p::after { content: "</style>; } { \"x"; }`,
		"$a: 3px; @b: 4px; .m(@x){a:b} p{@include x; a:b} q{width:$a;height:@b}":       ".reveal p { a: b; } .reveal q { width: $a; }",
		"// note\np{a:b} i{a:b}":                                                       ".reveal i { a: b; }",
		"<!-- p{a:b} -->":                                                              ".reveal p { a: b; }",
		"p{a:b}} i{c:d}":                                                               ".reveal p { a: b; } .reveal i { c: d; }",
		"p{a:'broken\n;c:d}":                                                           ".reveal p { c: d; }",
		`p{a:b\`:                                                                       "",
	} {
		got := Compile(css)
		if flat(got) != want {
			t.Errorf("%s\n got %s\nwant %s", css, flat(got), want)
		}
		if again := Compile(got); again != got {
			t.Errorf("%s\ncompiled again: %s\nwas: %s", css, again, got)
		}
	}
	if got := Compile(strings.Repeat("@media all{", 1000) + "p{a:b}"); got != "" {
		t.Errorf("deep: %s", got)
	}
}

// FuzzCompile has sheets that compile to themselves and reach nothing outside.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"h1{color:red}", "@media print{p{a:url(files/1/x.png)}}", `p{a:"\";b:c}`, "p{a:b\\", "@font-face{src:url(x)}", "a{b:c/*", "html>body{a:b}", "p{&:x{a:b}}", "<!--a{b:c}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, css string) {
		got := Compile(css)
		_ = Removed(css)
		if again := Compile(got); again != got {
			t.Fatalf("%q compiles to\n%s\nand that to\n%s", css, got, again)
		}
		if low := strings.ToLower(quoted().ReplaceAllString(got, `""`)); strings.Contains(low, "@import") || strings.Contains(low, "url(http") {
			t.Fatalf("%q: %s", css, got)
		}
	})
}
