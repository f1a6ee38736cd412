package conversion

import (
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
// A kept picture counts only if it was made of the present file (thumbnailName); after the file was
// replaced it is made again for each answer, until Document.ComputeThumbnail stores another one.
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
	small, err := smallPicture(c, d)
	if small != nil || err != nil {
		return small, err
	}
	return convert.Sign(d.IsFolder())
}

// thumbnailName is the name of the kept thumbnail of a file, which says what file it was made of.
func thumbnailName(of *storage.Blob) string { return "thumbnail-" + of.Digest + ".png" }

// smallPicture makes a picture of the document's file; nil if nothing can make one.
func smallPicture(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := d.MainBlob()
	if err != nil || b == nil {
		return nil, err
	}
	by, err := convert.Named(thumbnailer)
	if err != nil || by.Missing(tools(c), b.Type) != nil {
		return nil, err
	}
	small, err := resized(c, b, thumbnailSide, thumbnailSide)
	// A damaged or huge picture must not break the list that shows it: it gets the sign. Other
	// kinds, such as the end of the call, are errors.
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
		return nil, nil
	}
	return small, err
}

// thumbnailer is the converter that makes the pictures of files.
const thumbnailer = resizer

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
	small, err := smallPicture(c, d)
	if err != nil || small == nil {
		return d, err
	}
	if !d.HasFacet(thumbnailFacet) {
		if err := d.AddFacet(thumbnailFacet); err != nil {
			return nil, err
		}
	}
	b, err := d.MainBlob()
	if err != nil {
		return nil, err
	}
	if err := d.Set(thumbnailField, small.With(thumbnailName(b), small.Type)); err != nil {
		return nil, err
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
