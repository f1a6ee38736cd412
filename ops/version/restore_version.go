package version

import (
	"catena/engine"
	"catena/storage"
)

var restoreVersion = engine.Op{
	Name:     "Document.RestoreVersion",
	Label:    "Restore Version",
	Category: "Document",
	Doc:      "Gives the live document the properties of the version that is the input, and returns the live document. Its place and permissions stay.",
	Run:      engine.On(restoreVersionParams.run),
}

type restoreVersionParams struct {
	CheckOut bool `json:"checkout" default:"false" values:"false" doc:"Leave the restored document checked out."`
	Keep     bool `json:"createVersion" default:"false" values:"false" doc:"First make a version of the live state, if it changed since the last one."`
}

func (p restoreVersionParams) run(c *engine.Ctx, v *storage.Doc) (*storage.Doc, error) {
	return c.Tx.Restore(v, storage.RestoreOptions{Keep: p.Keep, CheckOut: p.CheckOut})
}
