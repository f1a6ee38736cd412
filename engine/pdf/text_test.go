package pdf

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/goregular"

	"catena/storage/blob"
	"catena/storage/fault"
)

// printed makes a PDF file of a text, with a font that has codes of one byte, or of two.
func printed(t testing.TB, s string, composite bool) []byte {
	t.Helper()
	f := fpdf.New("P", "mm", "A4", "")
	f.AddPage()
	if composite {
		f.AddUTF8FontFromBytes("go", "", goregular.TTF)
		f.SetFont("go", "", 12)
	} else {
		f.SetFont("Helvetica", "", 12)
		s = f.UnicodeTranslatorFromDescriptor("")(s)
	}
	f.MultiCell(60, 6, s, "", "J", false)
	f.AddPage()
	f.Text(20, 20, "second page")
	var out bytes.Buffer
	if err := f.Output(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func textOf(ctx context.Context, file []byte) (string, error) {
	return New(nil, "", Limits{}).Text(ctx, blob.FromBytes("a.pdf", "application/pdf", file), "")
}

func TestPDF(t *testing.T) {
	const s = "Grüße aus Ærøskøbing: the quick brown fox jumps over the lazy dog, naïve as ever"
	for _, composite := range []bool{false, true} {
		file := printed(t, s, composite)
		got, err := textOf(t.Context(), file)
		if err != nil || strings.Join(strings.Fields(got), " ") != s+" second page" {
			t.Errorf("%v: %q, %v", composite, got, err)
		}
	}
	for _, broken := range []string{"", "%PDF-1.4", "%PDF-1.4\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"} {
		if got, err := textOf(t.Context(), []byte(broken)); err == nil || got != "" {
			t.Errorf("%q: %q", broken, got)
		}
	}
	if _, err := textOf(t.Context(), make([]byte, maxPDF+1)); fault.Of(err) != fault.Limit {
		t.Error("a file of any size")
	}
}

// content draws content with a font of 256 codes.
func content(s string) string {
	p := &pdf{fonts: map[int]*pdfFont{}, steps: 10_000, left: 1 << 20}
	f := &pdfFont{texts: map[int]string{}, widths: map[int]float64{}, usual: 500}
	for c := range 256 {
		f.texts[c] = string(rune(c))
	}
	d := drawer{p: p, scale: 1, font: f, size: 10}
	d.run([]byte(s))
	return whole(p.out.String())
}

func TestPDFContent(t *testing.T) {
	for in, want := range map[string]string{
		`BT 1 0 0 1 0 0 Tm (one) Tj ET`:                           "one ",
		`BT (on) Tj [(e) -20 (t) -400 (wo)] TJ ET`:                "onet wo ",
		`BT 14 TL (a) Tj T* (b) Tj (c) ' ET`:                      "a\nb\nc ",
		`BT (con-) Tj 0 -12 Td (flict) Tj ET`:                     "conflict ",
		`BT (a) Tj 5 0 Td (b) Tj 30 0 Td (c) Tj ET`:               "ab c ",
		`BT (a\(b\)\\\101\n) Tj <6364> Tj ET % (no)`:              "a(b)\\A\ncd ",
		"BI /W 1 ID \x00(EI)\xff EI BT (x) Tj ET":                 "x ",
		`BT 14 TL (a) Tj 1 2 (x) " ET`:                            "a\nx ",
		`[[[[[[[[[[[[[(x)]]]]]]] TJ << /a (b) >> ] } ) BT (y) Tj`: "y",
	} {
		if got := content(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestGlyphText(t *testing.T) {
	for name, want := range map[string]string{
		"A": "A", "eacute": "é", "ffi": "ffi", "uni00E9": "é", "u1F600": "😀", "germandbls": "ß", "Scaron.alt": "Š", "afii10023": "Ё", "afii10097": "я",
		"g12": "", "": "", "afii1": "", "uniXYZ1": "", "afii": "",
	} {
		if got, ok := glyphText(name); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v", name, got, ok)
		}
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(printed(f, "Grüße and more", false))
	f.Add(printed(f, "Grüße and more", true))
	f.Add([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]>>endobj\ntrailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, _ := textOf(t.Context(), file)
		if len(got) > maxText {
			t.Errorf("%d bytes of text", len(got))
		}
	})
}

func FuzzPDFContent(f *testing.F) {
	f.Add("BT /F 1 Tf (a) Tj [(b) -300 <63>] TJ T* ET BI ID x EI")
	f.Add("1 beginbfrange <00> <ff> <0041> endbfrange 1 beginbfchar <01> <0042> endbfchar")
	f.Fuzz(func(t *testing.T, s string) {
		if got := content(s); len(got) > 8*len(s)+8 {
			t.Errorf("%d bytes of %d", len(got), len(s))
		}
		p := &pdf{steps: 10_000}
		p.toUnicode(&pdfFont{texts: map[int]string{}, lengths: []int{2}}, []byte(s))
	})
}
