package render

import (
	"bytes"
	"strings"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/goregular"
)

// fonts are the faces a file uses. Each is read when it is used first.
type fonts struct {
	pdf  *fpdf.Fpdf
	used map[string]map[string]float64 // by face: widths of words in the font's size
}

func newFonts(pdf *fpdf.Fpdf) *fonts { return &fonts{pdf: pdf, used: map[string]map[string]float64{}} }

// faces are the built-in fonts by name; the Go fonts, which are free to embed.
var faces = map[string][]byte{
	"mono": gomono.TTF, "monoB": gomonobold.TTF,
	"sans": goregular.TTF, "sansB": gobold.TTF, "sansBI": gobolditalic.TTF, "sansI": goitalic.TTF,
}

// face is the name of the face for a style: family and variant.
func face(s *style) (name, variant string) {
	if s.bold {
		variant = "B"
	}
	if s.family == mono {
		return "mono", variant
	}
	if s.italic {
		variant += "I"
	}
	return "sans", variant
}

func (f *fonts) use(s *style) (name, variant string, widths map[string]float64) {
	name, variant = face(s)
	widths = f.used[name+variant]
	if widths == nil { // fpdf writes to it
		f.pdf.AddUTF8FontFromBytes(name, variant, bytes.Clone(faces[name+variant]))
		widths = map[string]float64{}
		f.used[name+variant] = widths
	}
	return name, variant, widths
}

const measure = 100 // size at which words are measured

// width is how wide text is.
func (f *fonts) width(text string, s *style) float64 {
	name, variant, widths := f.use(s)
	w, ok := widths[text]
	if !ok {
		f.pdf.SetFont(name, variant, measure)
		w = f.pdf.GetStringWidth(text) / measure
		// Words come again, long texts hardly ever; the table must not hold a copy of the whole deck.
		if len(text) < 100 {
			widths[text] = w
		}
	}
	return w * s.fontSize
}

// known replaces characters that the fonts or the PDF library cannot show.
func (f *fonts) known(text string, _ *style) string {
	// Up to U+024F, the end of Latin Extended-B, nothing else is replaced, so most texts pass unchanged.
	strange := func(r rune) bool { return r > 0x24f || r < ' ' || r == softHyphen }
	if strings.IndexFunc(text, strange) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(invisible, r), unicode.Is(unicode.Mn, r):
			return -1
		case r < ' ' || r == 0x2028 || r == 0x2029: // control characters, line and paragraph separators
			return ' '
		case r == 0x2010 || r == 0x2011: // hyphen, non-breaking hyphen
			return '-'
		case r > 0xffff || r == unicode.ReplacementChar: // the PDF library knows 16 bits of a character
			return '□'
		}
		return r
	}, text)
}

const softHyphen = 0xad

// invisible are characters that say how the text around them is set and show nothing themselves.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: softHyphen, Hi: softHyphen, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, // zero-width characters, marks of direction
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark
	},
	LatinOffset: 1,
}
