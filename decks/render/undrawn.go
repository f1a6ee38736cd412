package render

import (
	"fmt"

	"golang.org/x/net/html"

	"catena/decks/theme"
)

// undrawn says what of the slides this renderer does not draw: formulas appear as their source,
// and drawings not at all.
func (f *document) undrawn() []string {
	formulas, drawings := 0, 0
	for n := range f.root.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "svg":
			drawings++
		case isFormula(n):
			formulas++
		}
	}
	var out []string
	if formulas > 0 {
		out = append(out, fmt.Sprintf("formulas: not drawn without a browser (%d)", formulas))
	}
	if drawings > 0 {
		out = append(out, fmt.Sprintf("drawings in SVG: not drawn without a browser (%d)", drawings))
	}
	return out
}

// isFormula reports whether a node is a formula: an element of one, or text with one in TeX.
func isFormula(n *html.Node) bool {
	switch n.Type {
	case html.ElementNode:
		return n.Data == "math" || n.Data == "script" && theme.HasFormulas(`type="`+attr(n, "type")+`"`)
	case html.TextNode:
		p := n.Parent
		return p != nil && p.Data != "script" && p.Data != "style" && p.Data != "code" && p.Data != "pre" && theme.HasFormulas(n.Data)
	case html.ErrorNode, html.DocumentNode, html.CommentNode, html.DoctypeNode, html.RawNode:
	}
	return false
}
