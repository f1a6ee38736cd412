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
		if len(text) < 100 {
			widths[text] = w
		}
	}
	return w * s.fontSize
}

// known replaces characters that the fonts or the PDF library cannot show.
func (f *fonts) known(text string, _ *style) string {
	clean := true
	for _, r := range text {
		if r > 0x24f || r < ' ' || r == 0xad {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0xad, r >= 0x200b && r <= 0x200f, r == 0xfeff, r >= 0xfe00 && r <= 0xfe0f, unicode.Is(unicode.Mn, r):
			return -1
		case r < ' ' || r == 0x2028 || r == 0x2029:
			return ' '
		case r == 0x2010 || r == 0x2011:
			return '-'
		case r > 0xffff || r == unicode.ReplacementChar:
			return '□'
		}
		return r
	}, text)
}
