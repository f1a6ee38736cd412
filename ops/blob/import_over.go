package blob

import (
	"catena/engine"
	"catena/storage"
)

// replace gives an existing document the properties of an import: its new file, title and what the caller
// adds. Everything else, its permissions and its versions among them, stays.
func replace(c *engine.Ctx, d *storage.Doc, props storage.Props) (*storage.Doc, error) {
	// Save checks that the caller may write the document: the right to create in the folder is not
	// enough.
	for xpath, value := range props {
		if err := d.Set(xpath, value); err != nil {
			return nil, err
		}
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
