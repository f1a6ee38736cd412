package convert

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	_ "image/gif" // decoders
	"image/jpeg"
	"image/png"
	"io"
	"strconv"
	"strings"
	"sync"

	_ "golang.org/x/image/bmp" // a decoder
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // a decoder
	_ "golang.org/x/image/webp" // a decoder

	"catena/storage/fault"
)

// maxPicture bounds the bytes of a picture that is decoded.
const maxPicture = 100 << 20

// decode decodes the picture, once its measures are known to be fit for that.
func (s *source) decode() (image.Image, error) {
	if s.blob.Size > maxPicture {
		return nil, fault.Limit.Errorf("picture: %d bytes, at most %d are allowed", s.blob.Size, maxPicture)
	}
	r, err := s.blob.Open()
	if err != nil {
		return nil, err
	}
	// Decoders report a failure to read as a malformed picture. Without the note, a store that is
	// unreachable would be answered with "invalid" and the caller would not try again.
	defer r.Close()
	in := &noting{ReadSeeker: r, ctx: s.ctx}
	img, err := decodeFrom(in)
	if in.err != nil { // decoders turn it into one of their own
		return nil, in.err
	}
	if err != nil {
		return s.beyond(err)
	}
	return img, nil
}

// noting remembers why its content cannot be read. It cannot once its context has ended: decoders read as they go, and
// have no other way to learn of it.
type noting struct {
	io.ReadSeeker

	ctx context.Context //nolint:containedctx // of the one conversion
	err error
}

// Read reads on.
func (n *noting) Read(p []byte) (int, error) {
	if err := n.ctx.Err(); err != nil {
		n.err = err
		return 0, err
	}
	m, err := n.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return m, err
}

func decodeFrom(r io.ReadSeeker) (image.Image, error) {
	// A file of a few kilobytes can claim 60000 × 60000 pixels. The head is read first, then the
	// file from its beginning, so a decompression bomb is refused before memory is allocated for
	// it.
	if err := affordable(r); err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	img, _, err := image.Decode(r)
	if err != nil {
		return nil, fault.Invalid.Errorf("picture: %w", err)
	}
	return img, nil
}

// affordable refuses a picture that is decoded to more than maxBytes, by what its head says.
func affordable(r io.ReadSeeker) error {
	conf, format, err := image.DecodeConfig(r)
	if err != nil {
		return fault.Invalid.Errorf("picture: %w", err)
	}
	each := bytesOf(conf.ColorModel)
	if format == "jpeg" {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if progressive(r) {
			each = 15 // three for colours, and four for each of them until the last scan
		}
	}
	// Divided rather than multiplied: width × height × bytes overflows for the sizes a head can
	// claim.
	if conf.Width <= 0 || conf.Height <= 0 || conf.Width > maxBytes/each/conf.Height {
		return fault.Limit.Errorf("picture: %d × %d pixels of %d bytes each, at most %d bytes are allowed", conf.Width, conf.Height, each, maxBytes).WithCode(fault.CodePixels)
	}
	return nil
}

// bytesOf is the number of bytes that a pixel takes.
// The 4 is generous for grey and palette pictures, which take one byte; what is made of them (RGBA)
// takes four.
func bytesOf(m color.Model) int {
	switch m {
	case color.RGBA64Model, color.NRGBA64Model, color.CMYKModel:
		return 8
	}
	return 4
}

// progressive reports whether a JPEG comes in scans that are all kept until the last one. It goes by the marks that the
// decoder goes by.
// Marks are 0xFF and a byte: D8 begins the file, D9 ends it, DA begins a scan, C2 a progressive
// frame, and D0 to D7 stand alone. All others are taken to be followed by a length of two bytes,
// which counts itself.
func progressive(r io.Reader) bool {
	b := bufio.NewReader(r)
	_, _ = b.Discard(2) // the mark that it is one
	for {
		mark, err := b.ReadByte()
		for err == nil && mark != 0xFF {
			mark, err = b.ReadByte()
		}
		for err == nil && mark == 0xFF {
			mark, err = b.ReadByte()
		}
		switch {
		case err != nil || mark == 0xD9 || mark == 0xDA:
			return false
		case mark == 0xC2:
			return true
		case mark == 0 || mark >= 0xD0 && mark <= 0xD7:
			continue // has no length
		}
		var length [2]byte
		if _, err := io.ReadFull(b, length[:]); err != nil {
			return false
		}
		if _, err := b.Discard(int(binary.BigEndian.Uint16(length[:])) - 2); err != nil {
			return false
		}
	}
}

// resize makes a picture that fits a width and a height, and never a larger one than it was.
func resize(s *source) ([]byte, string, error) {
	width, err := side(s.params["width"])
	if err != nil {
		return nil, "", err
	}
	height, err := side(s.params["height"])
	if err != nil {
		return nil, "", err
	}
	img, err := s.decode()
	if err != nil {
		return nil, "", err
	}
	if img, err = fit(s.ctx, img, width, height); err != nil {
		return nil, "", err
	}
	typ := s.params["type"]
	if typ == "" {
		typ = s.blob.Type
	}
	encode := func(w io.Writer) error { return jpeg.Encode(w, flat(img), &jpeg.Options{Quality: 85}) }
	if typ != "image/jpeg" {
		typ = "image/png"
		encode = func(w io.Writer) error {
			return (&png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &pngBuffers}).Encode(w, img)
		}
	}
	out, err := encoded(s.ctx, encode)
	return out, typ, err
}

// pngPool keeps the buffers of encoders of PNG, which need about a megabyte for a picture of any size.
type pngPool struct{ sync.Pool }

var pngBuffers pngPool

// Get returns buffers, nil for new ones.
func (p *pngPool) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}

// Put gives buffers back.
func (p *pngPool) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }

// encoded returns what encode writes, unless ctx ends meanwhile.
func encoded(ctx context.Context, encode func(io.Writer) error) (data []byte, err error) {
	out := &until{ctx: ctx}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case ended:
			data, err = nil, p.error
		default:
			panic(p)
		}
	}()
	if err := encode(out); err != nil {
		return nil, fault.Invalid.Errorf("picture: %w", err)
	}
	return out.Bytes(), nil
}

// until is a buffer that is written until its context ends. It panics then: an encoder of JPEG that is given an error goes on
// to the last pixel all the same.
type until struct {
	bytes.Buffer

	ctx context.Context //nolint:containedctx // of the one conversion
}

// ended is what until panics with.
type ended struct{ error }

// Write writes on.
func (u *until) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		panic(ended{err})
	}
	return u.Buffer.Write(p)
}

// side reads a width or height; without one the picture may be as large as it is.
func side(text string) (int, error) {
	if text = strings.TrimSpace(text); text == "" {
		return maxSide, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxSide {
		return 0, fault.Invalid.Errorf("picture: side of %q pixels: must be a number between 1 and %d", text, maxSide)
	}
	return n, nil
}

// fit makes a picture smaller until it fits, its sides in proportion. What is much smaller is
// made in two steps: a quick one to twice the size, and a good one.
// The products fit into an int: a side has at most 50 million pixels, and one that is asked for at
// most maxSide. The quick step is there because the cost of CatmullRom grows with the pixels of its
// source.
func fit(ctx context.Context, img image.Image, width, height int) (image.Image, error) {
	size := img.Bounds().Size()
	w, h := size.X, size.Y
	if w > width {
		w, h = width, max(1, size.Y*width/size.X)
	}
	if h > height {
		w, h = max(1, size.X*height/size.Y), height
	}
	if w == size.X && h == size.Y {
		return img, nil
	}
	if size.X > 3*w && size.Y > 3*h {
		half := image.NewRGBA(image.Rect(0, 0, 2*w, 2*h))
		err := inBands(ctx, 2*h, func(from, to int) {
			draw.ApproxBiLinear.Scale(half.SubImage(image.Rect(0, from, 2*w, to)).(*image.RGBA), half.Bounds(), img, img.Bounds(), draw.Src, nil)
		})
		if err != nil {
			return nil, err
		}
		img = half
	}
	return scaled(ctx, img, w, h)
}

// band is how many rows or columns of a picture are worked on before the end of the call is looked for.
const band = 64

// inBands calls fn with one band of n rows or columns after the other until ctx ends.
func inBands(ctx context.Context, n int, fn func(from, to int)) error {
	for from := 0; from < n; from += band {
		if err := ctx.Err(); err != nil {
			return err
		}
		fn(from, min(from+band, n))
	}
	return nil
}

// scaled makes a picture of other sides by the kernel of Catmull and Rom: first its rows, then its columns. While only one
// side changes, the kernel leaves the other as it is, so the bands of a picture are independent of each other. All at once
// would take 32 bytes for each pixel between the two steps, which of a large picture is more than a gigabyte.
func scaled(ctx context.Context, img image.Image, w, h int) (image.Image, error) {
	b := img.Bounds()
	rows := image.NewRGBA(image.Rect(0, 0, w, b.Dy()))
	scaler := draw.CatmullRom.NewScaler(w, band, b.Dx(), band)
	err := inBands(ctx, b.Dy(), func(from, to int) {
		scaler.Scale(rows, image.Rect(0, from, w, to), img, image.Rect(b.Min.X, b.Min.Y+from, b.Max.X, b.Min.Y+to), draw.Src, nil)
	})
	if err != nil {
		return nil, err
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	scaler = draw.CatmullRom.NewScaler(band, h, band, b.Dy())
	err = inBands(ctx, w, func(from, to int) {
		scaler.Scale(out, image.Rect(from, 0, to, h), rows, image.Rect(from, 0, to, b.Dy()), draw.Src, nil)
	})
	return out, err
}

func onWhite(img image.Image) image.Image {
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Over)
	return out
}
