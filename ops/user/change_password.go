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
	Doc:      "Changes the password of the signed-in user, if the old one is correct, and returns the user.",
	Run:      engine.On(changePasswordParams.run),
}

type changePasswordParams struct {
	Old string `json:"oldPassword" secret:"true" doc:"The old password."`
	New string `json:"newPassword" secret:"true" doc:"The new password."`
}

func (p changePasswordParams) run(c *engine.Ctx, _ engine.Void) (*storage.User, error) {
	if err := credential.ChangePassword(c.Tx, p.Old, p.New); err != nil {
		return nil, err
	}
	return c.Tx.User(c.As.Name)
}
