package pdf

import (
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// TestRepeatedRanges checks that ranges which describe the same codes again and again end with the steps of the file: they
// never fill the tables, whose size alone would not stop them.
func TestRepeatedRanges(t *testing.T) {
	const steps, times = 200_000, 1_000
	p := &pdf{ctx: &model.Context{XRefTable: &model.XRefTable{}}, steps: steps}
	var w types.Array
	for range times {
		w = append(w, types.Integer(0), types.Integer(maxPDFCodes/2), types.Integer(500))
	}
	f := &pdfFont{texts: map[int]string{}, widths: map[int]float64{}}
	p.composite(f, types.Dict{"DescendantFonts": types.Array{types.Dict{"W": w}}})
	if p.steps != 0 || f.widths[maxPDFCodes/2] != 500 {
		t.Errorf("widths: %d steps left, %d codes", p.steps, len(f.widths))
	}

	p.steps = steps
	p.toUnicode(f, []byte("beginbfrange "+strings.Repeat("<0000> <8000> <0041> ", times)+" endbfrange"))
	if p.steps > 0 || f.texts[0] != "A" || f.texts[0x8000] != string(rune(0x8041)) {
		t.Errorf("texts: %d steps left, %d codes, first %q", p.steps, len(f.texts), f.texts[0])
	}
}

// TestCharacterMaps reads maps from codes to text as files bring them.
func TestCharacterMaps(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         map[int]string
	}{
		{"single codes", "2 beginbfchar <01> <0041> <02> <00660069> endbfchar", map[int]string{1: "A", 2: "fi"}},
		{"a range counts up, with carry", "1 beginbfrange <00> <02> <00FF> endbfrange", map[int]string{0: "ÿ", 1: "Ā", 2: "ā"}},
		{"a range of texts", "1 beginbfrange <10> <13> [<0058> <0059>] endbfrange", map[int]string{0x10: "X", 0x11: "Y"}},
		{"pairs of surrogates", "1 beginbfchar <01> <D83DDE00> endbfchar", map[int]string{1: "😀"}},
		{"a range that ends before it begins", "1 beginbfrange <05> <04> <0041> endbfrange", map[int]string{}},
		{"an odd operand", "1 beginbfchar <01> endbfchar", map[int]string{}},
		{"an empty text", "1 beginbfrange <01> <02> <> endbfrange", map[int]string{}},
	} {
		p := &pdf{steps: 1000}
		f := &pdfFont{texts: map[int]string{}}
		p.toUnicode(f, []byte(tt.source))
		if len(f.texts) != len(tt.want) {
			t.Errorf("%s: %v", tt.name, f.texts)
		}
		for code, want := range tt.want {
			if f.texts[code] != want {
				t.Errorf("%s: code %d is %q, want %q", tt.name, code, f.texts[code], want)
			}
		}
	}
}

// TestGlyphNames reads the names that fonts have for characters.
func TestGlyphNames(t *testing.T) {
	for name, want := range map[string]string{
		"A": "A", "z": "z", "Adieresis": "Ä", "eacute": "é", "a.sc": "a", "uni20AC": "€", "u1F600": "😀", "afii10017": "А", "afii10072": "ж",
	} {
		if got, ok := glyphText(name); !ok || got != want {
			t.Errorf("%s is %q, %v; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"", ".notdef", "g123", "uni20", "uniXYZW", "afii99999", "u1234567"} {
		if got, ok := glyphText(name); ok {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestWidths states the widths of codes: of a list, of a range, and of all others.
func TestWidths(t *testing.T) {
	p := &pdf{ctx: &model.Context{XRefTable: &model.XRefTable{}}, steps: 1000}
	f := p.readFont(types.Dict{"Subtype": types.Name("Type0"), "Encoding": types.Name("UniGB-UCS2-H"), "DescendantFonts": types.Array{types.Dict{
		"DW": types.Integer(700),
		"W":  types.Array{types.Integer(1), types.Array{types.Integer(100), types.Float(250.5)}, types.Integer(10), types.Integer(12), types.Integer(300)},
	}}})
	for code, want := range map[int]float64{1: 100, 2: 250.5, 10: 300, 12: 300, 13: 700} {
		f.each(string([]byte{byte(code >> 8), byte(code)}), func(got int, _ string, width float64) {
			if got != code || width != want {
				t.Errorf("code %d is read as %d, %v wide; want %v", code, got, width, want)
			}
		})
	}
	var text strings.Builder
	f.each("\x4e\x2d\x65", func(_ int, s string, _ float64) { text.WriteString(s) }) // an odd byte at the end is a code of its own
	if got := text.String(); !strings.HasPrefix(got, "中") {
		t.Errorf("codes that are UTF-16 read as %q", got)
	}
}
