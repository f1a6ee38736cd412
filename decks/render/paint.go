package render

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/net/html"
)

// pointsPerPixel: CSS has 96 pixels to an inch, PDF 72 points.
const pointsPerPixel = 0.75

// painter draws boxes on a page.
type painter struct {
	ctx      context.Context //nolint:containedctx // bounds the loading of pictures
	pdf      *fpdf.Fpdf
	fonts    *fonts
	pictures *pictures
	alpha    float64
	under    rgba                // colour behind everything
	hidden   map[*html.Node]bool // fragments that are still to come
	still    bool                // no links: their places are not those of what is drawn
}

func pt(px float64) float64 { return px * pointsPerPixel }

// box draws a box whose border box begins at x, y.
func (p *painter) box(b *box, x, y float64) {
	if p.hidden[b.node] || b.style.opacity == 0 {
		return
	}
	if b.style.opacity < 1 {
		before := p.alpha
		p.alpha *= b.style.opacity
		defer func() { p.alpha = before }()
	}
	if !b.style.hidden {
		p.backdrop(b, x, y)
		p.borders(b, x, y)
		p.shown(b, x, y)
	}
	if b.style.clip {
		p.pdf.ClipRect(pt(x), pt(y), pt(b.w), pt(b.h), false)
		defer p.pdf.ClipEnd()
	}
	if b.marker != "" && !b.style.hidden {
		p.marker(b, x, y)
	}
	for _, c := range b.boxes {
		p.box(c, x+c.x, y+c.y)
	}
	for i := range b.lines {
		p.line(&b.lines[i], x, y+b.lines[i].y)
	}
	// Boxes with places of their own lie above the flow, here also those
	// that CSS would put below it (z-index below 0).
	for _, c := range ordered(b.floating) {
		p.box(c, x+c.x, y+c.y)
	}
}

// ordered are boxes by what lies above what; of two that lie in one plane, the later one is above.
func ordered(boxes []*box) []*box {
	return slices.SortedStableFunc(slices.Values(boxes), func(a, b *box) int { return cmp.Compare(a.style.z, b.style.z) })
}

// setAlpha rounds to hundredths: the file has an object for each opacity that occurs in it.
func (p *painter) setAlpha(a float64) { p.pdf.SetAlpha(math.Round(a*p.alpha*100)/100, "Normal") }

// backdrop draws what is behind a box's content.
func (p *painter) backdrop(b *box, x, y float64) {
	s := b.style
	if s.background.visible() {
		p.setAlpha(s.background.a)
		p.pdf.SetFillColor(int(s.background.r), int(s.background.g), int(s.background.b))
		if r := s.radius.of(min(b.w, b.h), 0); r > 0 {
			p.pdf.RoundedRect(pt(x), pt(y), pt(b.w), pt(b.h), pt(min(r, b.w/2, b.h/2)), "1234", "F")
		} else {
			p.pdf.Rect(pt(x), pt(y), pt(b.w), pt(b.h), "F")
		}
	}
	if s.gradient != nil {
		p.gradient(s.gradient, x, y, b.w, b.h)
	}
	if s.image != "" && b.w > 0 && b.h > 0 {
		p.behind(s, rect{x, y, b.w, b.h})
	}
}

// maxTiles bounds how often a picture repeats; a smaller one is stretched instead.
const maxTiles = 400

// behind draws the picture that a style sheet puts behind a box: over all of it, within it, or in its own size from the
// corner on.
func (p *painter) behind(s *style, r rect) {
	pic := p.pictures.load(p.ctx, s.image)
	if pic == nil {
		p.pictures.unseen[s.image] = true
		return
	}
	p.setAlpha(1)
	if s.cover == "cover" || s.cover == "contain" {
		p.image(pic, r, s.cover)
		return
	}
	w, h := float64(pic.width), float64(pic.height)
	columns, rows := math.Ceil(r.w/w), math.Ceil(r.h/h)
	switch {
	case s.repeat == "no-repeat":
		columns, rows = 1, 1
	case columns*rows > maxTiles:
		p.image(pic, r, "cover")
		return
	}
	p.pdf.ClipRect(pt(r.x), pt(r.y), pt(r.w), pt(r.h), false)
	defer p.pdf.ClipEnd()
	for i := range int(columns) {
		for j := range int(rows) {
			p.pdf.ImageOptions(pic.name, pt(r.x+float64(i)*w), pt(r.y+float64(j)*h), pt(w), pt(h), false, fpdf.ImageOptions{ImageType: pic.kind}, 0, "")
		}
	}
}

func (p *painter) gradient(g *gradient, x, y, w, h float64) {
	p.setAlpha(max(g.from.a, g.to.a))
	sin, cos := math.Sincos(g.angle * math.Pi / 180)
	x1, y1 := 0.5-sin/2, 0.5-cos/2
	p.pdf.LinearGradient(pt(x), pt(y), pt(w), pt(h), int(g.from.r), int(g.from.g), int(g.from.b),
		int(g.to.r), int(g.to.g), int(g.to.b), x1, y1, 1-x1, 1-y1)
}

func (p *painter) borders(b *box, x, y float64) {
	s := b.style
	all := s.border[0].style != "" && s.border[0] == s.border[1] && s.border[0] == s.border[2] && s.border[0] == s.border[3]
	for i, e := range s.border {
		w := e.width.of(b.w, 0)
		if e.style == "" || w <= 0 {
			continue
		}
		p.pen(&e, s, w)
		if all {
			if r := s.radius.of(min(b.w, b.h), 0); r > 0 {
				p.pdf.RoundedRect(pt(x+w/2), pt(y+w/2), pt(b.w-w), pt(b.h-w), pt(min(r, b.w/2, b.h/2)), "1234", "D")
			} else {
				p.pdf.Rect(pt(x+w/2), pt(y+w/2), pt(b.w-w), pt(b.h-w), "D")
			}
			p.pdf.SetDashPattern(nil, 0)
			return
		}
		switch i {
		case 0:
			p.pdf.Line(pt(x), pt(y+w/2), pt(x+b.w), pt(y+w/2))
		case 1:
			p.pdf.Line(pt(x+b.w-w/2), pt(y), pt(x+b.w-w/2), pt(y+b.h))
		case 2:
			p.pdf.Line(pt(x), pt(y+b.h-w/2), pt(x+b.w), pt(y+b.h-w/2))
		case 3:
			p.pdf.Line(pt(x+w/2), pt(y), pt(x+w/2), pt(y+b.h))
		}
		p.pdf.SetDashPattern(nil, 0)
	}
}

// shown draws a picture, or says what cannot be shown.
func (p *painter) shown(b *box, x, y float64) {
	if b.node == nil || !isReplaced(b.node) || b.w <= 0 || b.h <= 0 {
		return
	}
	top, right, bottom, left := b.style.edges(b.w)
	x, y = x+left, y+top
	w, h := b.w-left-right, b.h-top-bottom
	if b.picture == nil {
		if b.label != "" {
			p.note(b, x, y, w, h)
		}
		return
	}
	p.setAlpha(1)
	fit := b.style.fit
	if fit == "contain" || fit == "scale-down" || fit == "cover" {
		p.image(b.picture, rect{x, y, w, h}, fit)
		return
	}
	p.pdf.ImageOptions(b.picture.name, pt(x), pt(y), pt(w), pt(h), false, fpdf.ImageOptions{ImageType: b.picture.kind}, 0, "")
}

// image draws a picture in its own proportions, within or (fit is cover) over the whole of a rectangle.
func (p *painter) image(pic *picture, r rect, fit string) {
	pw, ph := float64(pic.width), float64(pic.height)
	scale := min(r.w/pw, r.h/ph)
	if fit == "cover" {
		scale = max(r.w/pw, r.h/ph)
		p.pdf.ClipRect(pt(r.x), pt(r.y), pt(r.w), pt(r.h), false)
		defer p.pdf.ClipEnd()
	}
	pw, ph = pw*scale, ph*scale
	p.pdf.ImageOptions(pic.name, pt(r.x+(r.w-pw)/2), pt(r.y+(r.h-ph)/2), pt(pw), pt(ph), false, fpdf.ImageOptions{ImageType: pic.kind}, 0, "")
}

// rect is a rectangle of a page, in pixels.
type rect struct{ x, y, w, h float64 }

// pen sets the color, the width and the dashes of one side of a border.
func (p *painter) pen(e *edge, s *style, w float64) {
	c := e.color
	if e.plain {
		c = s.color
	}
	p.setAlpha(c.a)
	p.pdf.SetDrawColor(int(c.r), int(c.g), int(c.b))
	p.pdf.SetLineWidth(pt(w))
	switch e.style {
	case "dashed":
		p.pdf.SetDashPattern([]float64{pt(3 * w), pt(3 * w)}, 0)
	case "dotted":
		p.pdf.SetDashPattern([]float64{pt(w), pt(w)}, 0)
	}
}

// note stands for a film or a page within the slide: a frame with its address.
func (p *painter) note(b *box, x, y, w, h float64) {
	s := *b.style
	s.fontSize, s.underline = min(s.fontSize, 18), false
	text := p.fonts.known(b.label, &s)
	if b.node.Data != "img" {
		p.setAlpha(0.15)
		p.pdf.SetFillColor(int(s.color.r), int(s.color.g), int(s.color.b))
		p.pdf.Rect(pt(x), pt(y), pt(w), pt(h), "F")
	}
	for len(text) > 4 && p.fonts.width(text, &s) > w-8 {
		text = strings.ToValidUTF8(text[:len(text)*3/4], "")
	}
	sp := span{text: text, style: &s, baseline: h/2 + s.fontSize*0.3, w: p.fonts.width(text, &s)}
	if strings.HasPrefix(b.label, "http") {
		sp.link = b.label
	}
	sp.x = (w - sp.w) / 2
	p.span(&sp, x, y)
}

// marker draws what stands before an item of a list.
func (p *painter) marker(b *box, x, y float64) {
	s := *b.style
	s.underline, s.strike = false, false
	text := p.fonts.known(b.marker, &s)
	w := p.fonts.width(text, &s)
	above, _ := strut(&s)
	baseline := above
	if first, ok := b.firstBaseline(); ok {
		baseline = first
	}
	p.span(&span{text: text, style: &s, baseline: baseline, w: w}, x-w-s.fontSize*0.35, y)
}

// firstBaseline is where the first line of text in a box stands.
func (b *box) firstBaseline() (float64, bool) {
	for i := range b.lines {
		for _, s := range b.lines[i].spans {
			if s.box == nil {
				return b.lines[i].y + s.baseline, true
			}
		}
	}
	for _, c := range b.boxes {
		if y, ok := c.firstBaseline(); ok {
			return c.y + y, true
		}
	}
	return 0, false
}

func (p *painter) line(l *line, x, y float64) {
	for i := range l.spans {
		s := &l.spans[i]
		if p.covered(s.owner) {
			continue
		}
		if s.box != nil {
			p.box(s.box, x+s.box.x+s.shiftX(), y+s.box.y)
			if s.link != "" {
				p.link(s.link, x+s.x, y+s.box.y, s.box.w, s.box.h)
			}
			continue
		}
		p.span(s, x, y)
	}
}

// shiftX is how far a line with a box in it was moved after the box was placed.
func (s *span) shiftX() float64 { return s.x - (s.box.x - s.style.margin[3].of(0, 0)) }

// covered reports whether text is in a fragment that is still to come.
func (p *painter) covered(n *html.Node) bool {
	if len(p.hidden) == 0 {
		return false
	}
	for ; n != nil && n.Data != "section"; n = n.Parent {
		if p.hidden[n] {
			return true
		}
	}
	return false
}

// span draws text that begins at x in a line that begins at y.
func (p *painter) span(s *span, x, y float64) {
	if s.style.hidden || s.style.opacity == 0 {
		return
	}
	x += s.x
	st := s.style
	if st.background.visible() && st.display == "inline" {
		p.setAlpha(st.background.a)
		p.pdf.SetFillColor(int(st.background.r), int(st.background.g), int(st.background.b))
		p.pdf.Rect(pt(x-2), pt(y+s.baseline-st.fontSize*ascent), pt(s.w+4), pt(st.fontSize*(ascent+descent)), "F")
	}
	name, variant, _ := p.fonts.use(st)
	p.pdf.SetFont(name, variant, pt(st.fontSize))
	p.setAlpha(st.color.a)
	p.pdf.SetTextColor(int(st.color.r), int(st.color.g), int(st.color.b))
	p.pdf.Text(pt(x), pt(y+s.baseline), s.text)
	p.rules(s, x, y)
	if s.link != "" {
		p.link(s.link, x, y+s.baseline-st.fontSize*ascent, s.w, st.fontSize*1.15)
	}
}

// rules draws lines below and through text.
func (p *painter) rules(s *span, x, y float64) {
	if !s.style.underline && !s.style.strike {
		return
	}
	c := s.style.color
	p.pdf.SetDrawColor(int(c.r), int(c.g), int(c.b))
	p.pdf.SetLineWidth(pt(s.style.fontSize * 0.06))
	if s.style.underline {
		p.pdf.Line(pt(x), pt(y+s.baseline+s.style.fontSize*0.14), pt(x+s.w), pt(y+s.baseline+s.style.fontSize*0.14))
	}
	if s.style.strike {
		p.pdf.Line(pt(x), pt(y+s.baseline-s.style.fontSize*0.28), pt(x+s.w), pt(y+s.baseline-s.style.fontSize*0.28))
	}
}

func (p *painter) link(address string, x, y, w, h float64) {
	if p.still {
		return
	}
	// PDF viewers also follow links to local files and programs, which a deck has no business to name.
	for _, scheme := range [...]string{"http://", "https://", "mailto:"} {
		if strings.HasPrefix(strings.ToLower(address), scheme) {
			p.pdf.LinkString(pt(x), pt(y), pt(w), pt(h), strings.ReplaceAll(address, "\n", ""))
			return
		}
	}
}
