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
	Doc: "Saves the document, makes a version of it if a number is to grow, and returns the document. Its type must have versions. " +
		"Without saving nothing happens.",
	Run: engine.Each(createVersionParams.run),
}

type createVersionParams struct {
	Increment string `json:"increment,omitzero" values:"None,Minor,Major" doc:"Which number grows; None, or nothing, only saves."`
	Save      bool   `json:"saveDocument" default:"true" doc:"Save the document, which is when the version is made."`
}

func (p createVersionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if !d.IsVersionable() {
		return nil, fault.Conflict.Errorf("document %s: type %s has no versions", d.Path(), d.Type().Name)
	}
	how, err := storage.ParseVersioning(strings.TrimSpace(p.Increment))
	if err != nil {
		return nil, fault.Invalid.Errorf("increment %q: None, Minor or Major expected", p.Increment).In("increment")
	}
	if !p.Save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{Versioning: how})
}
