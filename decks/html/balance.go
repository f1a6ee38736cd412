package html

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"catena/storage/fault"
	"catena/storage/work"
)

// balance follows which elements of a slide are open, to tell whether it ends where it says: a
// link left open goes on in all slides behind it, and a drawing or a table swallows them. Nearly
// every slide is plain: what it opens it closes, in the opposite order, except for paragraphs
// and items, whose end may be left out. Whether any other ends where it says only a parser tells.
type balance struct {
	open    []string
	drawing int  // place in open of the drawing or formula around, from 1; 0: none
	loose   bool // the slide is not plain
	begins  int  // the slide, in the source
	found   []span
}

// span is a slide that is not plain.
type span struct{ from, to int }

const maxDeep = 200 // elements in each other that are plain

// slide begins another slide.
func (b *balance) slide(at int) {
	b.open, b.drawing, b.loose, b.begins = append(b.open[:0], "section"), 0, false, at
}

// done ends a slide.
func (b *balance) done(at int) {
	if b.loose || len(b.open) > 0 {
		b.found = append(b.found, span{b.begins, at})
	}
}

// start opens an element; closed says that its tag also ends it (<br/>).
func (b *balance) start(name string, traits trait, closed bool) {
	if b.loose {
		return
	}
	n := len(b.open)
	switch {
	case b.drawing > 0:
		if !b.startWithin(traits, closed) {
			return
		}
	case name == "math" || name == "svg":
		if closed {
			return
		}
		b.drawing = n + 1
	case traits&empty != 0:
		return
	case closed || traits&(drawn|formula) != 0:
		b.loose = true
	case traits&careful != 0:
		b.loose = !b.careful(name)
	}
	b.loose = b.loose || b.misplaced(name)
	b.open = append(b.open, name)
	b.loose = b.loose || len(b.open) > maxDeep
}

// misplaced reports whether a browser moves an element out of the table that it is directly in, because only cells may have
// content other than parts of a table.
func (b *balance) misplaced(name string) bool {
	if len(b.open) == 0 || rank(name) >= 0 {
		return false
	}
	around := rank(b.open[len(b.open)-1])
	return around >= 0 && around < cell
}

// startWithin begins an element of a drawing or a formula and reports whether it stays open. In a
// drawing, as in XML, a tag may end itself; in the text of a formula it may not.
func (b *balance) startWithin(traits trait, closed bool) bool {
	if b.open[b.drawing-1] == "math" {
		b.loose = traits&formula == 0 || closed
		return true
	}
	b.loose = traits&drawn == 0
	return !closed
}

// end closes an element, and those in it whose end may be left out.
func (b *balance) end(name string, traits trait) {
	if b.loose {
		return
	}
	n := len(b.open)
	if n > 0 && b.open[n-1] == name {
		b.open = b.open[:n-1]
		if b.drawing == n {
			b.drawing = 0
		}
		return
	}
	for n > 0 && b.drawing == 0 && traits&closing != 0 && b.open[n-1] != name && ends(b.open[n-1], name) {
		n--
	}
	if b.loose = n == 0 || b.drawing > 0 || b.open[n-1] != name; !b.loose {
		b.open = b.open[:n-1]
	}
}

// ends reports whether an element ends by itself where the one around it does.
func ends(inner, around string) bool {
	switch inner {
	case "dd", "dt", "li", "p", "rp", "rt":
		return true
	}
	return rank(around) >= 0 && rank(inner) > rank(around)
}

// The parts of a table from the outside in.
const (
	rows = 1
	row  = 2
	cell = 3
)

func rank(name string) int {
	switch name {
	case "table":
		return 0
	case "caption", "colgroup", "tbody", "tfoot", "thead":
		return rows
	case "tr":
		return row
	case "td", "th":
		return cell
	}
	return -1
}

// careful makes room for an element whose start may end others; false if that is not plain.
func (b *balance) careful(name string) bool {
	if r := rank(name); r > 0 {
		return b.part(r)
	}
	switch name {
	case "p":
		b.pop("p")
	case "rp", "rt":
		b.pop("rp", "rt")
	case "dd", "dt", "li":
		return b.item(name)
	case "a", "button":
		return !slices.Contains(b.open, name)
	default:
		return !slices.ContainsFunc(b.open, isHeading)
	}
	return true
}

func isHeading(name string) bool { return len(name) == 2 && name[0] == 'h' && name[1] != 'r' }

// pop ends the innermost element if it is one of these.
func (b *balance) pop(names ...string) {
	if n := len(b.open); n > 0 && slices.Contains(names, b.open[n-1]) {
		b.open = b.open[:n-1]
	}
}

// item makes room for an item of a list.
func (b *balance) item(name string) bool {
	same, list := []string{"li"}, []string{"ol", "ul"}
	if name != "li" {
		same, list = []string{"dd", "dt"}, []string{"dl"}
	}
	b.pop("p")
	b.pop(same...)
	for _, around := range slices.Backward(b.open) {
		switch {
		case slices.Contains(list, around):
			return true
		case slices.Contains(same, around):
			return false
		}
	}
	return true
}

// part makes room for a part of a table.
func (b *balance) part(r int) bool {
	b.pop("p")
	for n := len(b.open); n > 0 && rank(b.open[n-1]) >= r && b.open[n-1] != "caption"; n = len(b.open) {
		b.open = b.open[:n-1]
	}
	n := len(b.open)
	return n > 0 && rank(b.open[n-1]) >= 0 && rank(b.open[n-1]) < r && b.open[n-1] != "caption" && b.open[n-1] != "colgroup"
}

// repair rewrites the slides that do not end where they say.
func (b *balance) repair(ctx context.Context, src string) (string, error) {
	var out strings.Builder
	done := 0
	for _, s := range b.found {
		slide := src[s.from:s.to]
		ok, err := contained(ctx, slide)
		if err == nil && !ok {
			out.WriteString(src[done:s.from])
			done = s.to
			err = mended(ctx, &out, slide)
		}
		if ended := ctx.Err(); ended != nil {
			return "", ended
		}
		if err != nil {
			p := positionIn(src, position{line: 1, column: 1}, s.from)
			return "", fault.Invalid.Errorf("HTML: %w (slide at line %d, column %d)", err, p.line, p.column).WithCode(fault.CodeInvalidHTML).At(p.line, p.column)
		}
	}
	if done == 0 {
		return src, nil
	}
	out.WriteString(src[done:])
	return out.String(), nil
}

// What follows a slide, as a browser has it if the slide leaves nothing open.
const next = `<section>a<p>b</p><i>c</i></section>`

var around = html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}

// contained reports whether a slide ends where it says, and nothing of it is outside.
func contained(ctx context.Context, slide string) (bool, error) {
	nodes, err := fragment(ctx, "<div><div>"+slide+next+"</div></div>")
	if err != nil || len(nodes) != 1 {
		return false, err
	}
	slides := nodes[0].FirstChild
	if slides == nil || slides.NextSibling != nil || slides.FirstChild == nil || !isSection(slides.FirstChild) {
		return false, nil
	}
	after := slides.FirstChild.NextSibling
	if after == nil || after.NextSibling != nil {
		return false, nil
	}
	var b strings.Builder
	return html.Render(&b, after) == nil && b.String() == next, nil
}

func isSection(n *html.Node) bool {
	return n.Type == html.ElementNode && n.DataAtom == atom.Section && n.Namespace == ""
}

func fragment(ctx context.Context, src string) ([]*html.Node, error) {
	in := around
	return html.ParseFragment(work.Reader(ctx, strings.NewReader(src)), &in)
}

// mended writes a slide as a browser reads it when there is nothing else: all that is open is
// closed, and what got out is back in.
func mended(ctx context.Context, out *strings.Builder, slide string) error {
	nodes, err := fragment(ctx, slide)
	if err != nil || len(nodes) == 0 || !isSection(nodes[0]) {
		return fault.Invalid.Errorf("cannot be read")
	}
	for _, n := range nodes[1:] {
		nodes[0].AppendChild(n)
	}
	return html.Render(out, nodes[0])
}
