package blob

import (
	"io"

	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var concatenatePDFs = engine.Op{
	Name:     "Blob.ConcatenatePDFs",
	Label:    "Concatenate PDFs",
	Category: "Conversion",
	Doc:      "Joins PDF files, in order, into one. A single file with nothing to append is returned unchanged.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(concatenateParams.blobs), engine.On(concatenateParams.blob)),
}

type concatenateParams struct {
	Filename string `json:"filename" doc:"Name of the new file."`
	Variable string `json:"blob_to_append,omitzero" doc:"Name of a context variable that holds a PDF to put first."`
}

func (p concatenateParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	// Nothing is joined, so the file keeps its bytes; but what is no PDF must fail here as it would below.
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
			return nil, fault.Invalid.Errorf("variable %s: does not hold a file", p.Variable).In("blob_to_append")
		}
		// A new list, because the input's may belong to a variable of the chain. Despite the
		// parameter's name the file comes first: the platform has it so.
		files = append(storage.Blobs{first}, files...)
	}
	if len(files) == 0 {
		return nil, fault.Invalid.Errorf("input: contains no PDF file to join")
	}
	for _, b := range files {
		if err := checkPDF(b); err != nil {
			return nil, err
		}
	}
	var joined *storage.Blob
	err := c.PDF().Join(c, files, nil, func(r io.Reader) (err error) {
		joined, err = c.Tx.NewBlob(p.Filename, pdf.Type, r)
		return err
	})
	if err != nil {
		return nil, fault.Wrap(err, "input: the PDF files cannot be joined").In("input")
	}
	return joined, nil
}

func checkPDF(b *storage.Blob) error {
	if err := pdf.Check(b); err != nil {
		return fault.Wrap(err, "input").In("input")
	}
	return nil
}
