package render

import (
	"context"

	"golang.org/x/net/html"
)

// box is an element that has been laid out, as in CSS: content, padding and border. Positions are those of
// the border box, relative to the box around it, in pixels, so that a box can be moved with everything in it.
type box struct {
	node       *html.Node
	style      *style
	x, y, w, h float64
	natural    float64 // width it would like, with padding and border
	boxes      []*box  // what is in it
	floating   []*box  // what has a place of its own in it
	lines      []line
	picture    *picture
	marker     string // of an item of a list
	label      string // of what cannot be shown
}

// line is a line of text.
type line struct {
	y, h  float64
	spans []span
}

// span is text of one look, or a box, within a line.
type span struct {
	x, w, baseline float64 // from the line's top
	text           string
	style          *style
	link           string
	owner          *html.Node
	box            *box
}

// layout positions everything on slides. It works in one pass from the outside in: the width of a box comes
// from the box around it, the height from its content. What CSS defines the other way round (shrink to fit,
// absolute positions) is laid out twice or postponed.
type layout struct {
	ctx       context.Context //nolint:containedctx // bounds all of its work
	computing *computing
	fonts     *fonts
	pictures  *pictures
	shrinking int // boxes around that are being shrunk
	depth     int
	work      int // boxes of the slide so far, also those laid out to be measured
}

// floats are the boxes with places of their own in the nearest box that others may be
// placed in.
type floats struct {
	pending []pendingBox
}

type pendingBox struct {
	node  *html.Node
	style *style
	x, y  float64 // where it would stand
}

// The bounds hold for one slide. What exceeds them is left out, as a slide that needs more shows nothing
// readable.
const (
	// maxShrinking, maxDepth and maxWork: levels of boxes whose width depends on their content, levels of
	// elements, and boxes laid out per slide. Each level of shrinking lays out its content twice, so four
	// levels cost up to 16 times the work of one.
	maxShrinking = 4
	maxDepth     = 200
	maxWork      = 100_000
)

// edges are the widths around a box's content: padding and border. Percentages are of the width on all four
// sides, as in CSS.
func (s *style) edges(width float64) (top, right, bottom, left float64) {
	var v [4]float64
	for i := range v {
		v[i] = s.padding[i].of(width, 0)
		if s.border[i].style != "" {
			v[i] += s.border[i].width.of(width, 0)
		}
	}
	return v[0], v[1], v[2], v[3]
}

// contentWidth is the width of the content in a given room, and whether the style says so.
func (s *style) contentWidth(room float64) (w float64, fixed bool) {
	_, right, _, left := s.edges(room)
	w = room - right - left - s.margin[1].of(room, 0) - s.margin[3].of(room, 0)
	if s.width.unit == pixels || s.width.unit == percent {
		w, fixed = s.width.of(room, w), true
		if s.outer {
			w -= right + left
		}
	}
	if m := s.maxWidth.of(room, -1); m >= 0 && w > m {
		w = m
	}
	if m := s.minWidth.of(room, -1); m >= 0 && w < m {
		w = m
	}
	return max(w, 0), fixed
}

// contentHeight is the height of content that would be h high; room is that of the box
// around, if it is known.
func (s *style) contentHeight(h, room float64) float64 {
	top, _, bottom, _ := s.edges(room)
	if s.height.unit == pixels || s.height.unit == percent && room > 0 {
		h = s.height.of(room, h)
		if s.outer {
			h -= top + bottom
		}
	}
	if m := s.minHeight.of(room, -1); m >= 0 && (room > 0 || s.minHeight.unit == pixels) {
		h = max(h, m)
	}
	if m := s.maxHeight.of(room, -1); m >= 0 && s.clip && (room > 0 || s.maxHeight.unit == pixels) {
		h = min(h, m)
	}
	return max(h, 0)
}

// containing is what a box is laid out in.
type containing struct {
	width, height float64 // room; 0: a height that nothing gives
	floats        *floats
	shrink        bool // as narrow as the content allows
}

// element lays out one element that is not part of a line: a block, or what is set in a line like one.
func (l *layout) element(n *html.Node, s *style, in containing) *box {
	b := &box{node: n, style: s}
	// An empty box instead of an error: the rest of the deck is still worth printing.
	if l.work++; l.ctx.Err() != nil || l.depth > maxDepth || l.work > maxWork {
		return b
	}
	l.depth++
	defer func() { l.depth-- }()
	top, right, bottom, left := s.edges(in.width)
	width, fixed := s.contentWidth(in.width)
	if l.replaced(b, in) {
		return b
	}
	height := 0.0
	if s.height.unit == pixels || s.height.unit == percent && in.height > 0 {
		height = s.contentHeight(0, in.height)
	}
	inner, own := in.floats, &floats{}
	// A positioned box is the containing block of absolutely positioned boxes inside it.
	if s.position != "" && s.position != "static" {
		inner = own
	}
	content := containing{width: width, height: height, floats: inner}
	if in.shrink && !fixed && s.display != "table" {
		content.width = l.shrunk(n, s, content)
	}
	h := l.content(b, content)
	if s.display == "table" && !fixed {
		content.width = min(width, max(b.natural, 0))
	}
	b.w = content.width + left + right
	// The height is known only now, so what is positioned relative to it (float) comes last.
	b.h = s.contentHeight(h, in.height) + top + bottom
	b.natural += left + right
	if fixed {
		b.natural = b.w
	}
	b.shift(left, top)
	if inner == own {
		l.float(b, own)
	}
	return b
}

// shrunk is the width of content that is as narrow as it can be. It is found by a layout that is
// thrown away; as each such layout doubles the work of what is within, only a few may be nested.
func (l *layout) shrunk(n *html.Node, s *style, in containing) float64 {
	if l.shrinking >= maxShrinking {
		return in.width
	}
	l.shrinking++
	trial := &box{node: n, style: s}
	l.content(trial, containing{width: in.width, height: in.height, floats: &floats{}})
	l.shrinking--
	// A hundredth of a pixel more, so that rounding does not break the line that has just fit.
	return min(in.width, trial.natural+0.01)
}

// shift moves the content of a box.
func (b *box) shift(x, y float64) {
	for _, c := range b.boxes {
		c.x, c.y = c.x+x, c.y+y
	}
	for i := range b.lines {
		b.lines[i].y += y
		for j := range b.lines[i].spans {
			b.lines[i].spans[j].x += x
		}
	}
}

// float places the absolutely positioned boxes of which b is the containing block, once the size of b is
// known. Their own boxes are laid out here, so the same limits apply to them.
func (l *layout) float(b *box, f *floats) {
	bt, br, bb, bl := 0.0, 0.0, 0.0, 0.0
	for i, p := range []*float64{&bt, &br, &bb, &bl} {
		if b.style.border[i].style != "" {
			*p = b.style.border[i].width.of(b.w, 0)
		}
	}
	w, h := b.w-bl-br, b.h-bt-bb
	for _, p := range f.pending {
		s := p.style
		top, right, bottom, left := s.inset[0], s.inset[1], s.inset[2], s.inset[3]
		room := w
		if left.isGiven() {
			room -= left.of(w, 0)
		}
		if right.isGiven() {
			room -= right.of(w, 0)
		}
		stretched := left.isGiven() && right.isGiven()
		c := l.element(p.node, s, containing{width: max(room, 0), height: h, shrink: !stretched, floats: &floats{}})
		// The first layout has found the position; this one has the right width.
		if s.width.unit == percent { // of the whole, not of what is right of it
			c = l.element(p.node, withWidth(s, length{s.width.of(w, 0), pixels}), containing{width: w, height: h, floats: &floats{}})
		}
		c.x, _ = inset(left, right, w, c.w, p.x-bl)
		var both bool
		if c.y, both = inset(top, bottom, h, c.h, p.y-bt); both && s.height.unit == unset {
			c.h = max(c.h, h-top.of(h, 0)-bottom.of(h, 0))
		}
		c.x += bl + s.margin[3].of(w, 0)
		c.y += bt + s.margin[0].of(w, 0)
		b.floating = append(b.floating, c)
	}
}

// inset is where a box of a size begins in a room, given its distances from the sides; otherwise where
// it would be in the flow. The first side wins if both are given.
func inset(first, last length, room, size, otherwise float64) (at float64, both bool) {
	switch {
	case first.isGiven():
		return first.of(room, 0), last.isGiven()
	case last.isGiven():
		return room - last.of(room, 0) - size, false
	}
	return otherwise, false
}

func withWidth(s *style, w length) *style {
	out := *s
	out.width = w
	return &out
}
