package blob

import (
	"catena/engine"
	"catena/storage"
)

// existing returns a document of the type in the folder with that title or file name.
func existing(c *engine.Ctx, folder *storage.Doc, typeName, name string) (*storage.Doc, error) {
	for child, err := range c.Tx.EachChild(folder) {
		if err != nil {
			return nil, err
		}
		if child.Type().Name != typeName || child.IsTrashed() || child.IsProxy() || child.IsVersion() {
			continue
		}
		if child.Title() == name {
			return child, nil
		}
		if b, err := child.MainBlob(); err == nil && b != nil && b.Name == name {
			return child, nil
		}
	}
	return nil, nil
}

func replace(c *engine.Ctx, d *storage.Doc, props storage.Props) (*storage.Doc, error) {
	for xpath, value := range props {
		if err := d.Set(xpath, value); err != nil {
			return nil, err
		}
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
