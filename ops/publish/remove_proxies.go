package publish

import (
	"catena/engine"
	"catena/storage"
)

var removeProxies = engine.Op{
	Name:     "Document.RemoveProxies",
	Label:    "Remove Proxies",
	Category: "Document",
	Doc:      "Removes the proxies of the document that the caller may see, both live and published, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removeProxiesParams.run),
}

type removeProxiesParams struct {
	Save bool `json:"save" default:"true" values:"true" doc:"Also save the document, if it was changed."`
}

func (p removeProxiesParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if err := removeAll(c, d, func(*storage.Doc) bool { return true }); err != nil {
		return nil, err
	}
	if !p.Save || !d.Dirty() {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

// removeAll removes the proxies of a document that want chooses. Proxies gives those that the caller can
// see, and Delete checks that the caller may remove each: one that may not be removed fails the call.
func removeAll(c *engine.Ctx, d *storage.Doc, want func(p *storage.Doc) bool) error {
	proxies, err := c.Tx.Proxies(d, nil)
	if err != nil {
		return err
	}
	for _, proxy := range proxies {
		if !want(proxy) {
			continue
		}
		if err := c.Tx.Delete(proxy); err != nil {
			return err
		}
	}
	return nil
}
