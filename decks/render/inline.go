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

// inline collects the text in an element that is part of a line.
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
		switch {
		case f.ctx.Err() != nil:
			return
		case c.Type == html.TextNode:
			f.text(c, s, link, n)
		case c.Type == html.ElementNode:
			f.within(c, f.computing.of(c, s), link)
		}
	}
}

// within lays out an element inside one that is part of a line.
func (f *flowing) within(n *html.Node, s *style, link string) {
	switch {
	case s.display == "none":
	case s.position == "absolute" || s.position == "fixed":
		f.in.floats.pending = append(f.in.floats.pending, pendingBox{node: n, style: s, y: f.y + f.margin})
	case strings.HasPrefix(s.display, "inline") || s.display == "contents":
		f.depth++
		if f.depth < maxDepth {
			f.inline(n, s, link)
		}
		f.depth--
	default: // a block inside a line has lines of its own
		f.flush()
		f.block(n, s)
	}
}

// atom adds an element that stands in a line as a whole.
func (f *flowing) atom(n *html.Node, s *style, link string) {
	b := f.element(n, s, containing{width: f.in.width, height: f.in.height, shrink: true, floats: f.in.floats})
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
			// Four blanks and not the eight of a browser: code on slides is narrow.
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
	var r row
	whole := 0.0 // width of the line without breaks
	emit := func(last bool) {
		if block.space != "pre" {
			r.trim()
		}
		if len(r.items) > 0 || !last {
			lines = append(lines, l.line(r.items, r.width, width, block))
		}
		r = row{}
	}
	for _, it := range items {
		switch {
		case it.brk:
			natural, whole = max(natural, whole), 0
			emit(false)
			continue
		case it.blank && r.endsBlank() && !strings.HasPrefix(it.style.space, "pre"):
			continue
		}
		whole += it.w
		// Half a pixel absorbs the rounding of widths that were added up in another order when the box was measured.
		if r.width+it.w > width+0.5 && it.mayWrap() && r.breakable() {
			emit(false)
		}
		r.items = append(r.items, it)
		r.width += it.w
	}
	if len(r.items) == 1 && r.items[0].blank {
		whole -= r.items[0].w
	}
	natural = max(natural, whole)
	emit(true)
	return lines, natural
}

// row is a line being filled.
type row struct {
	items []item
	width float64
}

// trim removes the blanks at the end.
func (r *row) trim() {
	for len(r.items) > 0 && r.items[len(r.items)-1].blank {
		r.width -= r.items[len(r.items)-1].w
		r.items = r.items[:len(r.items)-1]
	}
}

// endsBlank reports whether another blank would not show.
func (r *row) endsBlank() bool { return len(r.items) == 0 || r.items[len(r.items)-1].blank }

// mayWrap reports whether an item may begin a line because the one before is full.
func (it *item) mayWrap() bool {
	return !it.blank && it.style.space != "nowrap" && it.style.space != "pre"
}

// breakable reports whether a line may end after what the row holds so far.
func (r *row) breakable() bool {
	if len(r.items) == 0 {
		return false
	}
	last := r.items[len(r.items)-1]
	return last.blank || last.box != nil
}
