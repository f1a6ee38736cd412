// Package conversion holds operations that convert files, at once or in the background, resize pictures, and render a
// document in another form. How content is converted is for engine/convert to know; an operation chooses what and
// keeps the result.
//
// Views of pictures are kept with their document; conversions of a file that a caller sends are made and returned at once, or scheduled and fetched later, as
// the client asks for.
package conversion

import (
	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
)

// Ops are the operations of conversions.
var Ops = []engine.Op{
	blobToPDF,
	computeThumbnail,
	computeViews,
	containerContentBlob,
	convertAny,
	convertBlob,
	getRendition,
	imageToPDF,
	mainFile,
	pictureCreate,
	pictureResize,
	pictureView,
	preview,
	recomputeThumbnails,
	recomputeViews,
	rendition,
	resizeBlob,
	result,
	runConverter,
	schedule,
	status,
	suggestRendition,
	toPDF,
	treeExportRendition,
	xmlExportRendition,
}

// wanted says what is to be made of a file, in one of three ways.
type wanted struct {
	Converter string `json:"converter,omitzero" doc:"Name of a converter."`
	Format    string `json:"format,omitzero" doc:"Short name of the type of the result: pdf, html."`
	Type      string `json:"type,omitzero" doc:"Type of the result: application/pdf."`
}

// find returns the converter wanted for a file. The three ways are tried in this order: a converter's
// name wins over a type, and a type over a format. Clients of the platform look for the words "is not
// registered" and "is not available" in the messages.
func (w wanted) find(b *storage.Blob) (*convert.Converter, error) {
	if w.Converter != "" {
		c, err := convert.Named(w.Converter)
		if err == nil && !c.Takes(b.Type) {
			err = fault.Invalid.Errorf("Converter %s is not available for type %q", c.Name, b.Type).WithCode(fault.CodeConverterUnsupported)
		}
		return c, err
	}
	typ := w.Type
	if typ == "" {
		typ = convert.TypeOf(w.Format)
	}
	if typ == "" {
		return nil, fault.Invalid.Errorf("conversion: converter, type or format is required").WithCode(fault.CodeConverterUnknown)
	}
	if c := convert.Find(b.Type, typ); c != nil {
		return c, nil
	}
	return nil, fault.Invalid.Errorf("conversion: Converter from %q to %q is not available", b.Type, typ).WithCode(fault.CodeConverterUnsupported)
}

// tools are what conversions in a call use.
func tools(c *engine.Ctx) convert.Tools {
	return convert.Tools{PDF: c.PDF(), Programs: c.Programs(), Blobs: c.Tx.Repo().Blobs()}
}

// mainBlob returns the main file of a document, which must have one. The kind is NotFound, so that
// renditions can take a document without a file for one without the rendition.
func mainBlob(d *storage.Doc) (*storage.Blob, error) {
	b, err := d.MainBlob()
	if err == nil && b == nil {
		err = fault.NotFound.Errorf("document %s: has no file", d.ID())
	}
	return b, err
}
