package render

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"
)

// backdrop is what is behind a slide.
type backdrop struct {
	color    rgba
	gradient *gradient
	picture  *picture
	fit      string
	opacity  float64
}

// backdrop reads a slide's background, and marks the slide as the framework does, so that
// text can be readable on it.
func (f *document) backdrop(s *html.Node) backdrop {
	out := backdrop{color: f.background, opacity: 1, fit: "cover"}
	value := attr(s, "data-background-color")
	source := attr(s, "data-background-image")
	// The framework's shorthand is a colour, a gradient or an address, whichever it can be read as.
	if both := strings.TrimSpace(attr(s, "data-background")); both != "" {
		switch _, ok := colorOf(both); {
		case ok:
			value = cmp.Or(value, both)
		case gradientOf(both) != nil:
			out.gradient = gradientOf(both)
		default:
			source = cmp.Or(source, both)
		}
	}
	if c, ok := colorOf(value); ok {
		out.color = c.over(f.background)
		class := "has-light-background"
		if out.color.dark() {
			class = "has-dark-background"
		}
		addClass(s, class)
	}
	if g := gradientOf(attr(s, "data-background-gradient")); g != nil {
		out.gradient = g
	}
	if source != "" {
		out.picture = f.layout.pictures.load(f.ctx, source)
	}
	if size := attr(s, "data-background-size"); size == "contain" {
		out.fit = size
	}
	if o, ok := number(attr(s, "data-background-opacity")); ok {
		out.opacity = min(max(o, 0), 1)
	}
	return out
}

func addClass(n *html.Node, class string) {
	for i := range n.Attr {
		if n.Attr[i].Key == "class" {
			n.Attr[i].Val += " " + class
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: "class", Val: class})
}

// paintBack fills a page with the background.
func (f *document) paintBack(p *painter, b backdrop) {
	p.under = b.color
	p.setAlpha(1)
	p.pdf.SetFillColor(int(b.color.r), int(b.color.g), int(b.color.b))
	p.pdf.Rect(0, 0, pt(f.width), pt(f.height), "F")
	if b.gradient != nil {
		p.gradient(b.gradient, 0, 0, f.width, f.height)
	}
	if b.picture != nil {
		p.setAlpha(b.opacity)
		p.image(b.picture, rect{0, 0, f.width, f.height}, b.fit)
	}
}

// notes puts the speaker notes on a page of their own, below a small picture of their slide, in letters that fit on it.
func (f *document) notes(text string, slide func(*painter)) {
	p := f.page()
	s := *f.layout.computing.root()
	s.space, s.color = "pre-wrap", rgba{r: 0x22, g: 0x22, b: 0x22, a: 1}
	// Pixels on each side, and the part of its size that the slide is shown in.
	const edge, part = 60, 0.45
	p.small(rect{edge, edge, f.width * part, f.height * part}, part, slide)
	top := edge + f.height*part + edge/3
	// Below a size of 5 pixels nobody can read the notes, so what is left over runs off the page.
	for s.fontSize = 25; ; s.fontSize *= 0.8 {
		n := element("div")
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
		b := f.layout.element(n, &s, containing{width: max(f.width-2*edge, 1), floats: &floats{}})
		if b.h <= f.height-top-edge/2 || s.fontSize < 5 {
			p.box(b, edge, top)
			return
		}
	}
}

// small draws something of the size of a page in a part of that size, in a frame.
func (p *painter) small(frame rect, part float64, draw func(*painter)) {
	p.pdf.TransformBegin()
	p.pdf.TransformTranslate(pt(frame.x), pt(frame.y))
	p.pdf.TransformScale(part*100, part*100, 0, 0)
	p.pdf.ClipRect(0, 0, pt(frame.w/part), pt(frame.h/part), false)
	inner := *p
	inner.still = true
	draw(&inner)
	p.pdf.ClipEnd()
	p.pdf.TransformEnd()
	p.setAlpha(1)
	p.pdf.SetDrawColor(0x99, 0x99, 0x99)
	p.pdf.SetLineWidth(pt(1))
	p.pdf.Rect(pt(frame.x), pt(frame.y), pt(frame.w), pt(frame.h), "D")
}
