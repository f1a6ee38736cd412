package theme_test

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"testing"

	"catena/decks/theme"
)

// TestNames: names of themes are stored with decks and are file names of style sheets, so they are unique, plain and stay.
func TestNames(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for what, names := range map[string][]string{"colour": theme.ColorNames(), "font": theme.FontNames()} {
		for i, name := range names {
			if !plain.MatchString(name) || slices.Index(names, name) != i {
				t.Errorf("%s %q is not a plain name of its own", what, name)
			}
		}
	}
	for _, c := range theme.Colors {
		if got := theme.ColorOf(c.Name); got.Name != c.Name || got.Background != c.Background {
			t.Errorf("colour %s is %v", c.Name, got)
		}
	}
	for _, name := range []string{"", "white", "WHITE-BLUE", "white-blue ", "../x"} {
		if got := theme.ColorOf(name); got.Name != "white-blue" {
			t.Errorf("colour %q is %s", name, got.Name)
		}
	}
}

// TestSheet has the style sheet of every theme: it says all that the shared part reads, and names no file but its own.
func TestSheet(t *testing.T) {
	asked := regexp.MustCompile(`var\((--r-[a-z-]+)\)`)
	for _, font := range theme.Fonts {
		css := theme.CSS("sea-yellow", font.Name, "x/")
		for _, m := range asked.FindAllStringSubmatch(css, -1) {
			if !strings.Contains(css, m[1]+": ") {
				t.Errorf("%s: nothing says %s", font.Name, m[1])
			}
		}
		for _, want := range []string{"--r-background-color: #12656b;", "--r-main-font: " + font.Body + ";", "--r-heading-font: " + font.Heading + ";", "--r-heading-font-weight: " + font.Weight + ";"} {
			if !strings.Contains(css, want) {
				t.Errorf("%s: no %s", font.Name, want)
			}
		}
		if got := strings.Contains(css, "--r-heading-text-transform: uppercase;"); got != font.Upper {
			t.Errorf("%s: capitals %t", font.Name, got)
		}
		if strings.Contains(css, "https:") || strings.Contains(css, "%!") || strings.Count(css, "{") != strings.Count(css, "}") {
			t.Errorf("%s: %s", font.Name, css)
		}
		files := theme.FontFiles(font.Name)
		if got := strings.Count(css, "@font-face"); got != len(files) {
			t.Errorf("%s: %d faces of %d files", font.Name, got, len(files))
		}
		if len(files) != len(slices.Compact(slices.Sorted(slices.Values(files)))) {
			t.Errorf("%s: a file twice: %q", font.Name, files)
		}
	}
	if a, b := theme.CSS("nope", "nope", ""), theme.CSS("white-blue", "montserrat", ""); a != b {
		t.Error("unknown names are not those of the first theme")
	}
	if got := theme.FontFiles("palatino"); len(got) != 0 {
		t.Errorf("files of a font that readers have: %q", got)
	}
	for font, want := range map[string]int{"asul": 2, "news": 10, "league": 8, "opensans": 6, "sketch": 8} {
		if got := theme.FontFiles(font); len(got) != want {
			t.Errorf("%s: %d files, want %d: %q", font, len(got), want, got)
		}
	}
}

// TestAllFaces: the sheet of all faces has each once.
func TestAllFaces(t *testing.T) {
	css := theme.FacesCSS("b/")
	for _, font := range theme.Fonts {
		for _, file := range theme.FontFiles(font.Name) {
			if strings.Count(css, `url("b/`+file+`")`) != 1 {
				t.Errorf("%s of %s is there %d times", file, font.Name, strings.Count(css, file))
			}
		}
	}
}

// TestHasFormulas has HTML with formulas and such that looks like it.
func TestHasFormulas(t *testing.T) {
	for _, test := range []struct {
		html string
		want bool
	}{
		{"", false},
		{"<p>mathematics</p>", false},
		{"<math><mi>x</mi></math>", false},
		{"$5 and $6", false},
		{"$$x$$", true},
		{`\(x\)`, true},
		{`\[x\]`, true},
		{`(x) [y] \ (z)`, false},
		{`<div data-block-type="math">x</div>`, true},
		{`<div data-block-type='math'>x</div>`, true},
		{`<div DATA-BLOCK-TYPE = math>x</div>`, true},
		{`<div data-block-type="mathematics">`, false},
		{`<div data-block-type="text">math</div>`, false},
		{`<script type="math/tex">x</script>`, true},
		{`<script type="math/tex; mode=display">x`, true},
		{`<script TYPE=Math/TeX>x</script>`, true},
		{`<script type="math/texture">x</script>`, false},
		{`<script type="text/template">math</script>`, false},
	} {
		if got := theme.HasFormulas(test.html); got != test.want {
			t.Errorf("%s: %t", test.html, got)
		}
	}
}

// TestPackages: the built-in files are of packages with a version, a license and a checksum.
func TestPackages(t *testing.T) {
	all, err := theme.Packages()
	if err != nil || len(all) == 0 {
		t.Fatalf("packages: %v, %v", all, err)
	}
	for i, p := range all {
		sum, err := hex.DecodeString(p.SHA512)
		if p.Name == "" || p.Version == "" || p.License == "" || err != nil || len(sum) != 64 || i > 0 && all[i-1].Name >= p.Name {
			t.Errorf("package %d: %+v", i, p)
		}
	}
	if v := theme.Version(); len(v) != 16 || v != theme.Version() {
		t.Errorf("version %q", v)
	}
}
