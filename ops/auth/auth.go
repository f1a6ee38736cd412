// Package auth holds operations that change the acting user within a run, and those on device tokens and sessions. The identity
// that a run assumes ends with the run, however that ends; how people sign in to the server is for the entry points
// and storage.
//
// Becoming another user is for administrators and for stored chains, whose text an administrator has
// approved. It holds until the next logout or the end of the chain.
package auth

import (
	"catena/engine"
	"catena/storage"
)

// Ops are the operations of signing in and out within a run, and on tokens and sessions.
var Ops = []engine.Op{
	acquireToken,
	endSession,
	listSessions,
	listTokens,
	loginAs,
	logout,
	revokeToken,
}

// reread returns the document as the principal that acts now sees it. One with changes not saved yet
// stays as it is.
func reread(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if !d.Saved() || d.Dirty() {
		return d, nil
	}
	return c.Tx.Reload(d)
}
