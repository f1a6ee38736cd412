package user

import (
	"cmp"

	"catena/engine"
	"catena/engine/workflow"
	"catena/ops/drive"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/uisession"
	"catena/storage/webhook"
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
	return engine.Void{}, c.Tx.DeleteUser(p.Username, leave)
}

// leave ends what is kept for a user who is gone.
func leave(tx *storage.Tx, user string) error {
	return cmp.Or(credential.End(tx, user), webhook.End(tx, user), workflow.End(tx, user), uisession.End(tx, user), drive.End(tx, user))
}
