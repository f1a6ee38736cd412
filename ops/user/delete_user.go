package user

import (
	"catena/engine"
)

var deleteUser = engine.Op{
	Name:     "User.Delete",
	Label:    "Delete User",
	Category: "Users & Groups",
	Doc: "Removes a user, whose keys, tokens, subscriptions, webhooks and synchronized folders end with that, and keeps the input. What the user wrote stays: the personal " +
		"workspace and the folder of decks go to the administrators, with %gone behind their names, so that a later user of the name begins with new ones. " +
		"What the user was granted on documents ends, and is not a later user's of the name: jobs remove it from access lists. " +
		"Open tasks go to the administrators.",
	Run: engine.On(deleteUserParams.run),
}

type deleteUserParams struct {
	Username string `json:"username" doc:"Name of the user."`
}

func (p deleteUserParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, c.Tx.DeleteUser(p.Username)
}
