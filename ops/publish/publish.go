// Package publish holds operations that show a document in other places: live proxies, and the publication of
// versions in sections. What a proxy is, and who may read or change through it, is storage's; which renditions there
// are is the rendition operation's.
//
// A section is a folder that shows documents to readers who do not see where they are written. Publishing
// makes a version and a proxy that shows it in the section; publishing again with override has the proxy show the new version.
package publish

import (
	"catena/engine"
	"catena/storage"
)

// Ops are the operations on proxies.
var Ops = []engine.Op{
	createLiveProxy,
	getSourceDocument,
	publishDoc,
	publishToSection,
	publishToSections,
	removeProxies,
	unpublishAll,
}

// publish puts a version of d into a section and tells about both. Storage checks Read on the document
// and AddChildren on the section (storage.Tx.Publish). The event is fired for both, as the platform
// does.
func publish(c *engine.Ctx, d *storage.Doc, target storage.Ref, override bool) (*storage.Doc, error) {
	section, err := engine.Named(c.Tx.DocFrom(d, target))
	if err != nil {
		return nil, err
	}
	p, err := c.Tx.Publish(d, section, override)
	if err != nil {
		return nil, err
	}
	all := c.Tx.As(c.Tx.Repo().System()) // who publishes need not be able to read the section
	for _, doc := range []*storage.Doc{d, p} {
		if err := all.Fire(storage.Event{Name: "documentPublished", Doc: doc}); err != nil {
			return nil, err
		}
	}
	return p, nil
}
