package render

import (
	"strings"

	"golang.org/x/net/html"
)

// members are the elements that a flexible box or a grid arranges; text gets an element.
func (l *layout) members(b *box, in containing) (nodes []*html.Node, styles []*style) {
	for c := range b.node.ChildNodes() {
		if c.Type != html.ElementNode {
			// Text directly in a flex container is an item of its own (CSS Flexbox, anonymous items).
			if c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
				wrapper := element("span")
				wrapper.AppendChild(&html.Node{Type: html.TextNode, Data: c.Data})
				s := l.computing.of(wrapper, b.style)
				s.display = "block"
				nodes, styles = append(nodes, wrapper), append(styles, s)
			}
			continue
		}
		s := l.computing.of(c, b.style)
		switch {
		case s.display == "none":
			continue
		case s.position == "absolute" || s.position == "fixed":
			in.floats.pending = append(in.floats.pending, pendingBox{node: c, style: s})
			continue
		// Items of a flex container are blocks, whatever they are declared to be.
		case s.display == "inline" && !isReplaced(c):
			s.display = "block"
		}
		nodes, styles = append(nodes, c), append(styles, s)
	}
	return nodes, styles
}

// flex arranges elements in a row or a column.
func (l *layout) flex(b *box, in containing) float64 {
	if strings.HasPrefix(b.style.direction, "column") {
		return l.column(b, in)
	}
	nodes, styles := l.members(b, in)
	gap := b.style.gap.of(in.width, 0)
	widths, grow, total := make([]float64, len(nodes)), 0.0, gap*max(0, float64(len(nodes)-1))
	margins := func(s *style) float64 { return s.margin[1].of(in.width, 0) + s.margin[3].of(in.width, 0) }
	for i, n := range nodes {
		// The first layout measures what each item would like; the second one gives it what it gets.
		c := l.element(n, styles[i], containing{width: in.width, height: in.height, shrink: true, floats: &floats{}})
		widths[i] = c.w + margins(styles[i])
		if styles[i].grow > 0 && styles[i].width.unit == unset {
			grow += styles[i].grow
		}
		total += widths[i]
	}
	b.natural = max(b.natural, total)
	free := in.width - total
	for i, s := range styles {
		switch {
		case free > 0 && grow > 0 && s.grow > 0 && s.width.unit == unset:
			widths[i] += free * s.grow / grow
		case free < 0 && total > 0:
			// All shrink in proportion to what they would like: flex-shrink is not read and counts as 1.
			widths[i] = max(0, widths[i]+free*widths[i]/total)
		}
	}
	// Items that grow, or that were shrunk, leave nothing for justify-content to distribute.
	if grow > 0 || free < 0 {
		free = 0
	}
	x, between := justified(b.style.justify, free, gap, float64(len(nodes)))
	height := 0.0
	for i, n := range nodes {
		s := styles[i]
		c := l.element(n, sized(s, widths[i]-margins(s)), containing{width: in.width, height: in.height, floats: in.floats})
		c.x = x + s.margin[3].of(in.width, 0)
		x += widths[i] + between
		height = max(height, c.h+s.margin[0].of(in.width, 0)+s.margin[2].of(in.width, 0))
		b.boxes = append(b.boxes, c)
	}
	height = max(height, in.height)
	b.across(height, in.width)
	return height
}

// justified is where the first of count members of a row begins, and what lies between two.
func justified(how string, free, gap, count float64) (x, between float64) {
	switch {
	case count == 0:
	case how == "center":
		return free / 2, gap
	case how == "flex-end" || how == "end":
		return free, gap
	case how == "space-between" && count > 1:
		return 0, gap + free/(count-1)
	// The two differ by half a gap at the ends, which is neglected.
	case how == "space-around", how == "space-evenly":
		return free / count / 2, gap + free/count
	}
	return 0, gap
}

// sized is a style whose border box has a width.
func sized(s *style, w float64) *style {
	out := *s
	out.width, out.outer, out.maxWidth, out.minWidth = length{max(w, 0), pixels}, true, length{}, length{}
	return &out
}

// across aligns the members of a row.
func (b *box) across(height, width float64) {
	for _, c := range b.boxes {
		top := c.style.margin[0].of(width, 0)
		switch b.style.items {
		case "center":
			c.y = (height - c.h) / 2
		case "end", "flex-end":
			c.y = height - c.h
		case "", "stretch", "normal":
			c.y = top
			if c.style.height.unit == unset && c.picture == nil {
				c.h = max(c.h, height-top-c.style.margin[2].of(width, 0))
			}
		default:
			c.y = top
		}
	}
}

// column arranges elements one below the other, each as wide as it likes unless stretched.
func (l *layout) column(b *box, in containing) float64 {
	nodes, styles := l.members(b, in)
	gap, y := b.style.gap.of(in.width, 0), 0.0
	stretch := b.style.items == "" || b.style.items == "stretch" || b.style.items == "normal"
	for i, n := range nodes {
		s := styles[i]
		c := l.element(n, s, containing{width: in.width, height: in.height, shrink: !stretch, floats: in.floats})
		if i > 0 {
			y += gap
		}
		c.y = y + s.margin[0].of(in.width, 0)
		c.x = aside(s, in.width, c.w)
		switch b.style.items {
		case "center":
			c.x = (in.width - c.w) / 2
		case "end", "flex-end":
			c.x = in.width - c.w
		}
		y = c.y + c.h + s.margin[2].of(in.width, 0)
		b.natural = max(b.natural, c.natural)
		b.boxes = append(b.boxes, c)
	}
	if free := in.height - y; free > 0 {
		shift := map[string]float64{"center": free / 2, "end": free, "flex-end": free}[b.style.justify]
		for _, c := range b.boxes {
			c.y += shift
		}
		y = in.height
	}
	return y
}

// grid arranges elements in columns of one width.
func (l *layout) grid(b *box, in containing) float64 {
	nodes, styles := l.members(b, in)
	columns := max(b.style.columns, 1)
	gap := b.style.gap.of(in.width, 0)
	// Only the number of columns is read of a template, not their sizes.
	width := max(0, (in.width-gap*float64(columns-1))/float64(columns))
	y, height := 0.0, 0.0
	for i, n := range nodes {
		if i > 0 && i%columns == 0 {
			y += height + gap
			height = 0
		}
		c := l.element(n, styles[i], containing{width: width, floats: in.floats})
		c.x = float64(i%columns)*(width+gap) + aside(styles[i], width, c.w)
		c.y = y
		height = max(height, c.h)
		b.boxes = append(b.boxes, c)
	}
	b.natural = in.width
	return y + height
}
