package render

import (
	"strconv"

	"golang.org/x/net/html"
)

// cell is one cell of a table.
type cell struct {
	node        *html.Node
	style       *style
	row, column int
	span, down  int
}

// colspan is a number in HTML that anybody may write; a table of a million columns must not be laid out.
const maxColumns = 200

// table lays out rows and columns: columns are as wide as their content likes, and share
// what there is when that is too much.
func (l *layout) table(b *box, in containing) float64 {
	t := &tabling{layout: l, box: b, in: in, taken: map[[2]int]bool{}}
	t.rows(b.node, b.style)
	t.measure()
	b.natural = max(b.natural, t.total)
	heights := t.heights()
	y := t.y
	tops := make([]float64, len(heights)+1)
	for i, h := range heights {
		tops[i] = y
		y += h
	}
	tops[len(heights)] = y
	for i, c := range t.cells {
		cb := t.placed[i]
		for k := range c.column {
			cb.x += t.widths[k]
		}
		cb.y = tops[c.row]
		h := tops[min(c.row+c.down, len(heights))] - tops[c.row]
		switch free := h - cb.h; {
		case free <= 0 || c.style.valign == "top" || c.style.valign == "baseline":
		case c.style.valign == "bottom":
			cb.shift(0, free)
		default:
			cb.shift(0, free/2)
		}
		cb.h = max(cb.h, h)
		b.boxes = append(b.boxes, cb)
	}
	return y
}

type tabling struct {
	*layout
	box    *box
	in     containing
	cells  []cell
	placed []*box
	taken  map[[2]int]bool
	row    int
	widths []float64
	total  float64
	y      float64 // below the caption
}

// rows finds the cells, and puts a caption on top.
func (t *tabling) rows(n *html.Node, s *style) {
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || t.ctx.Err() != nil {
			continue
		}
		cs := t.computing.of(c, s)
		switch {
		case cs.display == "none":
		case c.Data == "caption":
			b := t.element(c, cs, containing{width: t.in.width, floats: t.in.floats})
			b.y = t.y
			t.y += b.h
			t.box.boxes = append(t.box.boxes, b)
		case c.Data == "tr":
			t.cellsOf(c, cs)
			t.row++
		default:
			t.rows(c, cs)
		}
	}
}

// cellsOf places the cells of a row in the columns that cells of the rows above, which span several rows, leave free.
func (t *tabling) cellsOf(tr *html.Node, s *style) {
	column := 0
	for c := range tr.ChildNodes() {
		if c.Type != html.ElementNode || c.Data != "td" && c.Data != "th" {
			continue
		}
		for t.taken[[2]int{t.row, column}] {
			column++
		}
		if column >= maxColumns {
			return
		}
		cs := t.computing.of(c, s)
		// A row has no box of its own, so its background is drawn by its cells.
		if cs.background == (rgba{}) {
			cs.background = s.background
		}
		span := min(max(atoi(attr(c, "colspan")), 1), maxColumns-column)
		// Bounded like colspan: each place that is taken is an entry of a map.
		down := min(max(atoi(attr(c, "rowspan")), 1), 100)
		for i := range down {
			for j := range span {
				t.taken[[2]int{t.row + i, column + j}] = true
			}
		}
		t.cells = append(t.cells, cell{c, cs, t.row, column, span, down})
		column += span
	}
}

func atoi(s string) int { n, _ := strconv.Atoi(s); return n }

// measure chooses the columns' widths.
func (t *tabling) measure() {
	count := 0
	for _, c := range t.cells {
		count = max(count, c.column+c.span)
	}
	t.widths = make([]float64, count)
	// Cells of one column first: they decide what cells that span several columns still need.
	for _, single := range []bool{true, false} {
		for _, c := range t.cells {
			if (c.span == 1) != single {
				continue
			}
			b := t.element(c.node, c.style, containing{width: t.in.width, shrink: true, floats: &floats{}})
			have := 0.0
			for k := c.column; k < c.column+c.span; k++ {
				have += t.widths[k]
			}
			if more := b.w - have; more > 0 {
				for k := c.column; k < c.column+c.span; k++ {
					t.widths[k] += more / float64(c.span)
				}
			}
		}
	}
	for _, w := range t.widths {
		t.total += w
	}
	room := t.in.width
	given := t.box.style.width.unit == pixels || t.box.style.width.unit == percent
	if t.total > room || given && t.total > 0 {
		shareWidths(t.widths, t.total, room)
		t.total = min(t.total, room)
		if given {
			t.total = room
		}
	}
}

// shareWidths makes the widths add up to room. Narrow columns keep what they need, and wide ones share the
// rest in proportion: a column of numbers stays readable beside one of text.
func shareWidths(widths []float64, total, room float64) {
	if total <= room {
		for i := range widths {
			widths[i] *= room / total
		}
		return
	}
	fair := room / float64(len(widths))
	kept, wide := 0.0, 0.0
	for _, w := range widths {
		if w <= fair {
			kept += w
		} else {
			wide += w
		}
	}
	for i, w := range widths {
		if w > fair {
			widths[i] = w * (room - kept) / wide
		}
	}
}

// heights lays the cells out in their columns.
func (t *tabling) heights() []float64 {
	heights := make([]float64, t.row)
	for _, c := range t.cells {
		w := 0.0
		for k := c.column; k < c.column+c.span; k++ {
			w += t.widths[k]
		}
		s := sized(c.style, w)
		// Cells have no margins in CSS.
		s.margin = [4]length{}
		b := t.element(c.node, s, containing{width: w, floats: t.in.floats})
		t.placed = append(t.placed, b)
		// A cell over several rows does not say which of them it makes higher; the last one gets what is
		// missing.
		if c.down == 1 {
			heights[c.row] = max(heights[c.row], b.h)
		}
	}
	for i, c := range t.cells {
		have, last := 0.0, min(c.row+c.down, len(heights))
		for r := c.row; r < last; r++ {
			have += heights[r]
		}
		if more := t.placed[i].h - have; more > 0 && last > c.row {
			heights[last-1] += more
		}
	}
	return heights
}
