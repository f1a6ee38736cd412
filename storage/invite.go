package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"time"

	"catena/storage/fault"
)

const (
	invitationsTable = "invitations"
	invitationKept   = 7 * 24 * time.Hour

	// InvitationPath is the address of the page where somebody who was invited chooses a password.
	InvitationPath = "/site/userInvitation/enterpassword/"
)

// invitation is somebody who may become a user, by the rights of who asks for it.
type invitation struct {
	User    User
	Comment string
	By      string
	Sum     []byte    // of the secret in the message; nil: not accepted yet
	Expires time.Time `json:"expires"`
}

func errInvitation() error {
	return fault.NotFound.Errorf("invitation: does not exist, or is over")
}

// Invite asks somebody to become a user, and returns the invitation's id. Whoever invites must be allowed to
// create that user. An invitation that is accepted at once is sent; any other waits for AcceptInvitation.
func (t *Tx) Invite(u *User, comment string, accept bool) (id string, err error) {
	if err := checkName("User", u.Username); err != nil {
		return "", err
	}
	if u.Email == "" {
		return "", fault.Invalid.Errorf("email: an invitation needs an address to be sent to").In("email")
	}
	if _, err := address(u.Email); err != nil {
		return "", err
	}
	if _, err := t.User(u.Username); !fault.Is(err, fault.NotFound) {
		return "", firstError(err, fault.Exists.Errorf("user %s: exists already", u.Username))
	}
	if err := t.mayInvite(u); err != nil {
		return "", err
	}
	i := invitation{User: *u, Comment: comment, By: t.as.Name, Expires: t.now.Add(invitationKept)}
	id = t.NewID()
	if accept {
		return id, t.sendInvitation(id, &i)
	}
	return id, t.secret(invitationsTable).Create(id, i)
}

func (t *Tx) mayInvite(u *User) error {
	if t.as.Name == u.Username {
		return fault.Denied.Errorf("User is not allowed to edit users")
	}
	return t.maySaveUser(nil, u)
}

// AcceptInvitation has an invitation sent that waits for that.
func (t *Tx) AcceptInvitation(id string) error {
	var i invitation
	ok, err := t.secret(invitationsTable).Get(id, &i)
	if err != nil || !ok || !t.now.Before(i.Expires) {
		return firstError(err, errInvitation())
	}
	if err := t.mayInvite(&i.User); err != nil {
		return err
	}
	if i.Sum != nil {
		return fault.Conflict.Errorf("invitation %s: is accepted already", id)
	}
	i.Expires = t.now.Add(invitationKept)
	return t.sendInvitation(id, &i)
}

// sendInvitation keeps an invitation under a new secret, which only the message holds.
func (t *Tx) sendInvitation(id string, i *invitation) error {
	secret := make([]byte, 32)
	rand.Read(secret)
	text := base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(text))
	i.Sum = sum[:]
	if err := t.secret(invitationsTable).Put(id, i); err != nil {
		return err
	}
	t.Changed("record", "invitation of "+i.User.Username)
	_, err := t.SendMail(Mail{To: []string{i.User.Email}, Template: "invitation", Data: map[string]any{
		"user": i.By, "name": i.User.Username, "comment": i.Comment, "until": i.Expires.Format(time.DateOnly),
		"path": InvitationPath + url.PathEscape(id) + "?key=" + text,
	}})
	return err
}

// Invited returns the name of the user whom an invitation is for.
func (r *Repo) Invited(ctx context.Context, id, key string) (name string, err error) {
	err = r.View(ctx, r.System(), func(t *Tx) error {
		i, err := t.invited(id, key)
		if err == nil {
			name = i.User.Username
		}
		return err
	})
	return name, err
}

// Join makes a user of whoever has an invitation's key, with a password of their choice. It is done
// by the rights that who invited has by now, and once.
func (r *Repo) Join(ctx context.Context, id, key, password string) (name string, err error) {
	err = r.Update(ctx, r.System(), func(t *Tx) error {
		i, err := t.invited(id, key)
		if err != nil {
			return err
		}
		if name = i.User.Username; password == "" {
			return fault.Invalid.Errorf("password: is empty").In("password")
		}
		if _, err := t.User(name); !fault.Is(err, fault.NotFound) {
			return firstError(err, fault.Exists.Errorf("user %s: exists already", name))
		}
		by, err := t.PrincipalOf(i.By)
		if fault.Is(err, fault.NotFound) {
			return errInvitation()
		}
		if err != nil {
			return err
		}
		if err := t.As(by).SaveUser(&i.User, password); err != nil {
			return err
		}
		return t.secret(invitationsTable).Delete(id)
	})
	return name, err
}

func (t *Tx) invited(id, key string) (*invitation, error) {
	var i invitation
	if id == "" || len(id) > 100 {
		return nil, errInvitation()
	}
	ok, err := t.secret(invitationsTable).Get(id, &i)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(key))
	if !ok || i.Sum == nil || !t.now.Before(i.Expires) || subtle.ConstantTimeCompare(sum[:], i.Sum) != 1 {
		return nil, errInvitation()
	}
	return &i, nil
}
