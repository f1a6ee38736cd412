package publish

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// renditionRoot holds, out of sight and for administrators alone, the files whose versions stand for renditions
// that are published: in a folder for each document one for each rendition.
const renditionRoot = "renditions"

// publishRendition puts what a document looks like in another form into a section, as a file of its own that
// names the document as its source and the rendition as its format.
func publishRendition(c *engine.Ctx, d *storage.Doc, target storage.Ref, name string, override bool) (*storage.Doc, error) {
	section, err := engine.Named(c.Tx.DocFrom(d, target))
	if err != nil {
		return nil, err
	}
	// The proxy is created as the system, since it shows a file that only the system may read; so
	// the right on the section has to be checked here, and before the rendition is made.
	if !c.Tx.Can(section, "AddChildren") {
		return nil, fault.Denied.Errorf("Privilege 'AddChildren' is not granted to '%s'", c.As.Name)
	}
	v, err := c.Call("Resource.Rendition", d, map[string]any{"name": name})
	if err != nil {
		return nil, err
	}
	src := d
	if d.IsVersionable() {
		if src, err = d.Published(c.Tx); err != nil {
			return nil, err
		}
	}
	file, err := keepRendition(c, src, name, v)
	if err != nil {
		return nil, err
	}
	all := c.Tx.As(c.Tx.Repo().System())
	p, err := all.Publish(file, section, override)
	if err != nil {
		return nil, err
	}
	for _, doc := range []*storage.Doc{d, p} {
		if err := all.Fire(storage.Event{Name: "documentPublished", Doc: doc}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// keepRendition writes the file that stands for a rendition. Publishing the same rendition again changes
// the same file, so that its versions form one series and override finds the proxy that is there.
func keepRendition(c *engine.Ctx, d *storage.Doc, name string, content any) (*storage.Doc, error) {
	all := c.Tx.As(c.Tx.Repo().System())
	of := sourceID(d)
	file, err := renditionFile(all, d, of, name)
	if err != nil {
		return nil, err
	}
	modified, err := d.Get("dc:modified")
	if err != nil {
		return nil, err
	}
	props := storage.Props{
		"dc:title": d.Title(), "dc:source": of, "dc:format": name, "file:content": content,
		"rend:renditionName": name, "rend:sourceId": d.ID(), "rend:sourceModificationDate": modified,
	}
	if d.IsVersionable() {
		props["rend:sourceVersionableId"] = of
	}
	for xpath, v := range props {
		if err := file.Set(xpath, v); err != nil {
			return nil, err
		}
	}
	if file, err = all.Save(file, storage.SaveOptions{}); err != nil || !d.IsVersion() {
		return file, err
	}
	// Lists of publications show which version of the document each is of.
	return file, file.CheckInAs(all, d)
}

// renditionFile returns the file of a rendition, made now if there is none.
func renditionFile(all *storage.Tx, d *storage.Doc, of, name string) (*storage.Doc, error) {
	at, err := all.Root()
	for i, folder := range []string{renditionRoot, of, name} {
		if err != nil {
			return nil, err
		}
		parent := at
		if at, err = all.Child(parent, folder); fault.Is(err, fault.NotFound) {
			if at, err = all.Create(parent, "HiddenFolder", folder, nil); err == nil && i == 0 {
				// It denies everything to everyone; administrators and the system are not subject
				// to it.
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
	if err == nil && !file.HasFacet("Rendition") {
		err = file.AddFacet("Rendition")
	}
	return file, err
}

// sourceID is the id of the document itself, also of its versions and what shows them.
func sourceID(d *storage.Doc) string {
	if d.IsVersion() || d.IsProxy() {
		return d.VersionableID()
	}
	return d.ID()
}

// unpublishRenditions removes the published renditions of a document that the caller may see, and the files
// behind them once nothing shows those. Children has one page: there are no more folders below one than
// there are renditions.
func unpublishRenditions(c *engine.Ctx, d *storage.Doc) error {
	all := c.Tx.As(c.Tx.Repo().System())
	folder, err := all.Doc(storage.Ref("/" + renditionRoot + "/" + sourceID(d)))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	page, err := all.Children(folder, storage.PageOptions{CountLimit: -1})
	left := false
	for i := 0; i < len(page.Docs) && err == nil; i++ {
		var some bool
		some, err = unpublishFiles(c, all, page.Docs[i])
		left = left || some
	}
	if err != nil || left {
		return err
	}
	return all.Delete(folder)
}

// unpublishFiles removes what shows the files of a folder, where the caller may see it; left describes others.
func unpublishFiles(c *engine.Ctx, all *storage.Tx, folder *storage.Doc) (left bool, err error) {
	page, err := all.Children(folder, storage.PageOptions{CountLimit: -1})
	if err != nil {
		return false, err
	}
	for _, file := range page.Docs {
		proxies, err := all.Proxies(file, nil)
		if err != nil {
			return false, err
		}
		for _, hidden := range proxies {
			p, err := c.Tx.Doc(hidden.Ref())
			switch {
			case fault.Is(err, fault.NotFound): // for the caller
				left = true
				continue
			case err == nil:
				err = c.Tx.Delete(p)
			}
			if err != nil {
				return false, err
			}
		}
	}
	return left, nil
}
