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
	Doc: "Shows the document as it is now in a section and returns the proxy there. A version is made for that if the document " +
		"changed since its last one. With the name of a rendition that is shown, as a file of its own.",
	Run: engine.Each(publishToSectionParams.run),
}

type publishToSectionParams struct {
	Target    storage.Ref `json:"target" doc:"The section: a path, an id, or a path relative to the input that starts with a dot."`
	Default   bool        `json:"defaultRendition" default:"false" doc:"Publish the default rendition, which is the document itself."`
	Override  bool        `json:"override" default:"true" values:"true" doc:"Replace what the section shows of the document already, instead of adding another proxy."`
	Rendition string      `json:"renditionName,omitzero" doc:"Name of the rendition to publish, as pdf; default or nothing: the document itself."`
}

func (p publishToSectionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if p.Rendition != "" && p.Rendition != "default" && !p.Default {
		return publishRendition(c, d, p.Target, p.Rendition, p.Override)
	}
	return publish(c, d, p.Target, p.Override)
}
