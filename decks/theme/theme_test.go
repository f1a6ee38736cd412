package theme_test

import (
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"catena/decks/theme"
)

// TestContrast holds text, headings and links readable on every background: 4.5 to 1.
func TestContrast(t *testing.T) {
	if len(theme.Colors) != 18 || len(theme.Fonts) != 14 {
		t.Fatalf("%d colours, %d fonts", len(theme.Colors), len(theme.Fonts))
	}
	for _, c := range theme.Colors {
		for _, over := range []string{c.Text, c.Heading, c.Link} {
			a, b := luminance(t, c.Background), luminance(t, over)
			if r := (max(a, b) + .05) / (min(a, b) + .05); r < 4.5 {
				t.Errorf("%s: %s on %s: contrast %.1f", c.Name, over, c.Background, r)
			}
		}
	}
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil || len(color) != 7 {
		t.Fatalf("colour %q", color)
	}
	part := func(shift int) float64 {
		v := float64(n>>shift&0xff) / 255
		if v <= .04045 {
			return v / 12.92
		}
		return math.Pow((v+.055)/1.055, 2.4)
	}
	return .2126*part(16) + .7152*part(8) + .0722*part(0)
}

func TestFilesAreThere(t *testing.T) {
	files, err := theme.Files()
	if err != nil {
		t.Fatalf("%v (make test builds it in)", err)
	}
	names := []string{theme.Reveal, theme.RevealCSS, theme.ResetCSS, theme.Markdown, theme.Highlight, theme.HighlightCSS, theme.Katex, theme.KatexAuto}
	formulas, err := theme.FormulaFiles()
	if err != nil || len(formulas) < 20 {
		t.Errorf("files of formulas: %q, %v", formulas, err)
	}
	sheet, err := fs.ReadFile(files, theme.KatexCSS)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`url\(([^)]*)\)`).FindAllSubmatch(sheet, -1) {
		if !slices.Contains(formulas, string(m[1])) {
			t.Errorf("the style sheet of formulas reads %s, which is not built in", m[1])
		}
	}
	names = append(names, formulas...)
	for _, f := range theme.Fonts {
		css := theme.CSS("", f.Name, "/base/")
		for _, name := range theme.FontFiles(f.Name) {
			if !strings.Contains(css, fmt.Sprintf("url(%q)", "/base/"+name)) {
				t.Errorf("%s: %s is not in the style sheet", f.Name, name)
			}
			names = append(names, name)
		}
	}
	for _, name := range names {
		if info, err := fs.Stat(files, name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
