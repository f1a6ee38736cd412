package user

import (
	"cmp"

	"catena/engine"
	"catena/engine/mail"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/people"
)

var invite = engine.Op{
	Name:     "User.Invite",
	Label:    "Invite a user",
	Category: "Users & Groups",
	Doc: "Invites a person to become a user, by a message with a link for choosing a password, and returns the invitation's id. " +
		"For administrators, and for power users unless administrators are affected.",
	Callers: engine.Anyone,
	Run:     engine.On(inviteParams.run).As("nuxeoprincipal", "string"),
}

type inviteParams struct {
	AutoAccept bool           `json:"autoAccept" default:"true" doc:"Whether to send the message immediately; otherwise User.AcceptInvitation sends it."`
	Comment    string         `json:"comment,omitzero" doc:"Personal text for the message."`
	Info       map[string]any `json:"info,omitzero" type:"map" doc:"Properties of the user that override those of the input."`
	Validation string         `json:"validationMethod" type:"validationmethod" default:"EMAIL" values:"EMAIL" doc:"How the invited person is verified; only EMAIL is supported."`
}

func (p inviteParams) run(c *engine.Ctx, user map[string]any) (string, error) {
	// NONE, which the platform knows too, is accepted, but the message is sent all the same:
	// without it, the invited person could not choose a password.
	if p.Validation != "EMAIL" && p.Validation != "NONE" {
		return "", fault.Invalid.Errorf("validationMethod %s: must be EMAIL", p.Validation).In("validationMethod")
	}
	// The user is not stored yet. The invitation holds it until the invited person chooses a
	// password.
	u := &people.User{}
	u.Username = userName(user)
	password, err := setUser(c, u, user)
	if err != nil {
		return "", err
	}
	if len(p.Info) > 0 {
		named := map[string]any{"properties": p.Info}
		u.Username = cmp.Or(userName(named), u.Username)
		more, err := setUser(c, u, named)
		if err != nil {
			return "", err
		}
		password += more
	}
	// An invitation goes to somebody who chooses a password; one that the inviter knows would defeat that.
	if password != "" {
		return "", fault.Invalid.Errorf("password: must not be set; the invited user chooses it").In("password")
	}
	if u.Email != "" {
		// Checked now, while the inviter can correct it; a bad address would otherwise show only
		// when the message bounces. A missing one is refused by credential.Invite.
		if _, err := mail.Address(u.Email); err != nil {
			return "", err
		}
	}
	return credential.Invite(c.Tx, u, p.Comment, p.AutoAccept, sendMail)
}

// sendMail is how storage/credential, which knows no mail, sends invitations. The message is queued in the
// transaction and goes out only if it commits.
func sendMail(tx *storage.Tx, address, template string, data map[string]any) error {
	_, err := mail.Send(tx, mail.Mail{To: []string{address}, Template: template, Data: data})
	return err
}
