package user

import (
	"catena/engine"
	"catena/storage/credential"
)

var deleteUser = engine.Op{
	Name:     "User.Delete",
	Label:    "Delete User",
	Category: "Users & Groups",
	Doc:      "Removes a user, whose API keys end with that, and keeps the input. What the user wrote stays.",
	Run:      engine.On(deleteUserParams.run),
}

type deleteUserParams struct {
	Username string `json:"username" doc:"Name of the user."`
}

func (p deleteUserParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, c.Tx.DeleteUser(p.Username, credential.End)
}
