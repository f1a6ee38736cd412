package user

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/credential"
)

var changePassword = engine.Op{
	Name:     "User.ChangePassword",
	Label:    "Change Password",
	Category: "Users & Groups",
	Doc:      "Gives the user who is signed in another password, if the old one is right, and returns the user.",
	Run:      engine.On(changePasswordParams.run),
}

type changePasswordParams struct {
	Old string `json:"oldPassword" secret:"true" doc:"The password until now."`
	New string `json:"newPassword" secret:"true" doc:"The password from now on."`
}

func (p changePasswordParams) run(c *engine.Ctx, _ engine.Void) (*storage.User, error) {
	if err := credential.ChangePassword(c.Tx, p.Old, p.New); err != nil {
		return nil, err
	}
	return c.Tx.User(c.As.Name)
}
