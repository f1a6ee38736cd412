package user

import (
	"catena/engine"
	"catena/storage/people"
)

var deleteUser = engine.Op{
	Name:     "User.Delete",
	Label:    "Delete User",
	Category: "Users & Groups",
	Doc: "Deletes a user with all keys, tokens, subscriptions, webhooks and synchronized folders, and returns the input. The user's documents are kept: the personal " +
		"workspace and the folder of decks are reassigned to the administrators and get the suffix %gone, so that a later user with the same name starts with new ones. " +
		"Jobs remove the user's permissions from access control lists, so that a later user with the same name does not get them. " +
		"Open tasks are reassigned to the administrators.",
	Callers: engine.Anyone,
	Run:     engine.On(deleteUserParams.run),
}

type deleteUserParams struct {
	Username string `json:"username" doc:"Name of the user."`
}

func (p deleteUserParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// Everything that other packages keep of a user is removed by them, as owners registered with
	// storage. This operation knows none of them.
	return engine.Void{}, people.DeleteUser(c.Tx, p.Username)
}
