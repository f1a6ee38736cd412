package publish

import (
	"catena/engine"
	"catena/storage"
)

var publishToSection = engine.Op{
	Name:     "Document.PublishToSection",
	Aliases:  []string{"Document.PublishRendition"},
	Label:    "Publish Document's Rendition",
	Category: "Document",
	Doc: "Publishes the current state of the document to a section and returns the proxy there. A version is created if the document " +
		"has changed since its last one. With the name of a rendition, the rendition is published as a separate file.",
	Callers: engine.Anyone,
	Run:     engine.Each(publishToSectionParams.run),
}

type publishToSectionParams struct {
	Target    storage.Ref `json:"target" doc:"Path or id of the section; a path that starts with a dot is relative to the input."`
	Default   bool        `json:"defaultRendition" default:"false" doc:"Publish the default rendition, which is the document itself."`
	Override  bool        `json:"override" default:"true" values:"true" doc:"Replace existing proxies of the document in the section instead of adding another one."`
	Rendition string      `json:"renditionName,omitzero" doc:"Name of the rendition to publish, such as pdf; default or empty publishes the document itself."`
}

func (p publishToSectionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// The name "default" stands for the default rendition, which is the document itself.
	if p.Rendition != "" && p.Rendition != "default" && !p.Default {
		return publishRendition(c, d, p.Target, p.Rendition, p.Override)
	}
	return publish(c, d, p.Target, p.Override)
}
