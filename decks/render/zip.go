package render

import (
	"archive/zip"
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"catena/decks/theme"
)

// archiveTime is when all files of an archive were changed: the same deck makes the same
// archive.
var archiveTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// ZIP makes an archive of a deck: index.html shows it, without a network and from wherever
// it was unpacked to.
func ZIP(ctx context.Context, d *Deck) ([]byte, error) {
	p, err := d.page(ctx, nil)
	if err != nil {
		return nil, err
	}
	p.files["index.html"] = p.html
	p.files["README.txt"] = []byte(d.Title + "\n\nOpen index.html in a browser; it works offline. Press F for full screen, O for an overview of all slides, ? for help.\n")
	size := 0
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	// In order, since the same deck is to make the same bytes.
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if err := ctx.Err(); err != nil {
			return nil, timeout(ctx, err)
		}
		data := p.files[name]
		if size += len(data); size > maxFile {
			return nil, tooLarge("ZIP: more than %d bytes", maxFile)
		}
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: archiveTime}
		// Compressing such files again takes time and gains nothing.
		if packed(name) {
			h.Method = zip.Store
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := z.SetComment("catena, theme " + theme.Version()); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
