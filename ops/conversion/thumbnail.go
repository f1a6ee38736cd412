package conversion

import (
	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
)

// thumbnailSide is the longest side of a thumbnail in pixels.
const thumbnailSide = 350

// thumbnail returns a small picture: of the file if it is one, else a sign for the document.
func thumbnail(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := d.MainBlob()
	if err != nil {
		return nil, err
	}
	if by, err := convert.Named("pictureResize"); err == nil && b != nil && by.Takes(b.Type) {
		small, err := resized(c, b, thumbnailSide, thumbnailSide)
		if err == nil || !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
			return small, err
		}
	}
	return convert.Sign(d.IsFolder())
}
