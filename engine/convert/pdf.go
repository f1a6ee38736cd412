package convert

import (
	"bytes"
	"image"
	"image/jpeg"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/goregular"

	"catena/storage/fault"
)

// Measures of a page, in millimetres, and of text, in points.
const (
	margin   = 20.0
	indented = 8.0
	textSize = 11.0
	codeSize = 9.5
	toPoints = 72 / 25.4
)

// headings are the sizes of headings, by level.
var headings = [...]float64{0: textSize, 1: 22, 2: 17, 3: 14, 4: 12, 5: 11, 6: 11}

// toPDF prints a text or a picture.
func toPDF(s *source) ([]byte, string, error) {
	f := fpdf.New("P", "mm", "A4", "")
	// The library stamps the file with the time it is made, so two conversions of one source differ
	// in a few bytes; a result must not be recognized by its digest.
	f.SetCreator("catena", true)
	f.SetTitle(plane(s.blob.Name), true)
	f.SetMargins(margin, margin, margin)
	f.SetAutoPageBreak(true, margin)
	f.AddPage()
	var err error
	if strings.HasPrefix(s.blob.Type, "image/") && s.blob.Type != "image/svg+xml" {
		err = printPicture(f, s)
	} else {
		err = printText(f, s)
	}
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	if err := f.Output(&out); err != nil {
		return nil, "", fault.Invalid.Errorf("pdf: %w", err)
	}
	return out.Bytes(), "application/pdf", nil
}

// printPicture puts a picture on a page, as large as fits.
func printPicture(f *fpdf.Fpdf, s *source) error {
	img, err := s.decode()
	if err != nil {
		return err
	}
	// 2400 pixels on the 257 mm that the margins of A4 leave are about 240 an inch, which is enough
	// for print.
	if img, err = fit(s.ctx, img, 2400, 2400); err != nil {
		return err
	}
	data, err := encoded(s.ctx, func(w io.Writer) error { return jpeg.Encode(w, flat(img), &jpeg.Options{Quality: 90}) })
	if err != nil {
		return err
	}
	size := img.Bounds().Size()
	pageWidth, pageHeight := f.GetPageSize()
	width, height := pageWidth-2*margin, pageHeight-2*margin
	scale := math.Min(width/float64(size.X), height/float64(size.Y))
	scale = math.Min(scale, 25.4/96) // no larger than on a screen
	o := fpdf.ImageOptions{ImageType: "JPG"}
	f.RegisterImageOptionsReader("picture", o, bytes.NewReader(data))
	f.ImageOptions("picture", margin, margin, scale*float64(size.X), scale*float64(size.Y), false, o, 0, "")
	return f.Error()
}

// printText prints the paragraphs of a text.
func printText(f *fpdf.Fpdf, s *source) error {
	page, err := s.page()
	if err != nil {
		return err
	}
	blocks, err := blocksOf(s.ctx, page)
	if err != nil {
		return err
	}
	// One paragraph can fill many pages, so the end of the call and the bound on pages are looked
	// at here and not only between paragraphs. SetError is the way out: fpdf then ignores all that
	// follows.
	f.SetAcceptPageBreakFunc(func() bool {
		if err := s.ctx.Err(); err != nil {
			f.SetError(err)
		}
		if f.PageNo() >= maxPages {
			f.SetError(fault.Limit.Errorf("pdf: more than %d pages", maxPages))
		}
		return true
	})
	for i := range blocks {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		printBlock(f, &blocks[i])
		if err := f.Error(); err != nil {
			return err
		}
	}
	return nil
}

// fonts are the Go fonts, which are part of the program: the standard fonts of PDF have Latin-1 only, and those of the machine
// would make results differ between servers. There is no italic of "code", so printRun leaves that style out.
var fonts = map[string]map[string][]byte{
	"text": {"": goregular.TTF, "B": gobold.TTF, "I": goitalic.TTF, "BI": gobolditalic.TTF},
	"code": {"": gomono.TTF, "B": gomonobold.TTF},
}

// setFont prints what follows in a font, which is embedded the first time: the library takes longer to read and write a font than
// to print a page, and writes also those that are not used.
func setFont(f *fpdf.Fpdf, family, style string, size float64) {
	if f.GetFontDesc(family, style) == (fpdf.FontDescType{}) {
		f.AddUTF8FontFromBytes(family, style, bytes.Clone(fonts[family][style])) // fpdf writes to it
	}
	f.SetFont(family, style, size)
}

func printBlock(f *fpdf.Fpdf, b *block) {
	// Ten levels of 8 mm leave 90 mm of the 210 of A4 for text. Deeper lists stay at that place,
	// lest the column become narrower than a word.
	left := margin + indented*float64(min(b.indent, 10))
	size := headings[b.heading]
	if b.heading > 0 {
		f.Ln(3)
	}
	f.SetLeftMargin(left)
	f.SetX(left)
	if b.rule {
		y := f.GetY() + 2
		width, _ := f.GetPageSize()
		f.Line(left, y, width-margin, y)
		f.Ln(4)
	}
	if b.mark != "" {
		setFont(f, "text", "", size)
		f.SetX(left - f.GetStringWidth(b.mark) - 1)
		f.Write(lineOf(size), b.mark)
		f.SetX(left)
	}
	for _, r := range b.runs {
		printRun(f, r, size)
	}
	f.SetLeftMargin(margin)
	f.Ln(lineOf(size))
	if b.mark == "" {
		f.Ln(2)
	}
}

// printRun prints text of one style, line by line.
func printRun(f *fpdf.Fpdf, r run, size float64) {
	family, style := "text", ""
	if r.code {
		family, size = "code", math.Min(size, codeSize)
	}
	if r.bold {
		style = "B"
	}
	if r.italic && !r.code {
		style += "I"
	}
	setFont(f, family, style, size)
	first := true
	for line := range strings.SplitSeq(plane(r.text), "\n") {
		if !first {
			f.Ln(lineOf(size))
		}
		first = false
		for line != "" && !f.Err() {
			var piece string
			piece, line = cutPiece(line)
			f.Write(lineOf(size), piece)
		}
		if f.Err() {
			return
		}
	}
}

// maxPiece is how many bytes are written at once: the library takes time in proportion to the square of the length.
const maxPiece = 2000

// cutPiece cuts a piece off a line, behind a space if there is one.
func cutPiece(line string) (piece, rest string) {
	if len(line) <= maxPiece {
		return line, ""
	}
	n := strings.LastIndexByte(line[:maxPiece], ' ') + 1
	if n == 0 {
		for n = maxPiece; !utf8.RuneStart(line[n]); n-- {
		}
	}
	return line[:n], line[n:]
}

// lineOf is the height of a line in millimetres for a size in points.
func lineOf(size float64) float64 { return size * 1.35 / toPoints }

// plane replaces what the library's fonts cannot hold: characters beyond the first plane, and
// those that steer devices.
func plane(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r > 0xFFFF:
			return '\uFFFD'
		case r < ' ' && r != '\n':
			return -1
		}
		return r
	}, text)
}

// flat puts a picture on white, for formats that know no transparency.
func flat(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	return onWhite(img)
}
