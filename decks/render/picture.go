package render

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif" // decoders of what decks hold
	_ "image/jpeg"
	"image/png"
	"net/url"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	_ "golang.org/x/image/bmp" // more decoders
	_ "golang.org/x/image/webp"

	"catena/engine/convert"
	"catena/storage/blob"
)

// picture is a decoded image that the file has once.
type picture struct {
	name          string
	kind          string
	width, height int
}

// pictures loads the images of a deck.
type pictures struct {
	deck   *Deck
	pdf    *fpdf.Fpdf
	loaded map[string]*picture
	unseen map[string]bool // backgrounds of style sheets that cannot be shown
	failed map[string]bool // addresses of images that are there and cannot be drawn, such as SVG
}

const (
	// Some 160 MB when it is decoded, at four bytes a pixel. maxPicture is in bytes of the file.
	maxPixels  = 40_000_000
	maxPicture = 50 << 20
	maxSide    = "4000" // pixels of an image that has to be packed again
)

// load returns the image of an address; nil if there is none that can be shown. Nothing
// is fetched: the address holds the image or names a file that is kept here.
func (p *pictures) load(ctx context.Context, address string) *picture {
	address = strings.TrimSpace(address)
	if address == "" {
		return nil
	}
	if got, ok := p.loaded[address]; ok {
		return got
	}
	p.loaded[address] = nil
	data, typ := p.deck.resource(ctx, address)
	if len(data) == 0 {
		return nil
	}
	var pic *picture
	if len(data) <= maxPicture && !strings.Contains(typ, "svg") {
		pic = p.register(ctx, data)
	}
	if pic == nil {
		p.failed[address] = true
	}
	p.loaded[address] = pic
	return pic
}

// register puts an image into the file; nil if it cannot be. The PDF library gives up on some damaged ones by a panic.
func (p *pictures) register(ctx context.Context, data []byte) (pic *picture) {
	defer func() {
		if recover() != nil {
			pic = nil
		}
	}()
	// The head of the file says how large the image is, so one that is too large is never decoded. Dividing
	// instead of multiplying cannot overflow.
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return nil
	}
	kind := map[string]string{"jpeg": "JPG", "png": "PNG"}[format]
	if kind == "" || kind == "PNG" && !plainPNG(data) {
		if data = repack(ctx, data, format); data == nil {
			return nil
		}
		kind = "PNG"
	}
	pic = &picture{name: fmt.Sprintf("i%d", len(p.loaded)), kind: kind, width: config.Width, height: config.Height}
	p.pdf.RegisterImageOptionsReader(pic.name, fpdf.ImageOptions{ImageType: kind}, bytes.NewReader(data))
	if p.pdf.Err() {
		p.pdf.ClearError()
		return nil
	}
	return pic
}

// plainPNG reports whether a PNG is one that PDF can hold as it is: 8 bits or less a colour, not
// interlaced, nothing transparent. The PDF library unpacks others, however large they become.
// It looks at the header chunk, which is always first: byte 24 is the bit depth, 25 the kind of colour
// (from 4 with an alpha channel), 28 whether it is interlaced.
func plainPNG(data []byte) bool {
	return len(data) > 29 && data[24] <= 8 && data[25] < 4 && data[28] == 0
}

// repack decodes an image, makes it smaller if it is very large, and packs it as PNG.
func repack(ctx context.Context, data []byte, format string) []byte {
	toPNG, err := convert.Named("pictureToPNG")
	if err != nil {
		return nil
	}
	small, err := toPNG.Convert(ctx, convert.Tools{}, blob.FromBytes("", "image/"+format, data), map[string]string{"width": maxSide, "height": maxSide})
	if err != nil {
		return nil
	}
	r, err := small.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	img, err := png.Decode(r)
	if err != nil {
		return nil
	}
	flat := image.NewNRGBA(img.Bounds())
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			flat.Set(x, y, img.At(x, y))
		}
	}
	var b bytes.Buffer
	if (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, flat) != nil {
		return nil
	}
	return b.Bytes()
}

// resource returns what an address of the deck's stands for: its own data, or a file that
// is kept here.
func (d *Deck) resource(ctx context.Context, address string) (data []byte, typ string) {
	if rest, ok := strings.CutPrefix(address, "data:"); ok {
		head, body, found := strings.Cut(rest, ",")
		if !found {
			return nil, ""
		}
		head, coded := strings.CutSuffix(head, ";base64")
		if !coded {
			text, err := url.PathUnescape(body)
			if err != nil {
				return nil, ""
			}
			return []byte(text), head
		}
		if data, err := base64.StdEncoding.DecodeString(body); err == nil {
			return data, head
		}
		// Browsers also take white space, percent-encoding and missing padding.
		body = strings.Map(func(r rune) rune {
			if r <= ' ' {
				return -1
			}
			return r
		}, body)
		if unescaped, err := url.PathUnescape(body); err == nil {
			body = unescaped
		}
		data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(body, "="))
		if err != nil {
			return nil, ""
		}
		return data, head
	}
	if d.File == nil || !strings.Contains(address, "/") || strings.ContainsAny(address, "(#") { // a colour is no file
		return nil, ""
	}
	if d.asked == nil {
		d.asked = map[string]error{}
	}
	data, typ, err := d.File(ctx, address)
	if d.asked[address] = err; err != nil {
		return nil, ""
	}
	return data, typ
}
