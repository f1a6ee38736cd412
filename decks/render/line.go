package render

import (
	"golang.org/x/net/html"
)

// The ascent and descent of the Go fonts, as parts of the size. Every style uses one of these fonts, so they need
// not be looked up.
const (
	ascent  = 0.945
	descent = 0.211
)

// line places items in one line. Text of one look becomes one span, so that it can be
// selected and copied as it reads.
func (l *layout) line(row []item, rowWidth, width float64, block *style) line {
	above, below := strut(block)
	for _, it := range row {
		a, b := it.extent()
		above, below = max(above, a), max(below, b)
	}
	out := line{h: above + below}
	x := 0.0
	switch block.align {
	case "center", "-webkit-center":
		x = (width - rowWidth) / 2
	case "right", "end":
		x = width - rowWidth
	}
	if x < 0 && block.align != "center" {
		x = 0
	}
	for _, it := range row {
		baseline := above - it.rise()
		// A PDF viewer finds and copies words only within one piece of text.
		if n := len(out.spans); it.box == nil && n > 0 && out.spans[n-1].joins(it) {
			out.spans[n-1].text += it.text
			out.spans[n-1].w += it.w
			x += it.w
			continue
		}
		s := span{x: x, w: it.w, baseline: baseline, text: it.text, style: it.style, link: it.link, owner: it.owner, box: it.box}
		if it.box != nil {
			it.box.x = x + it.style.margin[3].of(width, 0)
			it.box.y = it.top(above)
		}
		out.spans = append(out.spans, s)
		x += it.w
	}
	return out
}

func (s *span) joins(it item) bool {
	return s.box == nil && s.style == it.style && s.link == it.link && s.owner == it.owner
}

// strut is how far an empty line reaches above and below its baseline.
func strut(s *style) (above, below float64) {
	half := (s.lineHeight - ascent - descent) * s.fontSize / 2
	return half + ascent*s.fontSize, half + descent*s.fontSize
}

// extent is how far an item reaches above and below the line's baseline.
func (it *item) extent() (above, below float64) {
	if it.box == nil {
		above, below = strut(it.style)
		return above + it.rise(), below - it.rise()
	}
	h := it.box.h + it.style.margin[0].of(0, 0) + it.style.margin[2].of(0, 0)
	switch it.style.valign {
	// CSS centers on the baseline plus half the height of the letter x, which is about a quarter of the font
	// size.
	case "middle":
		return h/2 + it.style.fontSize/4, h/2 - it.style.fontSize/4
	case "top", "text-top":
		return min(h, it.style.fontSize*ascent), max(0, h-it.style.fontSize*ascent)
	}
	if b, ok := it.box.baseline(); ok {
		b += it.style.margin[0].of(0, 0)
		return b, h - b
	}
	return h, 0
}

// top is where an item's box begins, in a line whose baseline is so far down.
func (it *item) top(baseline float64) float64 {
	above, _ := it.extent()
	return baseline - above + it.style.margin[0].of(0, 0)
}

// rise is how far text stands above the baseline.
func (it *item) rise() float64 {
	if it.box != nil {
		return 0
	}
	switch it.style.valign {
	// The amounts are those that browsers use, approximately; CSS leaves them open.
	case "super":
		return it.style.fontSize * 0.4
	case "sub":
		return -it.style.fontSize * 0.2
	}
	return 0
}

// baseline is where the last line of text in a box stands.
func (b *box) baseline() (float64, bool) {
	if b.picture != nil || b.style.clip {
		return 0, false
	}
	best, found := 0.0, false
	for i := range b.lines {
		for _, s := range b.lines[i].spans {
			if s.box == nil {
				best, found = max(best, b.lines[i].y+s.baseline), true
			}
		}
	}
	for _, c := range b.boxes {
		if y, ok := c.baseline(); ok {
			best, found = max(best, c.y+y), true
		}
	}
	return best, found
}

var replacedElements = map[string]bool{"img": true, "iframe": true, "video": true, "svg": true, "canvas": true, "math": false}

func isReplaced(n *html.Node) bool { return replacedElements[n.Data] }

// replaced sizes what is no text: pictures, and a note where something cannot be shown.
func (l *layout) replaced(b *box, in containing) bool {
	n := b.node
	if !isReplaced(n) {
		return false
	}
	source := attr(n, "src")
	if source == "" {
		source = attr(n, "data-src")
	}
	switch n.Data {
	case "img":
		b.picture = l.pictures.load(l.ctx, source)
		b.label = attr(n, "alt")
	case "video":
		b.picture = l.pictures.load(l.ctx, attr(n, "poster"))
		b.label = source
	case "svg", "canvas":
		b.label = attr(n, "aria-label")
	default:
		b.label = source
	}
	// The size that CSS prescribes for a replaced element without one.
	w, h := 300.0, 150.0
	switch {
	case b.picture != nil:
		w, h = float64(b.picture.width), float64(b.picture.height)
	case n.Data == "img":
		w, h = l.fonts.width(b.label, b.style)+8, b.style.fontSize*b.style.lineHeight
		if b.label == "" {
			w, h = 0, 0
		}
	}
	l.fitted(b, w, h, in)
	return true
}

// fitted gives a picture its size: what styles and attributes say, in the picture's own
// proportions where they leave that open.
func (l *layout) fitted(b *box, w, h float64, in containing) {
	s := b.style
	width, height := attrLength(b.node, "width", s.width), attrLength(b.node, "height", s.height)
	hasW := width.isGiven()
	hasH := height.unit == pixels || height.unit == percent && in.height > 0
	ratio := 1.0
	if h > 0 {
		ratio = w / h
	}
	switch {
	case hasW && hasH:
		w, h = width.of(in.width, w), height.of(in.height, h)
	case hasW:
		w = width.of(in.width, w)
		h = w / max(ratio, 1e-6)
	case hasH:
		h = height.of(in.height, h)
		w = h * ratio
	}
	room := in.height
	// Percentages of an unknown height refer to the slide here, as decks mean them.
	if room == 0 {
		room = l.computing.height
	}
	if m := s.maxWidth.of(in.width, -1); m >= 0 && w > m {
		if !hasH {
			h *= m / w
		}
		w = m
	}
	if m := s.maxHeight.of(room, -1); m >= 0 && h > m {
		if !hasW {
			w *= m / h
		}
		h = m
	}
	top, right, bottom, left := s.edges(in.width)
	b.w, b.h = w+left+right, h+top+bottom
	b.natural = b.w
}

// attrLength is a length that a style gives, or else the attribute of that name.
func attrLength(n *html.Node, name string, styled length) length {
	if f, ok := number(attr(n, name)); ok && styled.unit == unset {
		return length{f, pixels}
	}
	return styled
}
