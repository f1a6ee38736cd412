package theme

import (
	"io/fs"
	"regexp"
	"slices"

	"catena/storage/fault"
)

// formula is how formulas begin in the HTML of decks: TeX between delimiters, in a block of the editor, and in
// scripts as other programs write them.
var formula = regexp.MustCompile(`(?i)\\\(|\\\[|\$\$|data-block-type\s*=\s*["']?math\b|type\s*=\s*["']?\s*math/tex\b`)

// HasFormulas reports whether HTML may hold formulas in TeX, which need Katex to be shown.
func HasFormulas(html string) bool { return formula.MatchString(html) }

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
