package publish

import (
	"catena/engine"
	"catena/storage"
)

var publishDoc = engine.Op{
	Name:     "Document.Publish",
	Label:    "Publish",
	Category: "Document",
	Doc: "Shows the document as it is now in a section and returns the proxy there. A version is made for that if the document " +
		"changed since its last one.",
	Run: engine.Each(publishDocParams.run),
}

type publishDocParams struct {
	Target   storage.Ref `json:"target" doc:"The section: a path, an id, or a path relative to the input that starts with a dot."`
	Override bool        `json:"override" default:"true" values:"true" doc:"Replace what the section shows of the document already, instead of adding another proxy."`
}

func (p publishDocParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return publish(c, d, p.Target, p.Override)
}
