package context

import (
	"errors"
	"image"
	_ "image/gif"  // forms of pictures
	_ "image/jpeg" // that are
	_ "image/png"  // understood
	"io"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/pdfconf"
)

// Bounds of what is read for the sake of metadata.
const (
	maxPicture = 16 << 20 // bytes in front of a picture's dimensions
	maxPixels  = 100_000_000
	maxPDF     = pdfconf.Decoded // bytes of a PDF
)

// metadataOf tells what is known of a file, each name with its group in front.
func metadataOf(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	out := map[string]any{
		"file:name": b.Name, "file:mime-type": b.Type, "file:length": b.Size, "file:digest": b.Digest,
	}
	var err error
	switch {
	case strings.HasPrefix(b.Type, "image/"):
		err = readPicture(b, out)
	case b.Type == "application/pdf":
		err = readPDF(c, b, out)
	}
	return out, err
}

// readPicture reads the head of a picture; a form that is not understood adds nothing.
func readPicture(b *storage.Blob, out map[string]any) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	conf, form, err := image.DecodeConfig(io.LimitReader(r, maxPicture))
	switch {
	case errors.Is(err, image.ErrFormat):
		return nil
	case err != nil:
		return fault.Invalid.Errorf("file %q: a picture that cannot be read: %w", b.Name, err).In("input")
	case conf.Width <= 0 || conf.Height <= 0 || conf.Width > maxPixels/conf.Height:
		return fault.Limit.Errorf("file %q: a picture of %d × %d pixels, at most %d allowed", b.Name, conf.Width, conf.Height, maxPixels).
			WithCode(fault.CodePictureSize)
	}
	out["image:width"], out["image:height"], out["image:format"] = int64(conf.Width), int64(conf.Height), form
	return nil
}

// reading is held while a PDF is read: what a hostile file takes in memory, it takes once.
var reading = make(chan struct{}, 1)

func readPDF(c *engine.Ctx, b *storage.Blob, out map[string]any) error {
	if b.Size > maxPDF {
		return fault.Limit.Errorf("file %q: a PDF of %d bytes, at most %d allowed", b.Name, b.Size, maxPDF).WithCode(fault.CodePDFSize)
	}
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	case <-c.Done():
		return c.Err()
	}
	info, err := pdfInfo(b)
	if err != nil {
		return fault.Invalid.Errorf("file %q: a PDF that cannot be read: %w", b.Name, err).In("input")
	}
	out["pdf:version"], out["pdf:pages"] = info.Version, int64(info.PageCount)
	for name, text := range map[string]string{
		"title": info.Title, "author": info.Author, "subject": info.Subject, "keywords": strings.Join(info.Keywords, ", "),
		"creator": info.Creator, "producer": info.Producer,
	} {
		if text != "" {
			out["pdf:"+name] = text
		}
	}
	for name, text := range map[string]string{"created": info.CreationDate, "modified": info.ModificationDate} {
		if t, ok := types.DateTime(text, true); ok {
			out["pdf:"+name] = t.UTC()
		}
	}
	return nil
}

// pdfInfo decodes no page and reads nothing outside the file.
func pdfInfo(b *storage.Blob) (*pdfcpu.PDFInfo, error) {
	return openPDF(b, func(r io.ReadSeeker, conf *model.Configuration) (*pdfcpu.PDFInfo, error) {
		return api.PDFInfo(r, "", nil, false, conf)
	})
}

// openPDF has the library read a PDF, within bounds. It gives up on some damaged files by a panic.
func openPDF[T any](b *storage.Blob, read func(io.ReadSeeker, *model.Configuration) (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Invalid.Errorf("%v", p)
		}
	}()
	r, err := b.Open()
	if err != nil {
		return out, err
	}
	defer r.Close()
	return read(r, pdfconf.New())
}
