package render

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/net/html"

	"catena/decks/theme"
	"catena/storage/fault"
)

// Embedded is the renderer that needs no browser. It lays out what decks mostly consist of:
// text, lists, tables, code, images, blocks with places of their own and backgrounds, in
// the Go fonts. Drawings in SVG and formulas are beyond it, which the file's warnings say; so are
// scripts other than Latin, Greek and Cyrillic.
type Embedded struct{}

// EmbeddedName says in a file which renderer made it.
const EmbeddedName = "catena embedded renderer"

// PDF makes the file of a deck.
func (Embedded) PDF(ctx context.Context, d *Deck, o Options) (data []byte, err error) {
	defer func() {
		// Decks and their pictures come from anybody. What the libraries cannot stand must fail one file, not the server.
		if p := recover(); p != nil {
			data, err = nil, fault.Internal.Errorf("embedded renderer: %v", p).WithCode(fault.CodeRenderCrashed)
		}
	}()
	f := newDocument(ctx, d, o)
	data, err = f.render()
	if err == nil {
		data, err = finish(data, d, EmbeddedName, f.slideCount)
		d.notes = append(d.notes, f.undrawn()...)
	}
	if err != nil {
		return nil, timeout(ctx, err)
	}
	if ctx.Err() != nil {
		return nil, timeout(ctx, ctx.Err())
	}
	return data, nil
}

// document is one file in the making.
type document struct {
	ctx           context.Context //nolint:containedctx // bounds all of its work
	deck          *Deck
	root          *html.Node // of the slides
	options       Options
	pdf           *fpdf.Fpdf
	layout        *layout
	width, height float64 // of a page
	body          *style
	slides        *style
	background    rgba
	slideCount    int
	count         int // slides that have a number
	pages         int
}

func newDocument(ctx context.Context, d *Deck, o Options) *document {
	w, h := d.size(o.Margin)
	pdf := fpdf.NewCustom(&fpdf.InitType{OrientationStr: "P", UnitStr: "pt", Size: fpdf.SizeType{Wd: pt(w), Ht: pt(h)}})
	pdf.SetAutoPageBreak(false, 0)
	pdf.SetMargins(0, 0, 0)
	pdf.SetTitle(bmp(d.Title), true)
	pdf.SetAuthor(bmp(d.Author), true)
	pdf.SetSubject(bmp(d.Description), true)
	pdf.SetLang(d.Language)
	pdf.SetProducer(EmbeddedName, false)
	pdf.SetCreator("catena", false)
	return &document{ctx: ctx, deck: d, options: o, pdf: pdf, width: w, height: h}
}

// bmp drops characters beyond those the PDF library knows.
func bmp(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xffff {
			return -1
		}
		return r
	}, s)
}

// render draws a page for each slide. The number of pages and the size of the file are bounded, and the end of the call is noticed
// between slides.
func (f *document) render() ([]byte, error) {
	root, slides, err := parse(f.ctx, f.deck)
	if err != nil {
		return nil, err
	}
	// Refused before anything is drawn.
	if n := pages(slides, f.options); n > maxPages {
		return nil, tooLarge("deck: %d pages, limit %d", n, maxPages)
	}
	f.root, f.slideCount = root, len(slides)
	frame(root)
	f.prepare(root)
	for i := range slides {
		if f.ctx.Err() != nil {
			return nil, f.ctx.Err()
		}
		if err := f.slide(&slides[i]); err != nil {
			return nil, err
		}
	}
	if f.pages == 0 {
		f.page()
	}
	var b bytes.Buffer
	if err := f.pdf.Output(&b); err != nil {
		return nil, fault.Internal.Errorf("embedded renderer: %w", err).WithCode(fault.CodeRenderCrashed)
	}
	if b.Len() > maxFile {
		return nil, tooLarge("PDF: %d bytes, limit %d", b.Len(), maxFile)
	}
	return b.Bytes(), nil
}

// pages is the number of pages that slides make.
func pages(slides []slide, o Options) int {
	n := len(slides)
	for i := range slides {
		if o.SeparateFragments {
			n += len(slides[i].steps)
		}
		if o.SlideNotes && slides[i].notes != "" {
			n++
		}
	}
	return n
}

// frame puts the elements around the slides that style sheets expect.
func frame(slides *html.Node) (body *html.Node) {
	reveal := element("div", "class", "reveal")
	reveal.AppendChild(slides)
	body = element("body", "class", "reveal-viewport")
	body.AppendChild(reveal)
	element("html").AppendChild(body)
	return body
}

func (f *document) prepare(slides *html.Node) {
	d := f.deck
	// The weakest first, as in a browser: defaults, the theme, the deck's own sheet, style elements of slides.
	sheets := []string{basics, theme.CSS(d.ThemeColor, d.ThemeFont, ""), d.CSS}
	for n := range slides.Descendants() {
		if n.Type == html.ElementNode && n.Data == "style" && n.FirstChild != nil {
			sheets = append(sheets, n.FirstChild.Data)
		}
	}
	c := &computing{sheet: newSheet(sheets...), rootSize: 16, width: float64(d.Width), height: float64(d.Height)}
	f.layout = &layout{
		ctx: f.ctx, computing: c, fonts: newFonts(f.pdf),
		pictures: &pictures{deck: d, pdf: f.pdf, loaded: map[string]*picture{}, unseen: map[string]bool{}, failed: map[string]bool{}},
	}
	reveal := slides.Parent
	page := c.of(reveal.Parent.Parent, c.root())
	f.body = c.of(reveal.Parent, page)
	f.background = rgba{255, 255, 255, 1}
	if f.body.background.visible() {
		f.background = f.body.background.over(f.background)
	}
	f.slides = c.of(slides, c.of(reveal, f.body))
}

// slide lays out one slide and draws its pages.
func (f *document) slide(s *slide) error {
	back := f.backdrop(s.section)
	parent := f.slides
	if stack := s.section.Parent; stack != nil && stack.Data == "section" {
		parent = f.layout.computing.of(stack, parent)
	}
	style := f.layout.computing.of(s.section, parent)
	// Blocks with places of their own refer to the slide, whatever style sheets make of it.
	style.position, style.display = "relative", "block"
	f.layout.work = 0
	b := f.layout.element(s.section, style, containing{
		width: float64(f.deck.Width), height: float64(f.deck.Height), floats: &floats{},
	})
	if f.layout.work > maxWork {
		return tooLarge("slide: %d nested boxes, limit %d", f.layout.work, maxWork)
	}
	x, y := (f.width-float64(f.deck.Width))/2, (f.height-float64(f.deck.Height))/2
	if s.centred {
		// A slide that is higher than the page begins at the top: losing its end is better than losing its title.
		y = max((f.height-b.h)/2, 0)
	}
	if s.counted {
		f.count++
	}
	last := 0
	if f.options.SeparateFragments {
		last = len(s.steps)
	}
	// The layout is the same for all steps; fragments to come are only not painted.
	for i := range last + 1 {
		if f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		p := f.page()
		f.paintBack(p, back)
		if f.options.SeparateFragments {
			p.hidden = hiddenAt(s.steps, i)
		}
		p.box(b, x, y)
		if f.options.SlideNumber && s.counted {
			f.number(p, i)
		}
	}
	if f.options.SlideNotes && s.notes != "" {
		f.notes(s.notes, func(p *painter) {
			f.paintBack(p, back)
			p.box(b, x, y)
		})
	}
	return f.pdf.Error()
}

// hiddenAt returns the fragments that do not show after so many steps: those to come, and
// those that show only for a while.
func hiddenAt(steps []step, shown int) map[*html.Node]bool {
	out := map[*html.Node]bool{}
	for i, s := range steps {
		for _, n := range s {
			// A step of highlighted lines of code: it makes a page, and hides nothing.
			if n == nil {
				continue
			}
			visible := i < shown
			switch {
			case hasClass(n, "fade-out"):
				visible = !visible
			case hasClass(n, "current-visible"), hasClass(n, "fade-in-then-out"):
				visible = i == shown-1
			case emphasis(n):
				visible = true
			}
			if !visible {
				out[n] = true
			}
		}
	}
	return out
}

// emphasis reports whether a fragment is seen from the start and only changes its look.
func emphasis(n *html.Node) bool {
	for c := range strings.FieldsSeq(attr(n, "class")) {
		switch {
		case c == "grow", c == "shrink", c == "strike", c == "semi-fade-out", strings.HasPrefix(c, "highlight-"):
			return true
		}
	}
	return false
}

func (f *document) page() *painter {
	f.pdf.AddPage()
	f.pages++
	return &painter{ctx: f.ctx, pdf: f.pdf, fonts: f.layout.fonts, pictures: f.layout.pictures, alpha: 1, under: f.background}
}

// number writes the number of the slide in the corner, with that of the fragment.
func (f *document) number(p *painter, step int) {
	text := fmt.Sprint(f.count)
	if step > 0 {
		text += fmt.Sprintf(".%d", step)
	}
	s := *f.slides
	// Pixels, and 14 of them from the edges of the page.
	s.fontSize, s.underline, s.opacity = 18, false, 1
	if c, ok := colorOf(f.body.vars["--r-main-color"]); ok {
		s.color = c
	}
	if p.under.dark() == s.color.dark() {
		s.color = rgba{255, 255, 255, 1}
		if !p.under.dark() {
			s.color = rgba{a: 1}
		}
	}
	w := f.layout.fonts.width(text, &s)
	p.span(&span{text: text, style: &s, w: w}, f.width-w-14, f.height-14)
}
