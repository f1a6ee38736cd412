package user

import (
	"catena/engine"
	"catena/storage/credential"
)

var acceptInvitation = engine.Op{
	Name:     "User.AcceptInvitation",
	Label:    "Accept an Invitation",
	Category: "Users & Groups",
	Doc:      "Sends a pending invitation. For callers who may create the invited user.",
	Callers:  engine.Anyone,
	Run:      engine.On(acceptInvitationParams.run),
}

type acceptInvitationParams struct {
	ID string `json:"id" doc:"Id returned by User.Invite."`
}

func (p acceptInvitationParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// The permission is checked again for the user that the invitation holds: the person who
	// accepts need not be the inviter.
	return engine.Void{}, credential.AcceptInvitation(c.Tx, p.ID, sendMail)
}
