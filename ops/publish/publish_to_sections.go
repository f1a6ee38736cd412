package publish

import (
	"catena/engine"
	"catena/storage"
)

var publishToSections = engine.Op{
	Name:     "Document.PublishToSections",
	Aliases:  []string{"Document.MultiPublish"},
	Label:    "Multi-Publish",
	Category: "Document",
	Doc:      "Publishes the current state of the document to several sections and returns the proxies there.",
	Callers:  engine.Anyone,
	Run:      engine.Each(publishToSectionsParams.run),
}

type publishToSectionsParams struct {
	Target   storage.Refs `json:"target" doc:"Paths or ids of the sections."`
	Override bool         `json:"override" default:"true" values:"true" doc:"Replace existing proxies of the document in a section instead of adding another one."`
}

func (p publishToSectionsParams) run(c *engine.Ctx, d *storage.Doc) (storage.Docs, error) {
	proxies := make(storage.Docs, 0, len(p.Target))
	for _, ref := range p.Target {
		section, err := engine.Named(c.Tx.DocFrom(d, ref))
		if err != nil {
			return nil, err
		}
		// Unlike Document.Publish, the platform fires no documentPublished here, and neither does
		// this; the events of the proxy itself are fired all the same.
		proxy, err := c.Tx.Publish(d, section, p.Override)
		if err != nil {
			return nil, err
		}
		proxies = append(proxies, proxy)
	}
	return proxies, nil
}
