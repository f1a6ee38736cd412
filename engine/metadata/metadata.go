// Package metadata reads what files say about themselves, and writes some of it: EXIF, IPTC and XMP of pictures, duration,
// measures and codecs of audio and video, and the properties of PDF and office files. Files are written by strangers, so the
// number and the size of what is read is bounded. Which properties of documents take which values is for others to know.
package metadata

import (
	"context"
	"errors"
	"image"
	_ "image/gif"  // forms of pictures
	_ "image/jpeg" // that are
	_ "image/png"  // understood
	"io"
	"maps"
	"strings"
	"time"

	_ "golang.org/x/image/bmp"  // and
	_ "golang.org/x/image/tiff" // these
	_ "golang.org/x/image/webp" // as well

	"catena/engine/pdf"
	"catena/engine/program"
	"catena/storage/blob"
	"catena/storage/fault"
)

// Bounds of what is read for the sake of metadata.
const (
	maxPicture = 16 << 20 // bytes in front of a picture's dimensions
	maxPixels  = 100_000_000
)

// Tools are what reading and writing needs of a server.
type Tools struct {
	PDF      *pdf.Tool         // nil: PDF files are read in this process
	Programs *program.Programs // nil: there are none
	NewBlob  func(name, typ string, r io.Reader) (*blob.Blob, error)
	// Outside calls a function for what identifies its result while no transaction is open, once for all attempts at it;
	// nil: it is called at once.
	Outside func(what any, find func(context.Context) (any, error)) (any, error)
}

// reading identifies what is known of a file.
type reading struct{ digest, name, typ string }

// Read tells what is known of a file, each name with its group in front.
func Read(ctx context.Context, t Tools, b *blob.Blob) (map[string]any, error) {
	if t.Outside == nil {
		return t.read(ctx, b)
	}
	known, err := t.Outside(reading{b.Digest, b.Name, b.Type}, func(ctx context.Context) (any, error) { return t.read(ctx, b) })
	all, _ := known.(map[string]any)
	return maps.Clone(all), err
}

func (t Tools) read(ctx context.Context, b *blob.Blob) (map[string]any, error) {
	out := map[string]any{
		"file:name": b.Name, "file:mime-type": b.Type, "file:length": b.Size, "file:digest": b.Digest,
	}
	var err error
	switch {
	// The stored type decides, which was found from name and content when the file arrived; files
	// are not examined again.
	case strings.HasPrefix(b.Type, "image/"):
		err = readImage(b, out)
	case b.Type == "application/pdf":
		err = t.readPDF(ctx, b, out)
	case strings.HasPrefix(b.Type, "audio/") || strings.HasPrefix(b.Type, "video/"):
		var m *Media
		if m, err = t.MediaOf(ctx, b); m != nil {
			m.tell(out)
		}
	case partsOf(b.Type) != nil:
		err = readOffice(b, out)
	}
	return out, err
}

// readImage reads what is in front of a picture, which is opened once: what is read is verified.
func readImage(b *blob.Blob, out map[string]any) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := readPicture(b, r, out); err != nil {
		return err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	switch b.Type {
	case "image/vnd.adobe.photoshop", "image/x-psd":
		return readPSD(b, r, out)
	case "image/jp2":
		return readJP2(b, r, out)
	case "image/webp":
		return readWebP(b, r, out)
	}
	if err := readTags(b, r, out); err != nil || b.Type != "image/png" {
		return err
	}
	return readPNGXMP(b, r, out)
}

// readPicture reads the head of a picture; a form that is not understood adds nothing.
func readPicture(b *blob.Blob, r io.Reader, out map[string]any) error {
	// Only the head is read. Dimensions may stand behind large embedded previews and profiles,
	// hence the generous bound.
	conf, form, err := image.DecodeConfig(io.LimitReader(r, maxPicture))
	switch {
	case errors.Is(err, image.ErrFormat):
		return nil
	case err != nil:
		return fault.Invalid.Errorf("file %q: the picture cannot be read: %w", b.Name, err).In("input")
	}
	return measure(b, conf.Width, conf.Height, form, out)
}

// measure adds the measures of a picture and the name of its form.
func measure(b *blob.Blob, width, height int, form string, out map[string]any) error {
	// A division, since the product of two forged dimensions could overflow.
	if width <= 0 || height <= 0 || width > maxPixels/height {
		return fault.Limit.Errorf("file %q: the picture has %d × %d pixels, at most %d are allowed", b.Name, width, height, maxPixels).
			WithCode(fault.CodePictureSize)
	}
	out["image:width"], out["image:height"], out["image:format"] = int64(width), int64(height), form
	return nil
}

func (t Tools) pdf() *pdf.Tool {
	if t.PDF == nil {
		return pdf.New(nil, "", pdf.Limits{})
	}
	return t.PDF
}

func (t Tools) readPDF(ctx context.Context, b *blob.Blob, out map[string]any) error {
	info, err := t.pdf().About(ctx, b)
	if err != nil {
		return fault.Wrap(err, "input").In("input")
	}
	out["pdf:version"], out["pdf:pages"] = info.Version, int64(info.Pages)
	for name, text := range map[string]string{
		"title": info.Title, "author": info.Author, "subject": info.Subject, "keywords": info.Keywords,
		"creator": info.Creator, "producer": info.Producer,
	} {
		// A PDF without a title has no pdf:title, rather than an empty one.
		if text != "" {
			out["pdf:"+name] = text
		}
	}
	for name, at := range map[string]time.Time{"created": info.Created, "modified": info.Modified} {
		if !at.IsZero() {
			out["pdf:"+name] = at
		}
	}
	return nil
}
