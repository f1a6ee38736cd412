package conversion

import (
	"context"
	"strconv"

	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
)

// thumbnailSide is the longest side of a thumbnail in pixels.
const thumbnailSide = 350

// Where a document keeps its thumbnail, and the facet that has the field.
const (
	thumbnailField = "thumb:thumbnail"
	thumbnailFacet = "Thumbnail"
)

// thumbnail returns a small picture: the one that the document keeps, one of its file, else a sign for the document.
// A kept picture counts only if it was made of the present file (thumbnailName). A picture and a text are else drawn for each
// answer; what a program draws is only made in the background (Watch) or by Document.ComputeThumbnail, since a page of a
// list asks for many.
func thumbnail(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	if d.HasFacet(thumbnailFacet) {
		v, err := d.Get(thumbnailField)
		if err != nil {
			return nil, err
		}
		b, err := d.MainBlob()
		if kept, _ := v.(*storage.Blob); err != nil || kept != nil && b != nil && kept.Name == thumbnailName(b) {
			return kept, err
		}
	}
	b, err := d.MainBlob()
	if err != nil {
		return nil, err
	}
	if isPicture(b) || b != nil && convert.Quick(b.Type) {
		small, err := smallPicture(c, convert.Tools{}, b)
		if small != nil || err != nil {
			return small, err
		}
	}
	return convert.Sign(d.IsFolder(), b)
}

// thumbnailName is the name of the kept thumbnail of a file, which says what file it was made of.
func thumbnailName(of *storage.Blob) string { return "thumbnail-" + of.Digest + ".png" }

// smallPicture makes a picture of a file; nil if nothing can make one.
func smallPicture(ctx context.Context, t convert.Tools, b *storage.Blob) (*storage.Blob, error) {
	by, err := convert.Named(convert.Thumbnailer)
	if err != nil || b == nil || by.Missing(t, b.Type) != nil {
		return nil, err
	}
	side := strconv.Itoa(thumbnailSide)
	small, err := by.Convert(ctx, t, b, map[string]string{"type": "image/png", "width": side, "height": side})
	// A damaged or huge picture must not break the list that shows it: it gets the sign. Other
	// kinds, such as the end of the call, are errors.
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
		return nil, nil
	}
	return small, err
}

var computeThumbnail = engine.Op{
	Name:     "Document.ComputeThumbnail",
	Label:    "Compute Thumbnail",
	Category: "Services",
	Doc: "Makes a small picture of the document's file, stores it in thumb:thumbnail and returns the document. " +
		"A document whose file no picture can be made of is left unchanged.",
	Callers: engine.Anyone,
	Run:     engine.Each(computeThumbnailParams.run),
}

type computeThumbnailParams struct{}

func (computeThumbnailParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	b, err := d.MainBlob()
	if err != nil {
		return nil, err
	}
	small, err := smallPicture(c, tools(c), b)
	if err != nil || small == nil {
		return d, err
	}
	if err := setThumbnail(d, b, small); err != nil {
		return nil, err
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

// setThumbnail has a document keep a small picture of its file.
func setThumbnail(d *storage.Doc, of, small *storage.Blob) error {
	if !d.HasFacet(thumbnailFacet) {
		if err := d.AddFacet(thumbnailFacet); err != nil {
			return err
		}
	}
	return d.Set(thumbnailField, small.With(thumbnailName(of), small.Type))
}
