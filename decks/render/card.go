package render

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/net/html"

	"catena/decks/theme"
	"catena/storage/fault"
)

// Card draws what stands for a slide where nothing can draw the slide itself: its first words and the deck's
// title in the deck's colours. Text that would not be legible on the background is drawn in black or white.
func Card(ctx context.Context, d *Deck, number int) (*Still, error) {
	_, slides, err := parse(ctx, d)
	if err != nil {
		return nil, err
	}
	if number < 1 || number > max(len(slides), 1) {
		return nil, fault.NotFound.Errorf("slide %d: does not exist, the deck has %d", number, len(slides))
	}
	look := theme.ColorOf(d.ThemeColor)
	back, _ := colorOf(look.Background)
	text, _ := colorOf(look.Heading)
	words, below := d.Title, fmt.Sprintf("%d of %d", number, len(slides))
	if len(slides) > 0 {
		s := slides[number-1].section
		for _, name := range [...]string{"data-background-color", "data-background"} {
			if c, ok := colorOf(attr(s, name)); ok && c.visible() {
				back = c.over(back)
			}
		}
		if first := firstWords(s); first != "" {
			words, below = first, d.Title
		}
	}
	if back.dark() == text.dark() {
		text = rgba{a: 1}
		if back.dark() {
			text = rgba{255, 255, 255, 1}
		}
	}
	c := &card{img: image.NewRGBA(image.Rect(0, 0, stillWidth, cardHeight(d)))}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(back.color()), image.Point{}, draw.Src)
	if err := c.write(words, below, text.color()); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, c.img); err != nil {
		return nil, err
	}
	return &Still{b.Bytes(), "image/png"}, nil
}

// cardHeight is the height in the proportions of the deck, between a quarter and twice the width, so that an
// extreme size of a slide does not make a picture of gigabytes.
func cardHeight(d *Deck) int {
	h := stillWidth * 3 / 4
	if d.Width > 0 && d.Height > 0 {
		h = stillWidth * d.Height / d.Width
	}
	return min(max(h, stillWidth/4), stillWidth*2)
}

func (c rgba) color() color.Color { return color.NRGBA{c.r, c.g, c.b, 255} }

// firstWords is the first heading of a slide, or else how its text begins.
func firstWords(section *html.Node) string {
	for n := range section.Descendants() {
		if n.Type == html.ElementNode && len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
			if text := spaced(n); text != "" {
				return text
			}
		}
	}
	return spaced(section)
}

// spaced is the text of an element without its speaker notes, words apart.
func spaced(n *html.Node) string {
	var b strings.Builder
	for t := range n.Descendants() {
		// 500 bytes fill the lines of a card several times over.
		if t.Type == html.TextNode && t.Parent.Data != "style" && t.Parent.Data != "script" && !noted(t) && b.Len() < 500 {
			b.WriteString(t.Data)
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func noted(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Data == "aside" && hasClass(n, "notes") {
			return true
		}
	}
	return false
}

// card is a picture of text.
type card struct{ img *image.RGBA }

const (
	cardMargin = 60
	cardLines  = 4
)

// write sets words large in the middle and a line small below.
func (c *card) write(words, below string, ink color.Color) error {
	large, err := cardFace("sansB", 56)
	if err != nil {
		return err
	}
	small, err := cardFace("sans", 26)
	if err != nil {
		return err
	}
	room := fixed.I(stillWidth - 2*cardMargin)
	lines := wrapped(words, large, room, cardLines)
	const step = 68
	height := c.img.Bounds().Dy()
	y := (height-step*len(lines))/2 + 50
	for _, line := range lines {
		c.line(line, large, ink, y)
		y += step
	}
	if tail := wrapped(below, small, room, 1); len(tail) > 0 && y < height-20 {
		c.line(tail[0], small, ink, height-36)
	}
	return nil
}

func (c *card) line(text string, face font.Face, ink color.Color, y int) {
	x := (fixed.I(stillWidth) - font.MeasureString(face, text)) / 2
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(ink), Face: face, Dot: fixed.Point26_6{X: x, Y: fixed.I(y)}}
	d.DrawString(text)
}

func cardFace(name string, size float64) (font.Face, error) {
	f, err := opentype.Parse(faces[name])
	if err != nil {
		return nil, err
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72})
}

// wrapped breaks text into at most most lines that fit into room. What is left out, and a word that is wider
// than a line, ends in an ellipsis.
func wrapped(text string, face font.Face, room fixed.Int26_6, most int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		longer := strings.TrimSpace(line + " " + word)
		if font.MeasureString(face, longer) <= room {
			line = longer
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		// One line more than fits has begun, which tells that something is left out.
		if line = word; len(lines) == most {
			break
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	cut := len(lines) > most
	if cut {
		lines = lines[:most]
	}
	for i, l := range lines {
		r := []rune(l)
		for cutHere := cut && i == most-1; len(r) > 1 && (cutHere || font.MeasureString(face, string(r)) > room); cutHere = false {
			r = append(r[:len(r)-2], '…')
		}
		lines[i] = string(r)
	}
	return lines
}
