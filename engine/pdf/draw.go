package pdf

import (
	"math"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// matrix moves points.
// It is [a b c d e f] as PDF writes it: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

var unmoved = matrix{1, 0, 0, 1, 0, 0}

// then is the matrix that moves points as m does, and then as next does.
func (m matrix) then(next matrix) matrix {
	return matrix{
		m[0]*next[0] + m[1]*next[2], m[0]*next[1] + m[1]*next[3],
		m[2]*next[0] + m[3]*next[2], m[2]*next[1] + m[3]*next[3],
		m[4]*next[0] + m[5]*next[2] + next[4], m[4]*next[1] + m[5]*next[3] + next[5],
	}
}

func (m matrix) move(x, y float64) (float64, float64) {
	return x*m[0] + y*m[2] + m[4], x*m[1] + y*m[3] + m[5]
}

// maxSaved bounds the states that content keeps for later.
// States beyond it are not kept, which only misplaces the text of content that nests q without Q.
const maxSaved = 256

// drawer follows the operators of content as far as text goes. Places are in the space of the
// text.
type drawer struct {
	p         *pdf
	resources types.Dict
	depth     int
	font      *pdfFont
	size      float64
	leading   float64
	chars     float64 // added behind every character
	words     float64 // added behind every blank
	scale     float64 // of widths
	line, at  matrix  // where the line began, and where the next character goes
	page      matrix  // from the space of the text to the page
	saved     []matrix
	endX      float64 // where the last text ended
	endY      float64
	drawn     bool // there is a last text
}

// draw takes the text out of content, which a matrix puts on the page.
func (p *pdf) draw(content []byte, resources types.Dict, depth int, page matrix) {
	d := drawer{p: p, resources: resources, depth: depth, scale: 1, page: page}
	d.run(content)
}

func (d *drawer) run(content []byte) {
	s := pdfScanner{data: content}
	var operands []operand
	for !d.p.spent() {
		o, ok := s.next(0)
		if !ok {
			return
		}
		d.p.steps -= 1 + len(o.items)
		if o.kind != wordOperand {
			// No operator that is read takes as many; the rest is counted as steps and dropped.
			if len(operands) < 64 {
				operands = append(operands, o)
			}
			continue
		}
		if o.text == "ID" {
			s.skipImage()
		} else {
			d.do(o.text, operands)
		}
		operands = operands[:0]
	}
}

// numbers are the last n operands; nil if they are not numbers.
func numbers(operands []operand, n int) []float64 {
	if len(operands) < n {
		return nil
	}
	out := make([]float64, n)
	for i, o := range operands[len(operands)-n:] {
		if o.kind != numberOperand {
			return nil
		}
		out[i] = o.number
	}
	return out
}

// operators are those that take numbers only: how many, and what they do.
var operators = map[string]struct {
	numbers int
	do      func(d *drawer, n []float64)
}{
	"BT": {0, func(d *drawer, _ []float64) { d.line, d.at, d.drawn = unmoved, unmoved, false }},
	"ET": {0, func(d *drawer, _ []float64) { d.blank() }},
	"Q":  {0, func(d *drawer, _ []float64) { d.restore() }},
	"T*": {0, func(d *drawer, _ []float64) { d.move(0, -d.leading) }},
	"TD": {2, func(d *drawer, n []float64) { d.leading = -n[1]; d.move(n[0], n[1]) }},
	"TL": {1, func(d *drawer, n []float64) { d.leading = n[0] }},
	"Tc": {1, func(d *drawer, n []float64) { d.chars = n[0] }},
	"Td": {2, func(d *drawer, n []float64) { d.move(n[0], n[1]) }},
	"Tm": {6, func(d *drawer, n []float64) { d.line = matrix(n); d.at = d.line }},
	"Tw": {1, func(d *drawer, n []float64) { d.words = n[0] }},
	"Tz": {1, func(d *drawer, n []float64) { d.scale = n[0] / 100 }},
	"cm": {6, func(d *drawer, n []float64) { d.page = matrix(n).then(d.page) }},
	"q":  {0, func(d *drawer, _ []float64) { d.save() }},
}

func (d *drawer) do(operator string, operands []operand) {
	if op, ok := operators[operator]; ok {
		if n := numbers(operands, op.numbers); n != nil {
			op.do(d, n)
		}
		return
	}
	named := len(operands) > 0 && operands[0].kind == nameOperand
	switch {
	case operator == "Tf" && named && len(operands) > 1:
		if n := numbers(operands, 1); n != nil {
			d.size = n[0]
			d.font = d.p.font(d.resources, operands[0].text)
		}
	case operator == "Do" && named:
		d.p.form(d.resources, operands[0].text, d.depth, d.page)
	default:
		d.text(operator, operands)
	}
}

// save keeps the position of the page until restore.
func (d *drawer) save() {
	if len(d.saved) < maxSaved {
		d.saved = append(d.saved, d.page)
	}
}

func (d *drawer) restore() {
	if last := len(d.saved) - 1; last >= 0 {
		d.page, d.saved = d.saved[last], d.saved[:last]
	}
}

// text does the operators that show text.
func (d *drawer) text(operator string, operands []operand) {
	if len(operands) == 0 {
		return
	}
	last := operands[len(operands)-1]
	switch operator {
	case `"`:
		if n := numbers(operands[:len(operands)-1], 2); n != nil {
			d.words, d.chars = n[0], n[1]
		}
		fallthrough
	case "'":
		d.move(0, -d.leading)
		fallthrough
	case "Tj":
		if last.kind == textOperand {
			d.show(last.text)
		}
	case "TJ":
		for _, item := range last.items {
			switch item.kind {
			case textOperand:
				d.show(item.text)
			case numberOperand:
				// Numbers between texts move to the left, in thousandths of the font's size.
				d.advance(-item.number / 1000 * d.size * d.scale)
			}
		}
	}
}

// move begins a line at an offset from the line before.
func (d *drawer) move(x, y float64) {
	m := &d.line
	m[4] += x*m[0] + y*m[2]
	m[5] += x*m[1] + y*m[3]
	d.at = d.line
}

func (d *drawer) advance(x float64) {
	d.at[4] += x * d.at[0]
	d.at[5] += x * d.at[1]
}

// show adds text, with a blank or a new line before it where there is a gap.
func (d *drawer) show(s string) {
	if d.font == nil || s == "" {
		return
	}
	em := math.Abs(d.size) * math.Hypot(d.at[0], d.at[1])
	if d.drawn {
		along, across := d.at[4]-d.endX, d.at[5]-d.endY
		if math.Abs(d.at[1]) > math.Abs(d.at[0]) { // turned text
			along, across = across, along
		}
		switch {
		case math.Abs(across) > 0.5*em:
			d.newLine()
		case along > 0.18*em, along < -0.5*em:
			d.blank()
		}
	}
	out := &d.p.out
	d.font.each(s, func(code int, text string, width float64) {
		from := out.Len()
		out.WriteString(text)
		if d.p.positions && len(d.p.glyphs) < maxGlyphs {
			x, y := d.page.move(d.at.move(width/2000*d.size*d.scale, d.size/4)) // its middle
			d.p.glyphs = append(d.p.glyphs, glyph{x, y, from, out.Len()})
		}
		width = width/1000*d.size + d.chars
		if code == ' ' {
			width += d.words
		}
		d.advance(width * d.scale)
	})
	d.endX, d.endY, d.drawn = d.at[4], d.at[5], true
}

// blank ends a word, unless it has ended.
func (d *drawer) blank() {
	if s := d.p.out.String(); s != "" && !strings.HasSuffix(s, " ") && !strings.HasSuffix(s, "\n") {
		d.p.out.WriteByte(' ')
	}
}

// newLine ends a line. A word that a hyphen parts goes on.
func (d *drawer) newLine() {
	if s := d.p.out.String(); s != "" && !strings.HasSuffix(s, "\n") {
		d.p.out.WriteByte('\n')
	}
}
