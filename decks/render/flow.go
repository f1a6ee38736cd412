package render

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// content lays out what is in an element and returns its height. Places are from the
// content's top left corner.
func (l *layout) content(b *box, in containing) float64 {
	switch b.style.display {
	case "flex", "inline-flex":
		return l.flex(b, in)
	case "grid", "inline-grid":
		return l.grid(b, in)
	case "table", "inline-table":
		return l.table(b, in)
	}
	return l.flow(b, in)
}

// flow lays out blocks one below the other and text in lines.
func (l *layout) flow(b *box, in containing) float64 {
	f := &flowing{layout: l, box: b, in: in}
	for c := range b.node.ChildNodes() {
		f.child(c)
	}
	f.flush()
	if !f.collapses() {
		f.y += f.margin
	} else {
		b.natural = max(b.natural, 0)
	}
	return f.y
}

// flowing is a flow of blocks and lines.
type flowing struct {
	*layout
	box    *box
	in     containing
	y      float64
	margin float64 // of the block before, not yet added
	items  []item
	count  int // items of a list
}

// collapses reports whether the last margin lies outside, which is where most styles have
// it: a last child's margin does not make a box higher.
func (f *flowing) collapses() bool {
	_, _, bottom, _ := f.box.style.edges(f.in.width)
	return bottom == 0 || f.margin < 0
}

// child lays out one child of a block: text and inline elements are collected for lines; a block ends the line before it.
func (f *flowing) child(n *html.Node) {
	if f.ctx.Err() != nil {
		return
	}
	switch n.Type {
	case html.TextNode:
		f.text(n, f.box.style, "", f.box.node)
		return
	case html.ElementNode:
	default:
		return
	}
	s := f.computing.of(n, f.box.style)
	switch {
	case s.display == "none":
	case s.position == "absolute" || s.position == "fixed":
		// Without an inset the box stands where it would be in the flow, which is known only here.
		f.in.floats.pending = append(f.in.floats.pending, pendingBox{node: n, style: s, y: f.y + f.margin})
	case strings.HasPrefix(s.display, "inline"):
		f.inline(n, s, "")
	case s.display == "contents":
		for c := range n.ChildNodes() {
			f.child(c)
		}
	default:
		f.flush()
		f.block(n, s)
	}
}

// block puts a block below what is there. Margins of neighbours collapse: the larger one counts, and negative
// ones are added.
func (f *flowing) block(n *html.Node, s *style) {
	c := f.element(n, s, containing{width: f.in.width, height: f.in.height, floats: f.in.floats})
	top, bottom := s.margin[0].of(f.in.width, 0), s.margin[2].of(f.in.width, 0)
	switch {
	case top >= 0 && f.margin >= 0:
		f.y += max(top, f.margin)
	default:
		f.y += top + f.margin
	}
	c.y = f.y
	c.x = aside(s, f.in.width, c.w)
	f.y += c.h
	f.margin = bottom
	if s.position == "relative" {
		c.x += s.inset[3].of(f.in.width, 0) - s.inset[1].of(f.in.width, 0)
		c.y += s.inset[0].of(f.in.height, 0) - s.inset[2].of(f.in.height, 0)
	}
	if n.Data == "li" {
		f.count++
		c.marker = markerOf(s.bullet, n, f.count)
	}
	f.box.natural = max(f.box.natural, c.natural+s.margin[1].of(f.in.width, 0)+s.margin[3].of(f.in.width, 0))
	f.box.boxes = append(f.box.boxes, c)
}

// aside is the distance of a block from the left: automatic margins share what is left.
func aside(s *style, room, width float64) float64 {
	left, right := s.margin[3], s.margin[1]
	free := room - width - left.of(room, 0) - right.of(room, 0)
	switch {
	case left.unit == automatic && right.unit == automatic && free > 0:
		return free / 2
	case left.unit == automatic && free > 0:
		return free
	}
	return left.of(room, 0)
}

// markerOf is what stands before an item of a list.
func markerOf(bullet string, li *html.Node, count int) string {
	if v := attr(li, "value"); v != "" {
		if f, ok := number(v); ok {
			count = int(f)
		}
	} else if li.Parent != nil && li.Parent.Data == "ol" {
		if f, ok := number(attr(li.Parent, "start")); ok {
			count += int(f) - 1
		}
	}
	switch bullet {
	case "none":
		return ""
	case "decimal", "decimal-leading-zero":
		return fmt.Sprintf("%d.", count)
	case "lower-alpha", "lower-latin":
		return string(rune('a'+(max(count, 1)-1)%26)) + "."
	case "upper-alpha", "upper-latin":
		return string(rune('A'+(max(count, 1)-1)%26)) + "."
	case "lower-roman":
		return strings.ToLower(roman(count)) + "."
	case "upper-roman":
		return roman(count) + "."
	case "circle":
		return "◦"
	case "square":
		return "▪"
	}
	return "•"
}

// roman writes a number in Roman numerals, of at most 20 letters; numbers below 1 have none.
func roman(n int) string {
	var b strings.Builder
	for i, v := range [...]int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1} {
		for ; n >= v && b.Len() < 20; n -= v {
			b.WriteString([...]string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}[i])
		}
	}
	return b.String()
}

// flush puts the collected text into lines. It is called before each block and at the end, so that text
// between blocks becomes lines of its own.
func (f *flowing) flush() {
	items := f.items
	f.items = nil
	lines, natural := f.wrap(items, f.in.width, f.box.style)
	if len(lines) == 0 {
		return
	}
	f.y += f.margin
	f.margin = 0
	for i := range lines {
		lines[i].y = f.y
		f.y += lines[i].h
	}
	f.box.lines = append(f.box.lines, lines...)
	f.box.natural = max(f.box.natural, natural)
}
