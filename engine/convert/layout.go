package convert

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// layout gathers the paragraphs of a page.
// HTML becomes a flat list of paragraphs here, and the two writers (toText and printText) know only
// paragraphs. Style sheets, tables and positions are not followed: the aim is readable text, not
// the look of the page.
type layout struct {
	blocks []block
	now    block
}

// state is what holds for the elements within one.
// It is passed by value, so leaving an element restores what held before it. Only list is a
// pointer: the items of a list, which are siblings, share one counter.
type state struct {
	bold, italic, code, pre bool
	heading, indent         int
	list                    *numbering
}

// numbering counts the items of a list; next is 0 if they have no numbers.
type numbering struct{ next int }

// hidden elements show nothing.
var hidden = map[atom.Atom]bool{
	atom.Head: true, atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Object: true, atom.Svg: true,
}

// blocks are the elements that begin and end a paragraph.
var paragraphs = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Aside: true, atom.Blockquote: true, atom.Body: true, atom.Dd: true, atom.Div: true, atom.Dl: true,
	atom.Dt: true, atom.Fieldset: true, atom.Figcaption: true, atom.Figure: true, atom.Footer: true, atom.Form: true, atom.H1: true, atom.H2: true,
	atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Header: true, atom.Hr: true, atom.Li: true, atom.Main: true, atom.Nav: true,
	atom.Ol: true, atom.P: true, atom.Pre: true, atom.Section: true, atom.Table: true, atom.Tr: true, atom.Ul: true,
}

// end closes the paragraph begun, if there is anything in it, and begins another.
func (l *layout) end(s state) {
	// White space at the end of a paragraph is not shown by HTML; in code it is.
	if n := len(l.now.runs); n > 0 && !l.now.code {
		l.now.runs[n-1].text = strings.TrimRight(l.now.runs[n-1].text, " ")
		if l.now.runs[n-1].text == "" {
			l.now.runs = l.now.runs[:n-1]
		}
	}
	// The bullet of <li><p>text</p></li> is noted when the li begins, and the p ends that paragraph
	// while it is still empty: the bullet moves on to the first paragraph that has text.
	mark := l.now.mark
	if len(l.now.runs) > 0 || l.now.rule {
		l.blocks = append(l.blocks, l.now)
		mark = ""
	}
	l.now = block{heading: s.heading, indent: s.indent, code: s.pre, mark: mark}
}

// walk goes through the tree depth first. The parser accepts elements nested as deep as the text is
// long, so depth is bounded lest an upload of "<b><b><b>…" exhausts the stack.
func (l *layout) walk(n *html.Node, s state, depth int) {
	if depth > maxDepth || hidden[n.DataAtom] {
		return
	}
	switch n.Type {
	case html.TextNode:
		l.text(n.Data, s)
		return
	case html.ElementNode:
		s = l.open(n, s)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		l.walk(child, s, depth+1)
	}
	if n.Type == html.ElementNode && paragraphs[n.DataAtom] {
		l.end(state{})
		// An item without any text has no paragraph; its bullet must not appear at the next one.
		l.now.mark = ""
	}
}

// open notes what an element changes.
func (l *layout) open(n *html.Node, s state) state {
	s = styled(n, s)
	switch n.DataAtom {
	case atom.Br:
		l.add(run{text: "\n"})
	case atom.Td:
		// Cells of a row become one line; the blanks keep their texts apart.
		if n.PrevSibling != nil {
			l.add(run{text: "   "})
		}
	case atom.Img:
		l.text(attribute(n, "alt"), s)
	}
	if !paragraphs[n.DataAtom] {
		return s
	}
	l.end(s)
	switch n.DataAtom {
	case atom.Hr:
		l.now.rule = true
	case atom.Li:
		l.now.mark = "• "
		if s.list != nil && s.list.next > 0 {
			l.now.mark = strconv.Itoa(s.list.next) + ". "
			s.list.next++
		}
	}
	return s
}

// styled is how the content of an element looks.
func styled(n *html.Node, s state) state {
	switch n.DataAtom {
	case atom.B, atom.Strong, atom.Th, atom.Dt:
		s.bold = true
	case atom.I, atom.Em, atom.Cite:
		s.italic = true
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		s.code = true
	case atom.Pre:
		s.pre, s.code = true, true
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		s.heading, s.bold = int(n.Data[1]-'0'), true
	case atom.Blockquote, atom.Dd:
		s.indent++
	case atom.Ul:
		s.indent, s.list = s.indent+1, &numbering{}
	case atom.Ol:
		s.indent, s.list = s.indent+1, &numbering{next: 1}
	}
	return s
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text collapses white space as HTML does, including across elements: "a <b> b</b>" has one blank.
func (l *layout) text(text string, s state) {
	if s.pre {
		l.add(run{text: text, code: true, bold: s.bold, italic: s.italic})
		return
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		if text != "" && len(l.now.runs) > 0 {
			l.space()
		}
		return
	}
	if strings.IndexByte(" \t\r\n", text[0]) >= 0 {
		l.space()
	}
	joined := strings.Join(words, " ")
	if strings.IndexByte(" \t\r\n", text[len(text)-1]) >= 0 {
		joined += " "
	}
	l.add(run{text: joined, bold: s.bold, italic: s.italic, code: s.code})
}

// space adds a blank unless there is one, or nothing before it.
func (l *layout) space() {
	if n := len(l.now.runs); n > 0 && !strings.HasSuffix(l.now.runs[n-1].text, " ") && !strings.HasSuffix(l.now.runs[n-1].text, "\n") {
		l.now.runs[n-1].text += " "
	}
}

func (l *layout) add(r run) {
	if n := len(l.now.runs); n > 0 {
		last := &l.now.runs[n-1]
		if last.bold == r.bold && last.italic == r.italic && last.code == r.code {
			last.text += r.text
			return
		}
	}
	l.now.runs = append(l.now.runs, r)
}
