package context

import (
	"io"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// writePDF returns a PDF with texts about it, by name, in place of its own; empty ones go. All
// that was there stays: the new texts are an update behind it, so earlier signatures hold.
func writePDF(c *engine.Ctx, b *storage.Blob, texts map[string]string) (*storage.Blob, error) {
	var told *storage.Blob
	err := c.PDF().Update(c, b, texts, func(update io.Reader) error {
		r, err := b.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		told, err = c.Tx.NewBlob(b.Name, b.Type, io.MultiReader(r, update))
		return err
	})
	if err != nil {
		return nil, fault.Wrap(err, "file %q: the PDF cannot be changed", b.Name).In("input")
	}
	return told, nil
}
