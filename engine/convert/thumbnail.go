package convert

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"path"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"catena/engine/program"
	"catena/storage/blob"
	"catena/storage/fault"
)

// Thumbnailer is the name of the converter that makes a small picture of whatever can be drawn.
const Thumbnailer = "toThumbnail"

// thumbnails are its ways.
func thumbnails() []Way {
	all := append(resizing(), stills()...)
	return append(all, Way{From: documents, By: program.LibreOffice, run: firstPage}, Way{From: texts, run: drawText})
}

// Quick reports whether a thumbnail of a type is made within milliseconds: as the first lines of a text are, but not what a
// program makes, or a picture that has to be decoded.
func Quick(typ string) bool {
	w := Way{From: texts}
	return w.takes(typ) && !(Way{From: documents}).takes(typ)
}

// firstPage is a picture of the first page of an office document.
func firstPage(s *source) ([]byte, string, error) {
	if err := s.tools.Programs.Missing(program.PDFToPPM); err != nil {
		return nil, "", err
	}
	data, err := s.export(exportOf(s.blob, PDF))
	if err != nil {
		return nil, "", err
	}
	return pagePicture(s.with(PDF, data))
}

// faces are the fonts of what is drawn here.
var faces = sync.OnceValue(func() (f struct{ text, label font.Face }) {
	face := func(ttf []byte, size float64) font.Face {
		parsed, err := opentype.Parse(ttf)
		if err != nil {
			panic(err) // it is part of the program
		}
		face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			panic(err)
		}
		return face
	}
	f.text, f.label = face(goregular.TTF, 9), face(gobold.TTF, 20)
	return f
})

// drawing of text is in turns: a face keeps what it has drawn.
var writing sync.Mutex

// write writes a line of text from a point of its base line on.
func write(dst draw.Image, face font.Face, c color.Color, at image.Point, text string) {
	writing.Lock()
	defer writing.Unlock()
	d := font.Drawer{Dst: dst, Src: image.NewUniform(c), Face: face, Dot: fixed.P(at.X, at.Y)}
	d.DrawString(text)
}

// Measures of a picture of text in pixels: a sheet of paper of the proportions of A4.
const (
	sheetWidth, sheetHeight = 248, 350
	sheetMargin             = 16
	sheetLine               = 12
	sheetLetters            = 80 // more than fit into a line
	sheetBorder             = 4  // which is seen on a white page also where the picture is shown a tenth as large
)

var (
	ink  = color.RGBA{0x32, 0x3C, 0x46, 0xFF}
	edge = color.RGBA{0x96, 0xA0, 0xAF, 0xFF}
)

// drawText draws the first lines of a text.
func drawText(s *source) ([]byte, string, error) {
	text, _, err := toText(s)
	if err != nil {
		return nil, "", err
	}
	img := image.NewRGBA(image.Rect(0, 0, sheetWidth, sheetHeight))
	draw.Draw(img, img.Bounds(), image.NewUniform(edge), image.Point{}, draw.Src)
	draw.Draw(img, img.Bounds().Inset(sheetBorder), image.White, image.Point{}, draw.Src)
	inner := img.SubImage(img.Bounds().Inset(sheetMargin - 2)).(*image.RGBA)
	y := sheetMargin + sheetLine
	for line := range strings.Lines(string(text)) {
		letters := []rune(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
		write(inner, faces().text, ink, image.Pt(sheetMargin, y), string(letters[:min(len(letters), sheetLetters)]))
		if y += sheetLine; y > sheetHeight-sheetMargin {
			break
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, "", fault.Invalid.Errorf("picture: %w", err)
	}
	return out.Bytes(), "image/png", nil
}

// bands are the colours of what stands for a file, by the beginning of its type.
var bands = []struct {
	types []string
	c     color.RGBA
}{
	{pdfs, color.RGBA{0xB4, 0x32, 0x2D, 0xFF}},
	{videos, color.RGBA{0x6E, 0x46, 0xA0, 0xFF}},
	{sounds, color.RGBA{0x1E, 0x82, 0x78, 0xFF}},
	{[]string{"image/*"}, color.RGBA{0x32, 0x82, 0x3C, 0xFF}},
	{documents, color.RGBA{0x28, 0x5A, 0xA5, 0xFF}},
	{[]string{"*"}, color.RGBA{0x5A, 0x64, 0x6E, 0xFF}},
}

// Sign draws what stands for a document without a picture: a folder, or a sheet of paper with the extension of its file, if it
// has one. It is drawn, not stored, so that the program carries no pictures.
func Sign(folder bool, of *blob.Blob) (*blob.Blob, error) {
	img := image.NewRGBA(image.Rect(0, 0, 128, 128))
	fill := func(x0, y0, x1, y1 int, c color.Color) {
		draw.Draw(img, image.Rect(x0, y0, x1, y1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	name := "file.png"
	if folder {
		name = "folder.png"
		fill(14, 30, 58, 46, color.RGBA{0xC8, 0x96, 0x28, 0xFF})
		fill(14, 40, 114, 106, color.RGBA{0xE6, 0xB4, 0x46, 0xFF})
	} else {
		fill(26, 10, 102, 118, edge)
		fill(32, 16, 96, 112, color.White)
		for y := 28; y < 100; y += 16 {
			fill(42, y, 86, y+7, edge)
		}
		label(img, of)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, err
	}
	return blob.FromBytes(name, "image/png", out.Bytes()), nil
}

// label puts the extension of a file on a sheet.
func label(img *image.RGBA, of *blob.Blob) {
	if of == nil {
		return
	}
	text := strings.ToLower(path.Ext(of.Name))
	if !simple.MatchString(text) {
		text = extensions[of.Type]
	}
	if text = strings.ToUpper(strings.TrimPrefix(text, ".")); text == "" {
		return
	}
	for _, b := range bands {
		if (Way{From: b.types}).takes(of.Type) {
			draw.Draw(img, image.Rect(20, 62, 108, 90), image.NewUniform(b.c), image.Point{}, draw.Src)
			break
		}
	}
	width := font.MeasureString(faces().label, text).Round()
	write(img, faces().label, color.White, image.Pt(64-width/2, 83), text)
}
