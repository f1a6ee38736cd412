package render

import (
	"strings"

	"golang.org/x/net/html"
)

// item is a word, a blank, a break or a box in a line.
type item struct {
	text  string
	blank bool // a blank at which lines may break
	brk   bool // a line ends here
	style *style
	link  string
	owner *html.Node
	box   *box
	w     float64
}

// inline collects the text in an element that stands in a line.
func (f *flowing) inline(n *html.Node, s *style, link string) {
	switch {
	case n.Data == "br":
		f.items = append(f.items, item{brk: true, style: s})
		return
	case s.display != "inline" || isReplaced(n):
		f.atom(n, s, link)
		return
	}
	if n.Data == "a" {
		if href := strings.TrimSpace(attr(n, "href")); href != "" {
			link = href
		}
	}
	for c := range n.ChildNodes() {
		if f.ctx.Err() != nil {
			return
		}
		if c.Type == html.TextNode {
			f.text(c, s, link, n)
			continue
		}
		if c.Type != html.ElementNode {
			continue
		}
		cs := f.computing.of(c, s)
		switch {
		case cs.display == "none":
		case cs.position == "absolute" || cs.position == "fixed":
			f.in.floats.pending = append(f.in.floats.pending, pendingBox{node: c, style: cs, y: f.y + f.margin})
		case strings.HasPrefix(cs.display, "inline") || cs.display == "contents":
			f.depth++
			if f.depth < maxDepth {
				f.inline(c, cs, link)
			}
			f.depth--
		default: // a block in a line has lines of its own
			f.flush()
			f.block(c, cs)
		}
	}
}

// atom adds an element that stands in a line as a whole.
func (f *flowing) atom(n *html.Node, s *style, link string) {
	b := f.element(n, s, place{width: f.in.width, height: f.in.height, shrink: true, floats: f.in.floats})
	w := b.w + s.margin[1].of(f.in.width, 0) + s.margin[3].of(f.in.width, 0)
	f.items = append(f.items, item{box: b, style: s, link: link, owner: n, w: w})
}

// text splits text into words and blanks as white-space says.
func (f *flowing) text(n *html.Node, s *style, link string, owner *html.Node) {
	text := transformed(n.Data, s.transform)
	pre := strings.HasPrefix(s.space, "pre") || s.space == "break-spaces"
	add := func(text string, blank bool) {
		if text != "" {
			text = f.fonts.known(text, s)
			f.items = append(f.items, item{text: text, blank: blank, style: s, link: link, owner: owner, w: f.fonts.width(text, s)})
		}
	}
	if pre && s.space != "pre-line" {
		for i, part := range strings.Split(strings.ReplaceAll(text, "\r", ""), "\n") {
			if i > 0 {
				f.items = append(f.items, item{brk: true, style: s})
			}
			part = strings.ReplaceAll(part, "\t", "    ")
			if s.space == "pre" {
				add(part, false)
				continue
			}
			for _, w := range words(part) {
				add(w, strings.TrimSpace(w) == "")
			}
		}
		return
	}
	for i, part := range strings.Split(text, "\n") {
		if i > 0 && pre {
			f.items = append(f.items, item{brk: true, style: s})
		} else if i > 0 {
			add(" ", true)
		}
		for _, w := range words(part) {
			if strings.Trim(w, " \t\r\f") == "" {
				add(" ", true)
			} else {
				add(w, false)
			}
		}
	}
}

// words cuts text before and after its blanks.
func words(s string) []string {
	var out []string
	start, blank := 0, false
	for i := range len(s) {
		b := s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\f'
		if i > start && b != blank {
			out = append(out, s[start:i])
			start = i
		}
		blank = b
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

func transformed(s, how string) string {
	switch how {
	case "uppercase":
		return strings.ToUpper(s)
	case "lowercase":
		return strings.ToLower(s)
	case "capitalize":
		var b strings.Builder
		for _, w := range words(s) {
			for i, r := range w {
				if i == 0 {
					b.WriteString(strings.ToUpper(string(r)))
				} else {
					b.WriteRune(r)
				}
			}
		}
		return b.String()
	}
	return s
}

// wrap breaks items into lines of at most a width, and returns the width of the longest
// line if there were no such bound.
func (l *layout) wrap(items []item, width float64, block *style) (lines []line, natural float64) {
	var row []item
	rowWidth, whole := 0.0, 0.0
	emit := func(last bool) {
		for len(row) > 0 && row[len(row)-1].blank && block.space != "pre" {
			rowWidth -= row[len(row)-1].w
			row = row[:len(row)-1]
		}
		if len(row) > 0 || !last {
			lines = append(lines, l.line(row, rowWidth, width, block))
		}
		row, rowWidth = nil, 0
	}
	for _, it := range items {
		switch {
		case it.brk:
			natural, whole = max(natural, whole), 0
			emit(false)
			continue
		case it.blank && (len(row) == 0 || row[len(row)-1].blank) && !strings.HasPrefix(it.style.space, "pre"):
			continue
		}
		whole += it.w
		if rowWidth+it.w > width+0.5 && len(row) > 0 && !it.blank && it.style.space != "nowrap" && it.style.space != "pre" && breakable(row) {
			emit(false)
		}
		row = append(row, it)
		rowWidth += it.w
	}
	for _, it := range row {
		if it.blank && len(row) == 1 {
			whole -= it.w
		}
	}
	natural = max(natural, whole)
	emit(true)
	return lines, natural
}

// breakable reports whether a line may end after these items.
func breakable(row []item) bool {
	last := row[len(row)-1]
	return last.blank || last.box != nil
}
