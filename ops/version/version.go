// Package version holds the operations on the versions of a document: archiving its state,
// listing and finding the archived ones and going back to one. Numbers, permissions and
// what else a version is are storage's; publishing versions is a family of its own.
package version

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Ops are the version operations.
var Ops = []engine.Op{
	checkIn,
	checkOut,
	createVersion,
	getLastVersion,
	getVersions,
	restoreVersion,
}

// assign keeps a version, or nothing, in a context variable.
func assign(c *engine.Ctx, name string, v *storage.Doc, value any) error {
	switch {
	case name == "":
		return nil
	case name == "ChainParameters":
		return fault.Invalid.Errorf("variable ChainParameters: is reserved").In("versionVarName")
	case v == nil:
		value = nil
	}
	c.SetVar(name, value)
	return nil
}
