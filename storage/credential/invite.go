package credential

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/internal/secret"
	"catena/storage/people"
)

var invitations = row.Secret{Name: "invitations"}

const (
	invitationKept = 7 * 24 * time.Hour

	// InvitationPath is the address of the page where somebody who was invited chooses a password.
	InvitationPath = "/site/userInvitation/enterpassword/"
)

// invitation is somebody who may become a user, by the rights of the one who invites.
type invitation struct {
	User    people.User
	Groups  []string // of the user, which a storage.User is kept without
	Comment string
	By      string
	Sum     []byte    // of the secret in the message; nil: not accepted yet
	Expires time.Time `json:"expires"`
}

func errInvitation() error {
	return fault.NotFound.Errorf("invitation: does not exist or has expired")
}

// SendMail sends a message made from a template to an address once the transaction is committed.
type SendMail func(tx *storage.Tx, address, template string, data map[string]any) error

// Invite asks somebody to become a user, and returns the invitation's id. The principal must be allowed to create
// that user. An invitation that is accepted at once is sent; any other waits for AcceptInvitation.
func Invite(tx *storage.Tx, u *people.User, comment string, accept bool, send SendMail) (id string, err error) {
	if err := people.CheckName(u.Username); err != nil {
		return "", err
	}
	if u.Email == "" {
		return "", fault.Invalid.Errorf("email: is required for an invitation").In("email")
	}
	if _, err := people.Lookup(tx, u.Username); !fault.Is(err, fault.NotFound) {
		return "", cmp.Or[error](err, fault.Exists.Errorf("user %s: already exists", u.Username))
	}
	if err := mayInvite(tx, u); err != nil {
		return "", err
	}
	i := invitation{User: *u, Groups: u.Groups, Comment: comment, By: tx.Principal().Name, Expires: tx.Now().Add(invitationKept)}
	id = tx.NewID()
	if accept {
		return id, sendInvitation(tx, id, &i, send)
	}
	return id, tx.Secret(invitations).Create(id, i)
}

func mayInvite(tx *storage.Tx, u *people.User) error {
	if tx.Principal().Name == u.Username {
		return fault.Denied.Errorf("User is not allowed to edit users")
	}
	return people.MayCreate(tx, u)
}

// AcceptInvitation sends an invitation that waits for it.
func AcceptInvitation(tx *storage.Tx, id string, send SendMail) error {
	i, err := invitationOf(tx, id)
	if err != nil {
		return err
	}
	if err := mayInvite(tx, &i.User); err != nil {
		return err
	}
	if i.Sum != nil {
		return fault.Conflict.Errorf("invitation %s: has already been accepted", id)
	}
	i.Expires = tx.Now().Add(invitationKept)
	return sendInvitation(tx, id, i, send)
}

// sendInvitation keeps an invitation under a new secret, which only the message holds.
func sendInvitation(tx *storage.Tx, id string, i *invitation, send SendMail) error {
	text := secret.Text()
	i.Sum = secret.Sum(text)
	if err := tx.Secret(invitations).Put(id, i); err != nil {
		return err
	}
	storage.NoteChange(tx, "record", "invitation of "+i.User.Username)
	return send(tx, i.User.Email, "invitation", map[string]any{
		"user": i.By, "name": i.User.Username, "comment": i.Comment, "until": i.Expires.Format(time.DateOnly),
		"path": InvitationPath + url.PathEscape(id) + "?key=" + text,
	})
}

// Invited returns the name of the user whom an invitation is for.
func Invited(ctx context.Context, repo *storage.Repo, id, key string) (name string, err error) {
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		i, err := invited(tx, id, key)
		if err == nil {
			name = i.User.Username
		}
		return err
	})
	return name, err
}

// Join makes a user of anyone who has an invitation's key, with a password of their choice. It is done
// by the rights that who invited has now, and once.
func Join(ctx context.Context, repo *storage.Repo, id, key, password string) (name string, err error) {
	err = repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		i, err := invited(tx, id, key)
		if err != nil {
			return err
		}
		if name = i.User.Username; password == "" {
			return fault.Invalid.Errorf("password: must not be empty").In("password")
		}
		if _, err := people.Lookup(tx, name); !fault.Is(err, fault.NotFound) {
			return cmp.Or[error](err, fault.Exists.Errorf("user %s: already exists", name))
		}
		by, err := storage.PrincipalOf(tx, i.By)
		if fault.Is(err, fault.NotFound) {
			return errInvitation()
		}
		if err != nil {
			return err
		}
		if err := people.SaveUser(tx.As(by), &i.User, password); err != nil {
			return err
		}
		return tx.Secret(invitations).Delete(id)
	})
	return name, err
}

// invited returns an invitation that was sent and whose key is given.
func invited(tx *storage.Tx, id, key string) (*invitation, error) {
	i, err := invitationOf(tx, id)
	if err != nil {
		return nil, err
	}
	if !secret.Is(key, i.Sum) {
		return nil, errInvitation()
	}
	return i, nil
}

// invitationOf returns an invitation that is not over.
func invitationOf(tx *storage.Tx, id string) (*invitation, error) {
	if id == "" || len(id) > 100 {
		return nil, errInvitation()
	}
	var i invitation
	ok, err := tx.Secret(invitations).Get(id, &i)
	if err != nil || !ok || !tx.Now().Before(i.Expires) {
		return nil, cmp.Or(err, errInvitation())
	}
	i.User.Groups = i.Groups
	return &i, nil
}
