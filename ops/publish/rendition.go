package publish

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// renditionRoot holds, out of sight and for administrators alone, the files whose versions stand for renditions
// that are published: one for each document and rendition.
const renditionRoot = "renditions"

// publishRendition puts what a document looks like in another form into a section, as a file of its own that
// names the document as its source and the rendition as its format.
func publishRendition(c *engine.Ctx, d *storage.Doc, target storage.Ref, name string, override bool) (*storage.Doc, error) {
	section, err := engine.Named(c.Tx.DocFrom(d, target))
	if err != nil {
		return nil, err
	}
	if !c.Tx.Can(section, "AddChildren") {
		return nil, fault.Denied.Errorf("Privilege 'AddChildren' is not granted to '%s'", c.As.Name)
	}
	v, err := c.Call("Resource.Rendition", d, map[string]any{"name": name})
	if err != nil {
		return nil, err
	}
	file, err := keepRendition(c, d, name, v)
	if err != nil {
		return nil, err
	}
	all := c.Tx.As(c.Tx.Repo().System())
	p, err := all.Publish(file, section, override)
	if err != nil {
		return nil, err
	}
	for _, doc := range []*storage.Doc{d, p} {
		if err := all.Fire("documentPublished", doc, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// keepRendition writes the file that stands for a rendition.
func keepRendition(c *engine.Ctx, d *storage.Doc, name string, content any) (*storage.Doc, error) {
	all := c.Tx.As(c.Tx.Repo().System())
	of := d.ID()
	if d.IsVersion() || d.IsProxy() {
		of = d.VersionableID()
	}
	at, err := all.Root()
	for i, folder := range []string{renditionRoot, of + "-" + name} {
		if err != nil {
			return nil, err
		}
		parent := at
		if at, err = all.Child(parent, folder); fault.Is(err, fault.NotFound) {
			if at, err = all.Create(parent, "HiddenFolder", folder, nil); err == nil && i == 0 {
				at, err = all.SetACL(at, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}})
			}
		}
	}
	if err != nil {
		return nil, err
	}
	file, err := all.Child(at, d.Name())
	if fault.Is(err, fault.NotFound) {
		file, err = all.Create(at, "File", d.Name(), storage.Props{"dc:title": d.Title()})
	}
	if err != nil {
		return nil, err
	}
	for xpath, v := range map[string]any{"dc:title": d.Title(), "dc:source": of, "dc:format": name, "file:content": content} {
		if err := file.Set(xpath, v); err != nil {
			return nil, err
		}
	}
	return all.Save(file, storage.SaveOptions{})
}
