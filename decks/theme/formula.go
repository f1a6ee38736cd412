package theme

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"catena/storage/fault"
)

// formula is how formulas begin in the HTML of decks, besides TeX between delimiters: in a block of the editor, and in
// scripts as other programs write them.
var formula = regexp.MustCompile(`(?i)data-block-type\s*=\s*["']?math\b|type\s*=\s*["']?\s*math/tex\b`)

// HasFormulas reports whether HTML may hold formulas in TeX, which need Katex to be shown. Every view of a deck asks, so the
// expression, which is far slower than a search for words, reads only HTML that has the words.
func HasFormulas(html string) bool {
	switch {
	case strings.Contains(html, `\(`), strings.Contains(html, `\[`), strings.Contains(html, "$$"):
		return true
	}
	return strings.Contains(strings.ToLower(html), "math") && formula.MatchString(html)
}

// FormulaFiles returns the names of the built-in files that show formulas besides the scripts: the style sheet,
// its faces and their license.
func FormulaFiles() ([]string, error) {
	files, err := Files()
	if err != nil {
		return nil, err
	}
	faces, err := fs.Glob(files, "fonts/KaTeX_*.woff2")
	if err != nil {
		return nil, fault.Internal.Errorf("faces of formulas: %w", err)
	}
	return slices.Concat([]string{KatexCSS, "licenses/katex.txt"}, faces), nil
}
