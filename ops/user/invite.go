package user

import (
	"cmp"

	"catena/engine"
	"catena/engine/mail"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
)

var invite = engine.Op{
	Name:     "User.Invite",
	Label:    "Invite a user",
	Category: "Users & Groups",
	Doc: "Asks somebody to become a user, by a message with an address where they choose a password, and returns the invitation's id. " +
		"For administrators, and power users as far as administrators are not concerned.",
	Run: engine.On(inviteParams.run).As("nuxeoprincipal", "string"),
}

type inviteParams struct {
	AutoAccept bool           `json:"autoAccept" default:"true" doc:"Send the message at once; else User.AcceptInvitation does."`
	Comment    string         `json:"comment,omitzero" doc:"Words of whoever invites, for the message."`
	Info       map[string]any `json:"info,omitzero" type:"map" doc:"Properties of the user that go before those of the input."`
	Validation string         `json:"validationMethod" type:"validationmethod" default:"EMAIL" values:"EMAIL" doc:"How it is checked who accepts: by the address the message goes to."`
}

func (p inviteParams) run(c *engine.Ctx, user map[string]any) (string, error) {
	if p.Validation != "EMAIL" && p.Validation != "NONE" {
		return "", fault.Invalid.Errorf("validationMethod %s: EMAIL expected", p.Validation).In("validationMethod")
	}
	u := &storage.User{}
	u.Username = userName(user)
	password, err := setUser(u, user)
	if err != nil {
		return "", err
	}
	if len(p.Info) > 0 {
		named := map[string]any{"properties": p.Info}
		u.Username = cmp.Or(userName(named), u.Username)
		more, err := setUser(u, named)
		if err != nil {
			return "", err
		}
		password += more
	}
	if password != "" {
		return "", fault.Invalid.Errorf("password: whoever is invited chooses it").In("password")
	}
	if u.Email != "" {
		if _, err := mail.Address(u.Email); err != nil {
			return "", err
		}
	}
	return credential.Invite(c.Tx, u, p.Comment, p.AutoAccept, sendMail)
}

func sendMail(tx *storage.Tx, address, template string, data map[string]any) error {
	_, err := mail.Send(tx, mail.Mail{To: []string{address}, Template: template, Data: data})
	return err
}
