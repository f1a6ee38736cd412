package user

import (
	"catena/engine"
	"catena/storage/credential"
	"catena/storage/people"
)

var changePassword = engine.Op{
	Name:     "User.ChangePassword",
	Label:    "Change Password",
	Category: "Users & Groups",
	Doc:      "Changes the password of the signed-in user, if the old one is correct, and returns the user.",
	Callers:  engine.Anyone,
	Run:      engine.On(changePasswordParams.run),
}

type changePasswordParams struct {
	Old string `json:"oldPassword" secret:"true" doc:"The old password."`
	New string `json:"newPassword" secret:"true" doc:"The new password."`
}

func (p changePasswordParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	// The old password counts as an attempt to sign in, so guessing it through a stolen session is
	// slowed down like any guessing. There is no name among the parameters: administrators set the
	// passwords of others with User.Update.
	if err := credential.ChangePassword(c.Tx, p.Old, p.New); err != nil {
		return nil, err
	}
	return people.Lookup(c.Tx, c.As.Name)
}
