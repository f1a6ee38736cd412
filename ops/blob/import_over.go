package blob

import (
	"catena/engine"
	"catena/storage"
)

func replace(c *engine.Ctx, d *storage.Doc, props storage.Props) (*storage.Doc, error) {
	for xpath, value := range props {
		if err := d.Set(xpath, value); err != nil {
			return nil, err
		}
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
