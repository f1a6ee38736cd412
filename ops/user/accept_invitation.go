package user

import (
	"catena/engine"
	"catena/storage/credential"
)

var acceptInvitation = engine.Op{
	Name:     "User.AcceptInvitation",
	Label:    "Accept an Invitation",
	Category: "Users & Groups",
	Doc:      "Has an invitation sent that waits for that. For those who may create the user it is for.",
	Run:      engine.On(acceptInvitationParams.run),
}

type acceptInvitationParams struct {
	ID string `json:"id" doc:"What User.Invite returned."`
}

func (p acceptInvitationParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, credential.AcceptInvitation(c.Tx, p.ID, sendMail)
}
