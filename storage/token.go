package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
)

// DeviceToken stands for a user in a program on a device. The same user, program and device
// always get the same token, so tokens are kept as they are, in a table that nobody but this
// package reads; rows are found by their hash.
type DeviceToken struct {
	Token, User, Application, Device, Description, Permission string
	Created                                                   time.Time
}

const (
	tokensTable  = "tokens"
	tokenOfTable = "tokenOf"
	maxTokenWord = 200  // bytes of each word that names a program or device
	maxTokens    = 1000 // of one user
)

func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func (d *DeviceToken) place() string { return d.User + "\x00" + d.Application + "\x00" + d.Device }

func errToken() error { return fault.Denied.Errorf("the token is not valid") }

// AcquireToken returns the token of the principal for a program on a device, which is made when
// it is first asked for.
func (t *Tx) AcquireToken(d DeviceToken) (string, error) {
	if err := t.MayWrite(); err != nil {
		return "", err
	}
	if t.as.Name == "" || t.as.System {
		return "", ErrNobody
	}
	d.User = t.as.Name
	for name, v := range map[string]string{"applicationName": d.Application, "deviceId": d.Device, "permission": d.Permission} {
		if v == "" {
			return "", fault.Invalid.Errorf("token: %s is missing", name).In(name)
		}
		if len(v) > maxTokenWord || strings.IndexByte(v, 0) >= 0 {
			return "", fault.Limit.Errorf("token: %s is longer than %d bytes", name, maxTokenWord).In(name)
		}
	}
	if len(d.Description) > 10*maxTokenWord {
		return "", fault.Limit.Errorf("token: deviceDescription is longer than %d bytes", 10*maxTokenWord).In("deviceDescription")
	}
	var token string
	if ok, err := t.secret(tokenOfTable).Get(d.place(), &token); err != nil || ok {
		return token, err
	}
	own, err := t.Tokens("")
	if err != nil {
		return "", err
	}
	if len(own) >= maxTokens {
		return "", fault.Limit.Errorf("token: user %s has %d already", d.User, maxTokens)
	}
	secret := make([]byte, 24)
	rand.Read(secret)
	d.Token, d.Created = hex.EncodeToString(secret), t.now
	t.Changed("record", "token of "+d.User)
	return d.Token, firstError(
		t.secret(tokensTable).Put(tokenHash(d.Token), d),
		t.secret(tokenOfTable).Put(d.place(), d.Token),
	)
}

// Tokens returns the tokens of the principal, of one program or of all, newest first.
func (t *Tx) Tokens(application string) ([]DeviceToken, error) {
	return t.tokensOf(t.as.Name, application)
}

func (t *Tx) tokensOf(user, application string) ([]DeviceToken, error) {
	if user == "" {
		return nil, ErrNobody
	}
	var list []DeviceToken
	for row, err := range t.secret(tokenOfTable).rows(user+"\x00", user+"\x01", false, 0) {
		if err != nil {
			return nil, err
		}
		var token string
		if err := json.Unmarshal(row.Value, &token); err != nil {
			return nil, fault.Internal.Errorf("token: %w", err)
		}
		var d DeviceToken
		ok, err := t.secret(tokensTable).Get(tokenHash(token), &d)
		if err != nil {
			return nil, err
		}
		if ok && (application == "" || d.Application == application) {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b DeviceToken) int { return b.Created.Compare(a.Created) })
	return list, nil
}

// RevokeToken ends a token of the principal's; administrators end any.
func (t *Tx) RevokeToken(token string) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	var d DeviceToken
	ok, err := t.secret(tokensTable).Get(tokenHash(token), &d)
	if err != nil {
		return err
	}
	if !ok || d.User != t.as.Name && !t.rights.admin {
		return fault.NotFound.Errorf("token: does not exist")
	}
	t.Changed("record", "token of "+d.User)
	return firstError(t.secret(tokensTable).Delete(tokenHash(token)), t.secret(tokenOfTable).Delete(d.place()))
}

// endTokens ends all that stands for a user who goes.
func (t *Tx) endTokens(user string) error {
	list, err := t.tokensOf(user, "")
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := firstError(t.secret(tokensTable).Delete(tokenHash(d.Token)), t.secret(tokenOfTable).Delete(d.place())); err != nil {
			return err
		}
	}
	dir, err := t.As(t.repo.System()).Directory(oauthTokens)
	if err != nil {
		return err
	}
	for {
		found, err := dir.Find(DirectoryQuery{Equal: map[string]any{"nuxeoLogin": user}, PageOptions: PageOptions{CountLimit: -1}})
		if err != nil || len(found.Entries) == 0 {
			return err
		}
		for _, e := range found.Entries {
			if err := dir.Delete(e.ID); err != nil {
				return err
			}
		}
	}
}

// SignInToken returns who a device token stands for. One asked for to read only does no more.
func (r *Repo) SignInToken(ctx context.Context, token string) (*Principal, error) {
	if token == "" || len(token) > maxTokenWord {
		return nil, errToken()
	}
	var d DeviceToken
	err := r.View(ctx, r.System(), func(t *Tx) error {
		ok, err := t.secret(tokensTable).Get(tokenHash(token), &d)
		if err == nil && !ok {
			err = errToken()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := r.Principal(ctx, d.User)
	if err != nil {
		return nil, firstError(errIfNot(err, fault.NotFound), errToken())
	}
	as := p.by(func(t *Tx) (bool, error) { return t.secret(tokensTable).Get(tokenHash(token), &DeviceToken{}) })
	as.ReadOnly = strings.EqualFold(d.Permission, "Read") || strings.EqualFold(d.Permission, "r")
	return as, nil
}
