package version

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var createVersion = engine.Op{
	Name:     "Document.CreateVersion",
	Label:    "Create Version",
	Category: "Document",
	Doc: "Saves the document, creates a version of it if increment is set, and returns the document. Its type must support versions. " +
		"Without saving, nothing happens.",
	Callers: engine.Anyone,
	Run:     engine.Each(createVersionParams.run),
}

type createVersionParams struct {
	Increment string `json:"increment,omitzero" values:"None,Minor,Major" doc:"Version number to increment; None or empty only saves."`
	Save      bool   `json:"saveDocument" default:"true" doc:"Whether to save the document, which creates the version."`
}

func (p createVersionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if !d.IsVersionable() {
		return nil, fault.Conflict.Errorf("document %s: type %s does not support versions", d.Path(), d.Type().Name)
	}
	how, err := storage.ParseVersioning(strings.TrimSpace(p.Increment))
	if err != nil {
		return nil, fault.Invalid.Errorf("increment %q: must be None, Minor or Major", p.Increment).In("increment")
	}
	if !p.Save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{Versioning: how})
}
