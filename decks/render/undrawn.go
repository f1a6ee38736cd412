package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/net/html"

	"catena/decks/theme"
)

// undrawn says what of the slides this renderer does not draw: formulas appear as their source,
// drawings and films not at all, and scripts of which the built-in faces have no letters as empty boxes.
func (f *document) undrawn() []string {
	var formulas, drawings, films int
	letters := map[string]int{} // without a glyph, by script
	for n := range f.root.Descendants() {
		if n.Type == html.TextNode && n.Parent != nil && n.Parent.Data != "script" && n.Parent.Data != "style" {
			unknown(n.Data, letters)
		}
		switch {
		case n.Type == html.ElementNode && n.Data == "svg":
			drawings++
		case f.isUnseenFilm(n):
			films++
		case isFormula(n):
			formulas++
		}
	}
	var out []string
	report := func(what string, n int) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%s: not drawn without a browser (%d)", what, n))
		}
	}
	report("formulas", formulas)
	report("drawings in SVG", drawings)
	report("films", films)
	report("pictures", f.layout.pictures.undrawn())
	report("backgrounds", len(f.layout.pictures.unseen))
	for _, script := range slices.Sorted(maps.Keys(letters)) {
		report("characters ("+script+")", letters[script])
	}
	return out
}

// undrawn counts the images that are kept here and cannot be drawn; backgrounds of style sheets are counted as such.
func (p *pictures) undrawn() (n int) {
	for address := range p.failed {
		if !p.unseen[address] {
			n++
		}
	}
	return n
}

// isUnseenFilm reports whether a node is a film that is kept here, of which a browser would draw a frame, without a poster in its
// place. Films on other servers are reported as such by Warnings.
func (f *document) isUnseenFilm(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	if film := attr(n, "data-background-video"); n.Data == "section" && film != "" {
		return hostOf(film) == ""
	}
	if n.Data != "video" || f.layout.pictures.loaded[strings.TrimSpace(attr(n, "poster"))] != nil {
		return false
	}
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == "source" && hostOf(attr(c, "src")) != "" {
			return false
		}
	}
	return hostOf(cmp.Or(attr(n, "src"), attr(n, "data-src"))) == ""
}

// glyphs tells which characters the built-in faces have.
var glyphs = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(faces["sans"]) })

// unknown counts the characters of a text that are drawn as boxes, by script.
func unknown(text string, count map[string]int) {
	known, err := glyphs()
	if err != nil {
		return
	}
	var room sfnt.Buffer
	for _, r := range text {
		if r <= 0x24f || unicode.Is(invisible, r) || unicode.Is(unicode.Mn, r) || unicode.IsSpace(r) || r == 0x2010 || r == 0x2011 {
			continue
		}
		if i, err := known.GlyphIndex(&room, r); err != nil || i == 0 || r > 0xffff {
			count[scriptOf(r)]++
		}
	}
}

// scriptOf names the script of a character; emoji and signs belong to none.
func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return "emoji and signs"
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
