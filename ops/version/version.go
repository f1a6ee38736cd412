// Package version holds operations on the versions of a document: creating, listing, finding and restoring them.
// Numbers, permissions and what else a version is are storage's; publishing versions is a family of its own.
//
// A version is a copy that never changes, with a number of two parts: major.minor. Which saves make a version
// by themselves is declared with the types (storage/schema); the operations here make one when a chain or a
// user says so.
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
