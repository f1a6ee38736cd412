package blob

import (
	"io"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Bounds of what is joined at once.
const (
	maxPDFs     = 500
	maxPDFBytes = 64 << 20
)

var concatenatePDFs = engine.Op{
	Name:     "Blob.ConcatenatePDFs",
	Label:    "Concatenate PDFs",
	Category: "Conversion",
	Doc:      "Joins PDF files, in their order, into one. A single file with nothing to append comes back as it is.",
	Effect:   engine.Reads,
	Run:      engine.Overload(engine.On(concatenateParams.blobs), engine.On(concatenateParams.blob)),
}

type concatenateParams struct {
	Filename string `json:"filename" doc:"Name of the new file."`
	Variable string `json:"blob_to_append,omitzero" doc:"Name of a context variable with a PDF that goes first."`
}

func (p concatenateParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if p.Variable == "" {
		if err := checkPDF(b); err != nil {
			return nil, err
		}
		return b, nil
	}
	return p.blobs(c, storage.Blobs{b})
}

func (p concatenateParams) blobs(c *engine.Ctx, files storage.Blobs) (*storage.Blob, error) {
	if p.Variable != "" {
		first, ok := c.Vars[p.Variable].(*storage.Blob)
		if !ok || first == nil {
			return nil, fault.Invalid.Errorf("variable %s: holds no file", p.Variable).In("blob_to_append")
		}
		files = append(storage.Blobs{first}, files...)
	}
	if len(files) == 0 {
		return nil, fault.Invalid.Errorf("input: no PDF to join")
	}
	if err := checkPDFs(files); err != nil {
		return nil, err
	}
	var joined *storage.Blob
	err := c.Tx.Repo().PDF().Join(c, files, func(r io.Reader) (err error) {
		joined, err = c.Tx.NewBlob(p.Filename, "application/pdf", r)
		return err
	})
	if err != nil {
		return nil, fault.Wrap(err, "input: PDF files that cannot be joined").In("input")
	}
	return joined, nil
}

func checkPDFs(files storage.Blobs) error {
	var size int64
	for _, b := range files {
		if err := checkPDF(b); err != nil {
			return err
		}
		size += b.Size
	}
	if len(files) > maxPDFs || size > maxPDFBytes {
		return fault.Limit.Errorf("input: %d PDF files of %d bytes, at most %d of %d allowed", len(files), size, maxPDFs, maxPDFBytes).WithCode(fault.CodePDFSize)
	}
	return nil
}

func checkPDF(b *storage.Blob) error {
	if b == nil || b.Type != "application/pdf" {
		return fault.Invalid.Errorf("input: PDF files expected").In("input")
	}
	return nil
}
