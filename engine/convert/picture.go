package convert

import (
	"bufio"
	"bytes"
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
	in := &noting{ReadSeeker: r}
	img, err := decodeFrom(in)
	if in.err != nil { // decoders turn it into one of their own
		return nil, in.err
	}
	if err != nil {
		return s.beyond(err)
	}
	return img, nil
}

// noting remembers why its content cannot be read.
type noting struct {
	io.ReadSeeker

	err error
}

// Read reads on.
func (n *noting) Read(p []byte) (int, error) {
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
	img = fit(img, width, height)
	typ := s.params["type"]
	if typ == "" {
		typ = s.blob.Type
	}
	var out bytes.Buffer
	if typ == "image/jpeg" {
		err = jpeg.Encode(&out, flat(img), &jpeg.Options{Quality: 85})
	} else {
		typ = "image/png"
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img)
	}
	if err != nil {
		return nil, "", fault.Invalid.Errorf("picture: %w", err)
	}
	return out.Bytes(), typ, nil
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
func fit(img image.Image, width, height int) image.Image {
	size := img.Bounds().Size()
	w, h := size.X, size.Y
	if w > width {
		w, h = width, max(1, size.Y*width/size.X)
	}
	if h > height {
		w, h = max(1, size.X*height/size.Y), height
	}
	if w == size.X && h == size.Y {
		return img
	}
	if size.X > 3*w && size.Y > 3*h {
		half := image.NewRGBA(image.Rect(0, 0, 2*w, 2*h))
		draw.ApproxBiLinear.Scale(half, half.Bounds(), img, img.Bounds(), draw.Src, nil)
		img = half
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

func onWhite(img image.Image) image.Image {
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Over)
	return out
}
