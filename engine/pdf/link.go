package pdf

import (
	"io"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"catena/storage/fault"
)

// Link is a place on a page that leads out of the file.
type Link struct {
	Page int    `json:"page"`    // from 1
	Kind string `json:"subType"` // one of the kinds
	Text string `json:"text"`    // what is written there
	To   string `json:"link"`
}

// The kinds of links.
const (
	LinkURI    = "URI"
	LinkRemote = "GoToR"  // a place in another PDF file
	LinkLaunch = "Launch" // a file of any kind
)

// Bounds of the links of a file.
const (
	maxLinks = 10_000
	// Half of what an answer may have: as JSON a text grows by quotes, escapes and the names of members.
	maxLinkBytes = maxResult / 2
)

// glyph is a piece of text that was drawn, with its place on the page.
type glyph struct {
	x, y     float64
	from, to int // in the text of the page
}

// maxGlyphs bounds the places that are kept of one page.
const maxGlyphs = 100_000

// links finds the links of a file, page by page.
func links(t *task, files []io.ReadSeeker, _ io.Writer) (r result, err error) {
	read, err := t.open(files[0], 0, MayAll)
	if err != nil {
		return r, err
	}
	p := &pdf{ctx: read, fonts: map[int]*pdfFont{}, steps: maxPDFSteps, left: maxPDFDecoded, positions: true}
	size := 0
	for n := 1; n <= read.PageCount; n++ {
		page, _, inherited, err := read.PageDict(n, false)
		if err != nil {
			return r, fault.Invalid.Errorf("file %s, page %d: %w", t.Names[0], n, err)
		}
		notes := p.list(page["Annots"])
		drawn := false
		for _, note := range notes {
			d := p.dict(note)
			kind, to := p.target(d)
			if to == "" {
				continue
			}
			if !drawn { // few pages have links
				p.out.Reset()
				p.glyphs, drawn = nil, true
				p.draw(p.content(page), inherited.Resources, 0, unmoved)
			}
			l := Link{Page: n, Kind: kind, Text: p.within(p.list(d["Rect"])), To: to}
			if size += len(l.Text) + len(l.To); len(r.Links) == maxLinks || size > maxLinkBytes {
				return r, fault.Limit.Errorf("file %s, page %d: more than %d links or %d bytes of links", t.Names[0], n, maxLinks, maxLinkBytes)
			}
			r.Links = append(r.Links, l)
		}
	}
	return r, nil
}

// target is where an annotation leads; "" if it does not lead out of the file.
func (p *pdf) target(note types.Dict) (kind, to string) {
	if subtype, _ := p.object(note["Subtype"]).(types.Name); subtype != "Link" {
		return "", ""
	}
	action := p.dict(note["A"])
	does, _ := p.object(action["S"]).(types.Name)
	switch kind = string(does); kind {
	case LinkURI:
		to = p.text(action["URI"])
	case LinkRemote, LinkLaunch:
		to = p.text(action["F"])
		if spec := p.dict(action["F"]); spec != nil {
			if to = p.text(spec["UF"]); to == "" {
				to = p.text(spec["F"])
			}
		}
	}
	return kind, strings.TrimSpace(to)
}

// text is what a string says; "" for what is none.
func (p *pdf) text(o types.Object) string {
	switch o := p.object(o).(type) {
	case types.StringLiteral, types.HexLiteral:
		s, err := p.ctx.DereferenceText(o)
		if err == nil {
			return strings.ToValidUTF8(s, "")
		}
	}
	return ""
}

// within is the text that was drawn in a rectangle.
func (p *pdf) within(rect types.Array) string {
	if len(rect) != 4 {
		return ""
	}
	var r [4]float64
	for i, o := range rect {
		r[i], _ = p.number(o)
	}
	left, right, low, high := min(r[0], r[2]), max(r[0], r[2]), min(r[1], r[3]), max(r[1], r[3])
	all := p.out.String()
	var out strings.Builder
	end := -1
	for _, g := range p.glyphs {
		if g.x < left || g.x > right || g.y < low || g.y > high {
			continue
		}
		// Pieces that do not follow each other in the page's text are words of their own.
		if end >= 0 && g.from != end {
			out.WriteByte(' ')
		}
		out.WriteString(all[g.from:g.to])
		end = g.to
	}
	return strings.Join(strings.Fields(out.String()), " ")
}
