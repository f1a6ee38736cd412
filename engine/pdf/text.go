package pdf

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"catena/storage/fault"
	"catena/storage/lazy"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// Bounds of what is read of a PDF file.
const (
	maxPDF        = 32 << 20 // bytes of the file
	maxPDFDecoded = 32 << 20 // bytes its streams unpack to, those of one page included
	maxPDFPages   = 1000
	// Depths and counts that hardly any real file reaches; they end files that are built to be endless.
	maxPDFDepth = 8         // of forms within forms, and nodes of the tree of pages
	maxPDFSteps = 2_000_000 // operators and operands of all pages
	maxPDFFonts = 500
	maxText     = 256 << 10 // bytes of the text found
)

// readText finds the text that the pages of a file show, in the order they draw it.
func readText(t *task, files []io.ReadSeeker, _ io.Writer) (r result, err error) {
	p := &pdf{fonts: map[int]*pdfFont{}, steps: maxPDFSteps, left: maxPDFDecoded}
	defer func() {
		if broken := recover(); broken != nil {
			err = fault.Invalid.Errorf("pdf: cannot be read: %v", broken)
		}
		found := whole(p.out.String())
		r.Text = strings.ToValidUTF8(found[:min(len(found), maxText)], "")
	}()
	// Nothing is validated here: a damaged file may still have text.
	conf := Settings()
	conf.Limits.MaxDecodeBytes = maxPDFDecoded
	conf.OwnerPW, conf.UserPW = t.Password, t.Password
	p.ctx, err = api.ReadContext(files[0], conf)
	if errors.Is(err, pdfcpu.ErrWrongPassword) {
		return r, t.refused(0)
	}
	if err != nil {
		return r, fault.Invalid.Errorf("pdf: %w", err)
	}
	root, err := p.ctx.Pages()
	if err != nil || root == nil {
		return r, fault.Invalid.Errorf("pdf: has no pages")
	}
	p.node(*root, nil, 0)
	return r, nil
}

// pdf is a file that is being read. What is broken in it is passed over.
type pdf struct {
	ctx   *model.Context
	fonts map[int]*pdfFont // by the number of their object
	out   strings.Builder
	pages int
	nodes int
	steps int   // that may still be taken
	left  int64 // bytes that may still be unpacked

	positions bool // record the positions of what is drawn
	glyphs    []glyph
}

func (p *pdf) spent() bool {
	return p.steps <= 0 || p.left <= 0 || p.pages > maxPDFPages || p.out.Len() > maxText
}

// dict returns the dictionary that an object is, or that its stream has.
func (p *pdf) dict(o types.Object) types.Dict {
	switch o := p.object(o).(type) {
	case types.Dict:
		return o
	case types.StreamDict:
		return o.Dict
	}
	return nil
}

func (p *pdf) object(o types.Object) types.Object {
	if o == nil {
		return nil
	}
	found, err := p.ctx.Dereference(o)
	if err != nil {
		return nil
	}
	if s, ok := found.(*types.StreamDict); ok && s != nil {
		return *s
	}
	return found
}

func (p *pdf) list(o types.Object) types.Array {
	list, _ := p.object(o).(types.Array)
	return list
}

func (p *pdf) number(o types.Object) (float64, bool) {
	switch n := p.object(o).(type) {
	case types.Integer:
		return float64(n), true
	case types.Float:
		return float64(n), true
	}
	return 0, false
}

// stream unpacks a stream; nil if it cannot.
func (p *pdf) stream(o types.Object) []byte {
	s, ok := p.object(o).(types.StreamDict)
	if !ok || p.left <= 0 {
		return nil
	}
	if s.Content == nil {
		if err := s.DecodeWithLimit(p.left); err != nil {
			return nil
		}
	}
	p.left -= int64(len(s.Content))
	return s.Content
}

// node reads a node of the tree of pages; resources are those it inherits.
func (p *pdf) node(o types.Object, resources types.Dict, depth int) {
	d := p.dict(o)
	if p.nodes++; d == nil || depth > 4*maxPDFDepth || p.nodes > 4*maxPDFPages || p.spent() {
		return
	}
	if own := p.dict(d["Resources"]); own != nil {
		resources = own
	}
	if kids := p.list(d["Kids"]); kids != nil {
		for _, kid := range kids {
			p.node(kid, resources, depth+1)
		}
		return
	}
	p.pages++
	p.draw(p.content(d), resources, 0, unmoved)
	p.out.WriteByte('\n')
	for _, note := range p.list(d["Annots"]) {
		shown := p.dict(p.dict(note)["AP"])["N"] // what is written on top of the page
		p.draw(p.stream(shown), p.dict(p.dict(shown)["Resources"]), 1, unmoved)
		p.out.WriteByte('\n')
	}
}

// content is what draws a page.
func (p *pdf) content(page types.Dict) []byte {
	parts := p.list(page["Contents"])
	if parts == nil {
		return p.stream(page["Contents"])
	}
	var content bytes.Buffer
	for _, part := range parts {
		content.Write(p.stream(part))
		content.WriteByte('\n')
	}
	return content.Bytes()
}

// parted is a word with a hyphen at the end of a line.
var parted = lazy.Regexp(`(\pL)[-\x{ad}]\n(\p{Ll})`)

// whole joins the words that ends of lines part.
func whole(s string) string { return parted().ReplaceAllString(s, "$1$2") }

// font returns a font of the resources by its name.
func (p *pdf) font(resources types.Dict, name string) *pdfFont {
	fonts := p.dict(resources["Font"])
	o := fonts[name]
	ref, ok := o.(types.IndirectRef)
	if !ok {
		return p.readFont(o)
	}
	n := ref.ObjectNumber.Value()
	f, known := p.fonts[n]
	if !known && len(p.fonts) < maxPDFFonts {
		f = p.readFont(o)
		p.fonts[n] = f
	}
	return f
}

// form draws a form that content names.
func (p *pdf) form(resources types.Dict, name string, depth int, page matrix) {
	o := p.dict(resources["XObject"])[name]
	d := p.dict(o)
	if subtype, _ := d["Subtype"].(types.Name); subtype != "Form" || depth >= maxPDFDepth {
		return
	}
	if own := p.dict(d["Resources"]); own != nil {
		resources = own
	}
	if list := p.list(d["Matrix"]); len(list) == 6 {
		var moved matrix
		for i, o := range list {
			moved[i], _ = p.number(o)
		}
		page = moved.then(page)
	}
	p.draw(p.stream(o), resources, depth+1, page)
}
