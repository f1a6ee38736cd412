package context

import (
	"bytes"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// writePDF returns a PDF with texts about it, by name, in place of its own; empty ones go. All
// that was there stays: the new texts are an update behind it, so earlier signatures hold.
func writePDF(c *engine.Ctx, b *storage.Blob, texts map[string]string) (*storage.Blob, error) {
	if b.Size > maxPDF {
		return nil, fault.Limit.Errorf("file %q: a PDF of %d bytes, at most %d allowed", b.Name, b.Size, maxPDF).WithCode(fault.CodePDFSize)
	}
	select {
	case reading <- struct{}{}:
		defer func() { <-reading }()
	case <-c.Done():
		return nil, c.Err()
	}
	update, err := pdfUpdate(b, texts)
	if err != nil {
		return nil, fault.Invalid.Errorf("file %q: a PDF that cannot be changed: %w", b.Name, err).In("input")
	}
	r, err := b.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return c.Tx.NewBlob(b.Name, b.Type, io.MultiReader(r, bytes.NewReader(update)))
}

// pdfUpdate returns what is to stand behind a PDF.
func pdfUpdate(b *storage.Blob, texts map[string]string) ([]byte, error) {
	return openPDF(b, func(r io.ReadSeeker, conf *model.Configuration) ([]byte, error) {
		pdf, err := api.ReadContext(r, conf)
		if err != nil {
			return nil, err
		}
		if pdf.Encrypt != nil {
			return nil, fault.Invalid.Errorf("it is encrypted")
		}
		table, err := lastTable(r, b.Size)
		if err != nil {
			return nil, err
		}
		info, err := infoWith(pdf, texts)
		if err != nil {
			return nil, err
		}
		return updateOf(pdf, b.Size, table, info), nil
	})
}
