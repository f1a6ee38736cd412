// Package pdf holds operations on PDF files: extracting parts and content, joining files, stamping pages, and
// protection by passwords. The work is that of engine/pdf; an operation says which files, and how they are called.
//
// All operations return new files and leave the one given as it is; a chain attaches the result where it is
// wanted. Work on a PDF file can take long or fail in the library, so it happens in a process of its own
// (engine/worker).
package pdf

import (
	"io"

	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

// Ops are the operations on PDF files.
var Ops = []engine.Op{
	addPageNumbers,
	convertToPictures,
	encrypt,
	encryptReadOnly,
	extractInfo,
	extractLinks,
	extractPages,
	extractText,
	mergeWithBlobs,
	mergeWithDocs,
	removeEncryption,
	watermarkWithImage,
	watermarkWithPDF,
	watermarkWithText,
}

// fileOf returns the PDF file of a document, which must have one there. What decides is the declared
// type and not the content: a file that lies about its type is found out by the worker.
func fileOf(d *storage.Doc, xpath string) (*storage.Blob, error) {
	b, err := d.Blob(xpath)
	if err == nil && pdf.Check(b) != nil {
		err = fault.Invalid.Errorf("property %s: does not hold a PDF file", xpath).In("xpath")
	}
	return b, err
}

// check returns an error for an input that is no PDF file.
func check(b *storage.Blob) error {
	if err := pdf.Check(b); err != nil {
		return fault.Wrap(err, "input").In("input")
	}
	return nil
}

// newFile returns the file that make makes. Its errors name the file they are about. The content
// goes from the tool straight into the store. If the transaction fails later, it is swept as
// content that nobody refers to.
func newFile(c *engine.Ctx, name string, make func(*pdf.Tool, pdf.Take) error) (*storage.Blob, error) {
	var made *storage.Blob
	err := make(c.PDF(), func(r io.Reader) (err error) {
		made, err = c.Tx.NewBlob(name, pdf.Type, r)
		return err
	})
	return made, err
}

// about are the texts that a new file says about itself.
type about struct {
	Author  string `json:"pdfAuthor,omitzero" doc:"Author of the new file."`
	Subject string `json:"pdfSubject,omitzero" doc:"Subject of the new file."`
	Title   string `json:"pdfTitle,omitzero" doc:"Title of the new file."`
}

func (a about) texts() map[string]string {
	out := map[string]string{}
	for name, text := range map[string]string{"Author": a.Author, "Subject": a.Subject, "Title": a.Title} {
		if text != "" {
			out[name] = text
		}
	}
	return out
}
