package style

import (
	"fmt"
	"strings"
	"testing"
)

// TestFetches has every way in which a value may name an address: what is not of the deck goes.
func TestFetches(t *testing.T) {
	for value, stays := range map[string]bool{
		`url(#g)`: true, `url("#g")`: true, `url(files/12/a.png)`: true, `url(./files/12/a.png)`: true, `URL(files/1/a.png)`: true,
		`url(data:image/svg+xml,%3Csvg/%3E)`: true, `url(DATA:image/PNG;base64,AA)`: true, `url(data:image/png;base64,AA), url(#g)`: true,
		`image-set("files/1/a.png" 1x, "files/1/b.png" 2x)`: true, `var(--c) url(#g)`: true, `none`: true,
		`url(a.png)`: false, `url(/files/1/a.png)`: false, `url(//x.example/a)`: false, `url(\66iles/1/a)`: false, `url(data:text/css,a)`: false,
		`url(data:image/pngx,a)`: false, `url( "https://x.example" )`: false, `url(files/x/a.png)`: false, `url("files/1/a" "x")`: false,
		`url(#g), url(//x.example)`: false, `url("#g") url('//x.example')`: false, `image("//x.example/a")`: false, `src("//x.example/a")`: false,
		`-webkit-image-set("//x.example" 1x)`: false, `cross-fade(url(#g), "//x.example")`: false, `image-set(url(//x.example) 1x)`: false,
		// What looks like an address in a string is text, unless the string itself is loaded.
		`"url(//x.example/a)"`: true, `"a" url(#g) 'url(b) image-set(c)'`: true, `counter(a, "url(") "x"`: true, `image-set("files/1/a.avif" type("image/avif"))`: true,
		`image-set(calc(1) "//x.example" 1x)`: false, `cross-fade(url(#g) "x", rgb(1 1 1))`: false, `url(#g) "x" url("y")`: false,
		// Steps out of the folder of the deck's files lead to any address of the server.
		`url(files/1/../../../logout)`: false, `url("files/1/../a")`: false, `url(files/1/%2e%2E/a)`: false, `url(files/1/.%2e/a)`: false,
		`url(files/1/a..b.png)`: true, "url('files/1/.\t./a')": false, `url(FILES/1/../a)`: false, `url( files/1/a.png )`: true, `url("files/1/..")`: false, `url(files/1/./a)`: false,
		// A variable may hold any string.
		`image-set(var(--s) 1x)`: false, `-webkit-image-set( var( --s ) 1x)`: false, `src(var(--s))`: false, `image(attr(title))`: false, `image-set(env(x) 1x)`: false,
		`expression(x)`: false, `EXPRESSION (x)`: false, `"javascript:x"`: false, `vbscript:x`: false, `a{`: false, `(`: false, `[)`: false, `@x`: false,
	} {
		got := Compile("p{background:" + value + "}")
		if want := ".reveal p {\nbackground: " + value + ";\n}\n"; stays && got != want || !stays && strings.Contains(got, "background") {
			t.Errorf("%s: stays is %t, but the sheet is %q", value, stays, got)
		}
	}
}

// TestRemoved reports what is left out of a style sheet with its kind and place, and nothing else.
func TestRemoved(t *testing.T) {
	for css, want := range map[string]string{
		"": "", " /* only */ ": "", "p{a:b}": "", "@charset 'x'; p { a: \"url(//x)\" }": "", "@layer a; @media print{p{a:b;;}}": "",
		"@import 'a.css';\np{a:b}":                     "@import of the style sheet at line 1, column 1",
		"p {\n  a: b;\n  ü: url(//x);\n  c: d\n}":      "declaration ü of the style sheet at line 3, column 3",
		"p { a: b; background : url(https://x) }":      "declaration background of the style sheet at line 1, column 11",
		"@media print {\n p {\n /* é */ a: url(x) } }": "declaration a of the style sheet at line 3, column 10",
		"> p { a: b }\n$x: 3;\n@mixin a { b: c }":      "rule > p of the style sheet at line 1, column 1|rule $x: 3 of the style sheet at line 2, column 1|@mixin of the style sheet at line 3, column 1",
		"@font-face { src: url(https://x/y.woff2) }":   "declaration src of the style sheet at line 1, column 14",
		"p { behavior: x; --a { b: c } nonsense }":     "declaration behavior of the style sheet at line 1, column 5|declaration --a of the style sheet at line 1, column 18|declaration nonsense of the style sheet at line 1, column 31",
		"p{a:b} tail": "rule tail of the style sheet at line 1, column 8",
	} {
		if got := strings.Join(Removed(css), "|"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", css, got, want)
		}
	}
	if got := Removed(strings.Repeat("@import 'x';", 130)); len(got) != 101 || got[100] != "and 30 more in the style sheet" {
		t.Errorf("%d reported, %q", len(got), got)
	}
}

// TestAddresses visits the addresses of url() alone.
func TestAddresses(t *testing.T) {
	var seen []string
	got := Addresses(`a{b:url(x) url( "y" ) URL('z')} /* url(c) */ p::after{content:"url(d) \" url(e)"; curl(f); g:url( h i ) url()}`, func(address string) (string, bool) {
		seen = append(seen, address)
		return "n", address == "y"
	})
	if want := "x y z"; strings.Join(seen, " ") != want || got != `a{b:url(x) url(n) URL('z')} /* url(c) */ p::after{content:"url(d) \" url(e)"; curl(f); g:url( h i ) url()}` {
		t.Errorf("visited %q, got %s", seen, got)
	}
}

// TestSelectors has what a rule's selector becomes.
func TestSelectors(t *testing.T) {
	for selector, want := range map[string]string{
		"p":                    ".reveal p",
		"*":                    ".reveal *",
		"a , b":                ".reveal a, .reveal b",
		"a,,b":                 ".reveal a, .reveal b",
		"#x":                   ".reveal #x",
		"::selection":          ".reveal ::selection",
		":root":                ".reveal-viewport",
		":ROOT.dark":           ".reveal-viewport.dark",
		"html":                 ".reveal-viewport",
		"html, body":           ".reveal-viewport, .reveal-viewport",
		"html > body > p":      ".reveal-viewport > p",
		"body:has(h1) p":       ".reveal-viewport:has(h1) p",
		"bodybuilder":          ".reveal bodybuilder",
		"body-x":               ".reveal body-x",
		".body":                ".reveal .body",
		".reveal":              ".reveal",
		".reveal .slides":      ".reveal .slides",
		".revealed":            ".reveal .revealed",
		"div.reveal p":         "div.reveal p",
		".reveal-viewport > p": ".reveal-viewport > p",
		"p .reveal":            ".reveal p .reveal",
		"&":                    ".reveal",
		"&:hover":              ".reveal:hover",
		"&x":                   "",
		"> p":                  "",
		"~ p":                  "",
		"p, > b":               ".reveal p",
		`[a="x,y"] i`:          `.reveal [a="x,y"] i`,
		`[a='}'] i`:            `.reveal [a='}'] i`,
		":is(a, b) c":          ".reveal :is(a, b) c",
		"a /* , */ b":          ".reveal a   b",
		"a // b":               "",
		"$x":                   "",
		"@x":                   "",
		"p(":                   "",
		"<p>":                  "",
		`p\`:                   "",
		`.a\:b`:                `.reveal .a\:b`,
		"":                     "",
	} {
		got := Compile(selector + "{a:b}")
		if want != "" {
			want += " {\na: b;\n}\n"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
}

// TestDeclarations has what stands between the braces of a rule.
func TestDeclarations(t *testing.T) {
	for body, want := range map[string]string{
		"a:b": "a: b;", "a:b;;c:d;": "a: b; c: d;", "a : b ": "a: b;", "a:": "", ":b": "", "a": "", "a b:c": "", "A:B": "A: B;",
		"--x:1": "--x: 1;", "--x:{a:b}": "", "--x: {a:b}; c:d": "c: d;", "a:b!important": "a: b!important;", "a:b:c": "a: b:c;",
		"a:b /* c:d; */": "a: b;", "a/**/:b": "a: b;", "/* a:b": "", `a:"x;y"`: `a: "x;y";`, `a:'x\';y'`: `a: 'x\';y';`, "a:(b;c)": "",
		"behavior:x": "", "BEHAVIOR:x": "", "-moz-binding:x": "", "*a:b": "", "_a:b": "_a: b;", `\61:b`: "",
		"& i{a:b}": "& i { a: b; }", "i{a:b}": "i { a: b; }", "i{}": "", "a:b;i{c:d}": "a: b; i { c: d; }", "@media print{a:b}": "@media print { a: b; }",
		"@import 'x';a:b": "a: b;", "@font-face{a:b}": "", "@x{a:b}": "", "@apply x;a:b": "a: b;", "a:<!--b-->": "a: b;",
	} {
		got := strings.Join(strings.Fields(strings.TrimSuffix(strings.TrimPrefix(Compile("p{"+body+"}"), ".reveal p {\n"), "}\n")), " ")
		if got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
}

// TestAtRules has the rules that begin with an at sign.
func TestAtRules(t *testing.T) {
	for css, want := range map[string]string{
		"@MEDIA print{p{a:b}}":                      "@media print { .reveal p { a: b; } }",
		"@media{p{a:b}}":                            "@media { .reveal p { a: b; } }",
		"@layer{p{a:b}}":                            "@layer { .reveal p { a: b; } }",
		"@layer x.y{p{a:b}}":                        "@layer x.y { .reveal p { a: b; } }",
		"@layer x;":                                 "@layer x;",
		"@layer url(//x.example);":                  "",
		"@container c (width > 1px){p{a:b}}":        "@container c (width > 1px) { .reveal p { a: b; } }",
		"@supports (a:url(//x.example)){p{a:b}}":    "",
		"@starting-style{p{a:b}}":                   "@starting-style { .reveal p { a: b; } }",
		"@property --x{syntax:'<color>'}":           "@property --x { syntax: '<color>'; }",
		"@-webkit-keyframes x{to{a:b}}":             "@-webkit-keyframes x { to { a: b; } }",
		"@keyframes x{to{a:url(//x.example)}}":      "",
		"@font-face{src:local('X')}":                "@font-face { src: local('X'); }",
		"@font-face{src:url(files/1/x.woff2)}":      "@font-face { src: url(files/1/x.woff2); }",
		"@font-face{src:url(#x) format('//x')}":     "@font-face { src: url(#x) format('//x'); }",
		"@media print{@font-face{font-family:X}}":   "@media print { @font-face { font-family: X; } }",
		"@media print{@import 'x';p{a:b}}":          "@media print { .reveal p { a: b; } }",
		"@media print{:root{a:b}}":                  "@media print { .reveal-viewport { a: b; } }",
		"@document url(//x.example){p{a:b}}":        "",
		"@scope (p){i{a:b}}":                        "",
		"@function --f(){result:'//x.example'}":     "",
		"@{p{a:b}} i{c:d}":                          ".reveal i { c: d; }",
		"@media print;p{a:b}":                       ".reveal p { a: b; }",
		"@charset \"utf-8\";@namespace x;p{a:b}":    ".reveal p { a: b; }",
		"@media screen{p{a:b}":                      "@media screen { .reveal p { a: b; } }",
		"@media <x>{p{a:b}}":                        "@media <x> { .reveal p { a: b; } }",
		"@media print{p{a:b}}}i{c:d}":               "@media print { .reveal p { a: b; } } .reveal i { c: d; }",
		"@counter-style x{symbols:url(//x.ex) 'a'}": "",
	} {
		if got := strings.Join(strings.Fields(Compile(css)), " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", css, got, want)
		}
	}
}

// TestDepth has rules in rules, which stay up to a depth and go beyond it.
func TestDepth(t *testing.T) {
	for depth, stays := range map[int]bool{1: true, maxDepth - 1: true, maxDepth: false, 10_000: false} {
		css := strings.Repeat("@media all{", depth) + "p{a:b}" + strings.Repeat("}", depth)
		if got := Compile(css); strings.Contains(got, "a: b") != stays || strings.Count(got, "{") != strings.Count(got, "}") {
			t.Errorf("%d at-rules: %.200q", depth, got)
		}
		css = strings.Repeat("i{", depth) + "a:b" + strings.Repeat("}", depth)
		if got := Compile(css); strings.Contains(got, "a: b") != stays && depth != maxDepth || strings.Count(got, "{") != strings.Count(got, "}") {
			t.Errorf("%d nested rules: %.200q", depth, got)
		}
	}
	if got := Compile(fmt.Sprintf("p{a:%s}", strings.Repeat("(", 100_000))); got != "" {
		t.Errorf("brackets that nothing closes: %.100q", got)
	}
}
