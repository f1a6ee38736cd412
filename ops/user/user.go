// Package user holds operations on users, groups and API keys. Who may change whom, how passwords and keys are kept,
// and what a group grants is decided by storage; signing in is not an operation.
//
// Rules about who may change whom are applied by storage/people; the operations only check beforehand where
// the platform answers with a message of its own. Entities of users and groups are read leniently
// (entity.go), since clients send back what they have received, with members that users do not have.
package user

import (
	"slices"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Ops are the operations on users, groups and keys.
var Ops = []engine.Op{
	acceptInvitation,
	changePassword,
	createGroup,
	createKey,
	createUser,
	deleteGroup,
	deleteUser,
	getGroup,
	getUser,
	getWorkspace,
	groupGroups,
	groupUsers,
	invite,
	joinGroup,
	latest,
	leaveGroup,
	listGroups,
	listKeys,
	listUsers,
	queryUsers,
	readGroup,
	revokeKey,
	saveGroup,
	saveUser,
	searchGroups,
	searchUsers,
	setAccount,
	suggest,
	updateGroup,
	updateUser,
}

// manages reports whether somebody may look after others. It decides only what the caller is told;
// storage/people checks again whether the change itself is allowed, which for power users depends on whom it
// affects.
func manages(p *storage.Principal) bool {
	return p.Admin || slices.Contains(p.Groups, storage.PowerUsers)
}

// checkMode compares what parameter mode asks for with what there is. Any other mode accepts both.
func checkMode(mode string, exists bool, kind, name string) error {
	switch {
	case mode == "create" && exists:
		return fault.Exists.Errorf("%s %s: already exists", kind, name)
	case mode == "update" && !exists:
		return fault.NotFound.Errorf("%s %s: does not exist", kind, name)
	}
	return nil
}

// put adds a moment that is known.
func put(m map[string]any, name string, at time.Time) {
	if !at.IsZero() {
		m[name] = at
	}
}
