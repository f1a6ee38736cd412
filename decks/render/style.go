package render

import (
	"strings"

	"golang.org/x/net/html"
)

// style is how an element looks, everything in pixels. Sides are in the order of CSS: top, right, bottom,
// left.
type style struct {
	display, position         string
	fontSize, lineHeight      float64 // a line's height as a part of the font's size
	family                    family
	bold, italic              bool
	underline, strike         bool
	color, background         rgba
	gradient                  *gradient
	image                     string // address of a background
	cover, repeat             string // its size, and how it repeats
	align, space, transform   string // text-align, white-space, text-transform
	valign, bullet, fit       string
	hidden                    bool
	opacity                   float64
	margin, padding           [4]length
	border                    [4]edge
	radius                    length
	width, height             length
	minWidth, maxWidth        length
	minHeight, maxHeight      length
	inset                     [4]length // top, right, bottom, left
	direction, justify, items string
	gap                       length
	grow                      float64
	columns                   int
	z                         int
	vars                      map[string]string
	collapseBorder, clip      bool
	outer                     bool // sizes are those of the border box
}

type family uint8

const (
	sans family = iota
	mono
)

// edge is one side of a border.
type edge struct {
	width length
	color rgba
	plain bool // no colour of its own
	style string
}

// computing finds the styles of a deck's elements.
type computing struct {
	sheet         *sheet
	rootSize      float64
	width, height float64 // of a slide
}

// root is the style around everything.
func (c *computing) root() *style {
	return &style{
		display: "block", fontSize: c.rootSize, lineHeight: 1.3, color: rgba{a: 1}, opacity: 1,
		align: "left", space: "normal", vars: map[string]string{},
	}
}

// of computes the style of an element within another: inherited values first, then custom properties, then
// the size of the font, which lengths in em depend on, and then everything else in the order of strength.
func (c *computing) of(n *html.Node, parent *style) *style {
	s := &style{
		display: "inline", opacity: 1, fontSize: parent.fontSize, lineHeight: parent.lineHeight, family: parent.family,
		bold: parent.bold, italic: parent.italic, underline: parent.underline, strike: parent.strike, color: parent.color,
		align: parent.align, space: parent.space, transform: parent.transform, bullet: parent.bullet, hidden: parent.hidden,
		vars: parent.vars,
	}
	decls := c.sheet.match(n)
	own := false
	for _, d := range decls {
		if strings.HasPrefix(d.name, "--") {
			if !own {
				s.vars, own = cloneVars(parent.vars), true
			}
			s.vars[d.name] = c.expand(d.value, s.vars, 0)
		}
	}
	for i := range decls { // sizes in em need the font's size first
		if d := &decls[i]; strings.Contains(d.value, "var(") && !strings.HasPrefix(d.name, "--") {
			d.value = c.expand(d.value, s.vars, 0)
		}
		if d := decls[i]; d.name == "font-size" {
			c.fontSize(s, parent, d.value)
		}
	}
	for _, d := range decls {
		if set := properties()[d.name]; set != nil {
			set(c, s, parent, strings.TrimSpace(d.value))
		}
	}
	return s
}

func cloneVars(from map[string]string) map[string]string {
	out := make(map[string]string, len(from)+8)
	for k, v := range from {
		out[k] = v
	}
	return out
}

// expand replaces var(--name, fallback). Values may refer to each other and grow exponentially, so both the
// number of replacements (maxNested) and the length of the result (10,000 bytes) are bounded; a value that
// exceeds it is empty.
func (c *computing) expand(value string, vars map[string]string, depth int) string {
	for depth < maxNested {
		i := strings.Index(value, "var(")
		if i < 0 {
			return value
		}
		open, end := 1, len(value)
		for j := i + 4; j < len(value); j++ {
			if value[j] == '(' {
				open++
			} else if value[j] == ')' {
				if open--; open == 0 {
					end = j
					break
				}
			}
		}
		name, fallback, _ := strings.Cut(value[i+4:end], ",")
		with, ok := vars[strings.TrimSpace(name)]
		if !ok {
			with = c.expand(strings.TrimSpace(fallback), vars, depth+1)
		}
		rest := ""
		if end < len(value) {
			rest = value[end+1:]
		}
		if len(value)+len(with) > 10_000 {
			return ""
		}
		value = value[:i] + with + rest
		depth++
	}
	return value
}

var fontSizes = map[string]float64{
	"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32,
}

func (c *computing) fontSize(s, parent *style, value string) {
	value = strings.ToLower(strings.TrimSpace(value))
	switch value {
	case "smaller":
		s.fontSize = parent.fontSize / 1.2
		return
	case "larger":
		s.fontSize = parent.fontSize * 1.2
		return
	case "inherit":
		s.fontSize = parent.fontSize
		return
	}
	if f, ok := fontSizes[value]; ok {
		s.fontSize = f
		return
	}
	if l := c.lengthOf(value, parent.fontSize); l.unit == pixels || l.unit == percent {
		// In pixels. Sizes in em multiply from level to level, so they are bounded at each.
		s.fontSize = min(max(l.of(parent.fontSize, 0), 0.5), 2000)
	}
}
