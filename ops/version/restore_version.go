package version

import (
	"catena/engine"
	"catena/storage"
)

var restoreVersion = engine.Op{
	Name:     "Document.RestoreVersion",
	Label:    "Restore Version",
	Category: "Document",
	Doc:      "Restores the properties of the live document from the version given as input, and returns the live document. Its location and permissions are unchanged.",
	Callers:  engine.Anyone,
	Run:      engine.On(restoreVersionParams.run),
}

type restoreVersionParams struct {
	CheckOut bool `json:"checkout" default:"false" values:"false" doc:"Leave the restored document checked out."`
	Keep     bool `json:"createVersion" default:"false" values:"false" doc:"Create a version of the live state first, if it has changed since the last one."`
}

func (p restoreVersionParams) run(c *engine.Ctx, v *storage.Doc) (*storage.Doc, error) {
	return c.Tx.Restore(v, storage.RestoreOptions{Keep: p.Keep, CheckOut: p.CheckOut})
}
