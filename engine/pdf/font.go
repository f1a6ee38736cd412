package pdf

import (
	"strings"
	"unicode/utf16"

	"github.com/pdfcpu/pdfcpu/pkg/font"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"golang.org/x/text/encoding/charmap"
)

// maxPDFCodes bounds the characters a font is known to have.
const maxPDFCodes = 70_000

// pdfFont says what the codes of a font mean and how wide they are, in thousandths of its size.
type pdfFont struct {
	texts   map[int]string
	widths  map[int]float64
	usual   float64 // width of the others
	lengths []int   // bytes that a code may have; nil: one
	direct  bool    // codes are UTF-16
}

// each calls fn with the codes of a text.
func (f *pdfFont) each(s string, fn func(code int, text string, width float64)) {
	for s != "" {
		n, code := f.code(s)
		text, known := f.texts[code]
		if !known && f.direct {
			text = string(utf16.Decode([]uint16{uint16(code)}))
		}
		width, known := f.widths[code]
		if !known {
			width = f.usual
		}
		fn(code, text, width)
		s = s[n:]
	}
}

// code reads one code: of the length of one that is known, or the shortest there is.
func (f *pdfFont) code(s string) (n, code int) {
	if f.lengths == nil {
		return 1, int(s[0])
	}
	shortest := 0
	for _, n := range f.lengths {
		if n > len(s) {
			continue
		}
		code := 0
		for i := range n {
			code = code<<8 | int(s[i])
		}
		if _, ok := f.texts[code]; ok {
			return n, code
		}
		if shortest == 0 {
			shortest = n
		}
	}
	if shortest == 0 {
		return len(s), -1
	}
	for i := range shortest {
		code = code<<8 | int(s[i])
	}
	return shortest, code
}

// readFont reads what there is to know of a font.
func (p *pdf) readFont(o types.Object) *pdfFont {
	d := p.dict(o)
	if d == nil {
		return nil
	}
	f := &pdfFont{texts: map[int]string{}, widths: map[int]float64{}}
	if subtype, _ := p.object(d["Subtype"]).(types.Name); subtype == "Type0" {
		p.composite(f, d)
	} else {
		p.encoding(f, d)
		p.simpleWidths(f, d)
	}
	if to := p.stream(d["ToUnicode"]); to != nil {
		p.toUnicode(f, to)
	}
	return f
}

// composite reads a font whose codes have several bytes.
func (p *pdf) composite(f *pdfFont, d types.Dict) {
	// What the format says where a font does not: codes of two bytes (Identity-H), and a width of one em.
	f.lengths, f.usual = []int{2}, 1000
	if name, ok := p.object(d["Encoding"]).(types.Name); ok {
		f.direct = strings.Contains(string(name), "UCS2") || strings.Contains(string(name), "UTF16")
	}
	below := p.list(d["DescendantFonts"])
	if len(below) == 0 {
		return
	}
	own := p.dict(below[0])
	if n, ok := p.number(own["DW"]); ok {
		f.usual = n
	}
	// W is a sequence of "first [w1 w2 ...]" and "first last w".
	w := p.list(own["W"])
	for i := 0; i+1 < len(w) && len(f.widths) < maxPDFCodes && p.steps > 0; {
		first, _ := p.number(w[i])
		if list := p.list(w[i+1]); list != nil {
			for j, o := range list {
				f.widths[int(first)+j], _ = p.number(o)
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		last, _ := p.number(w[i+1])
		width, _ := p.number(w[i+2])
		// Counted as steps: ranges that give the same codes again and again never fill the table.
		for code := int(first); code <= int(last) && len(f.widths) < maxPDFCodes && p.steps > 0; code++ {
			f.widths[code] = width
			p.steps--
		}
		i += 3
	}
}

func (p *pdf) simpleWidths(f *pdfFont, d types.Dict) {
	unit := 1.0
	if m := p.list(d["FontMatrix"]); len(m) == 6 { // glyphs that are content themselves
		if n, ok := p.number(m[0]); ok {
			unit = 1000 * n
		}
	}
	// Half an em, about the average of a text face. Widths are only needed to see where words end.
	f.usual = 500
	if n, ok := p.number(p.dict(d["FontDescriptor"])["MissingWidth"]); ok && n > 0 {
		f.usual = n
	}
	first, _ := p.number(d["FirstChar"])
	widths := p.list(d["Widths"])
	for i, o := range widths[:min(len(widths), 256)] {
		n, _ := p.number(o)
		f.widths[int(first)+i] = n * unit
	}
	if name, _ := p.object(d["BaseFont"]).(types.Name); widths == nil && font.IsCoreFont(string(name)) {
		for code := range 256 {
			if n, err := font.CharWidth(string(name), rune(code)); err == nil {
				f.widths[code] = float64(n)
			}
		}
	}
}

// encoding reads what the 256 codes of a simple font mean.
func (p *pdf) encoding(f *pdfFont, d types.Dict) {
	// It agrees with the standard encoding of PDF in all of ASCII but the quotes.
	table := charmap.Windows1252
	name, _ := p.object(d["Encoding"]).(types.Name)
	how := p.dict(d["Encoding"])
	if how != nil {
		name, _ = p.object(how["BaseEncoding"]).(types.Name)
	}
	if name == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for code := ' '; code < 256; code++ {
		if r := table.DecodeByte(byte(code)); r != '\uFFFD' {
			f.texts[int(code)] = string(r)
		}
	}
	code := 0
	for _, o := range p.list(how["Differences"]) {
		switch o := p.object(o).(type) {
		case types.Integer:
			code = int(o)
		case types.Name:
			if text, ok := glyphText(string(o)); ok {
				f.texts[code] = text
			} else {
				delete(f.texts, code)
			}
			code++
		}
	}
}

// toUnicode reads the map from codes to text that a font brings.
func (p *pdf) toUnicode(f *pdfFont, data []byte) {
	s := pdfScanner{data: data}
	var operands []operand
	for len(f.texts) < maxPDFCodes && p.steps > 0 {
		o, ok := s.next(0)
		if !ok {
			return
		}
		p.steps--
		if o.kind != wordOperand {
			operands = append(operands, o)
			continue
		}
		switch o.text {
		case "endcodespacerange":
			f.spaces(operands)
		case "endbfchar":
			for i := 0; i+1 < len(operands); i += 2 {
				f.texts[codeOf(operands[i].text)] = utf16Text(operands[i+1].text)
			}
		case "endbfrange":
			for i := 0; i+2 < len(operands); i += 3 {
				p.steps -= f.span(codeOf(operands[i].text), codeOf(operands[i+1].text), operands[i+2], p.steps)
			}
		}
		operands = operands[:0]
	}
}

// spaces takes the lengths of codes in.
func (f *pdfFont) spaces(operands []operand) {
	if f.lengths == nil {
		return // codes of simple fonts have one byte whatever their map says
	}
	var lengths []int
	for n := 1; n <= 4; n++ {
		for _, o := range operands {
			if o.kind == textOperand && len(o.text) == n {
				lengths = append(lengths, n)
				break
			}
		}
	}
	if lengths != nil {
		f.lengths = lengths
	}
}

// span maps a range of codes to texts that follow each other, or to those of a list. It maps at most as many as there are
// steps left, and returns how many it has taken.
func (f *pdfFont) span(first, last int, to operand, left int) (steps int) {
	for i := 0; first+i <= last && len(f.texts) < maxPDFCodes && i < left; i++ {
		steps++
		if to.kind == listOperand {
			if i >= len(to.items) {
				return steps
			}
			f.texts[first+i] = utf16Text(to.items[i].text)
			continue
		}
		raw := []byte(to.text)
		if len(raw) == 0 {
			return steps
		}
		n := i
		for at := len(raw) - 1; at >= 0 && n > 0; at-- {
			n += int(raw[at])
			raw[at] = byte(n)
			n >>= 8
		}
		f.texts[first+i] = utf16Text(string(raw))
	}
	return steps
}

func codeOf(s string) int {
	code := 0
	for i := range min(len(s), 4) {
		code = code<<8 | int(s[i])
	}
	return code
}

func utf16Text(s string) string {
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return strings.ReplaceAll(string(utf16.Decode(units)), "\x00", "")
}
