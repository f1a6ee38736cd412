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
	return engine.Void{}, credential.AcceptInvitation(c.Tx, p.ID, sendMail)
}
