package publish

import (
	"catena/engine"
	"catena/storage"
)

var publishDoc = engine.Op{
	Name:     "Document.Publish",
	Label:    "Publish",
	Category: "Document",
	Doc: "Publishes the current state of the document to a section and returns the proxy there. A version is created if the document " +
		"has changed since its last one.",
	Callers: engine.Anyone,
	Run:     engine.Each(publishDocParams.run),
}

type publishDocParams struct {
	Target   storage.Ref `json:"target" doc:"Path or id of the section; a path that starts with a dot is relative to the input."`
	Override bool        `json:"override" default:"true" values:"true" doc:"Replace existing proxies of the document in the section instead of adding another one."`
}

func (p publishDocParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return publish(c, d, p.Target, p.Override)
}
