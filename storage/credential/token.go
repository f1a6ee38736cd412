package credential

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/internal/secret"
	"catena/storage/limit"
)

// Limits bound the credentials of one user; zero values take the defaults.
type Limits struct {
	Devices int `setting:"limit-devices" default:"1000" doc:"tokens of the devices of one user"`
}

// DeviceToken stands for a user in a program on a device. The same user, program and device
// always get the same token, so tokens are kept as they are, in a table that nobody but this
// package reads; rows are found by their hash.
type DeviceToken struct {
	Token, User, Application, Device, Description, Permission string
	Created                                                   time.Time
}

var (
	tokens  = row.Secret{Name: "tokens"}  // by hash
	tokenOf = row.Secret{Name: "tokenOf"} // by user, program and device
)

// byTokens finds the tokens to sign in by.
var byTokens = signer[DeviceToken]{table: tokens}

const maxTokenWord = 200 // bytes of each word that names a program or device

func (d *DeviceToken) key() string { return d.User + "\x00" + d.Application + "\x00" + d.Device }

func errToken() error { return fault.Denied.Errorf("the token is not valid") }

// AcquireToken returns the token of the principal for a program on a device, which is made when
// it is first asked for.
func AcquireToken(tx *storage.Tx, d DeviceToken) (string, error) {
	if err := tx.MayWrite(); err != nil {
		return "", err
	}
	as := tx.Principal()
	if as.Name == "" || as.System {
		return "", storage.ErrNobody
	}
	d.User = as.Name
	if err := d.check(); err != nil {
		return "", err
	}
	var token string
	if ok, err := tx.Secret(tokenOf).Get(d.key(), &token); err != nil || ok {
		return token, err
	}
	own, err := Tokens(tx, "")
	if err != nil {
		return "", err
	}
	if most := limit.Of[Limits](tx.Repo().Bounds()).Devices; len(own) >= most {
		return "", fault.Limit.Errorf("token: user %s already has %d", d.User, most)
	}
	b := make([]byte, 24)
	rand.Read(b)
	d.Token, d.Created = hex.EncodeToString(b), tx.Now()
	storage.NoteChange(tx, "record", "token of "+d.User)
	return d.Token, cmp.Or(
		tx.Secret(tokens).Put(secret.Hash(d.Token), d),
		tx.Secret(tokenOf).Put(d.key(), d.Token),
	)
}

// check refuses what a token cannot be for; of several mistakes the first.
func (d *DeviceToken) check() error {
	for _, word := range [][2]string{{"applicationName", d.Application}, {"deviceId", d.Device}, {"permission", d.Permission}} {
		name, v := word[0], word[1]
		if v == "" {
			return fault.Invalid.Errorf("token: %s is missing", name).In(name)
		}
		if len(v) > maxTokenWord || strings.IndexByte(v, 0) >= 0 {
			return fault.Limit.Errorf("token: %s is longer than %d bytes", name, maxTokenWord).In(name)
		}
	}
	if len(d.Description) > 10*maxTokenWord {
		return fault.Limit.Errorf("token: deviceDescription is longer than %d bytes", 10*maxTokenWord).In("deviceDescription")
	}
	return nil
}

// Tokens returns the tokens of the principal, of one program or of all, newest first.
func Tokens(tx *storage.Tx, application string) ([]DeviceToken, error) {
	return tokensOf(tx, tx.Principal().Name, application)
}

func tokensOf(tx *storage.Tx, user, application string) ([]DeviceToken, error) {
	if user == "" {
		return nil, storage.ErrNobody
	}
	var list []DeviceToken
	for token, err := range storage.Records[string](tx.Secret(tokenOf), user+"\x00", user+"\x01", 0) {
		if err != nil {
			return nil, err
		}
		var d DeviceToken
		ok, err := tx.Secret(tokens).Get(secret.Hash(token), &d)
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
func RevokeToken(tx *storage.Tx, token string) error {
	if err := tx.MayWrite(); err != nil {
		return err
	}
	var d DeviceToken
	ok, err := tx.Secret(tokens).Get(secret.Hash(token), &d)
	if err != nil {
		return err
	}
	if !ok || d.User != tx.Principal().Name && !tx.Principal().Admin {
		return fault.NotFound.Errorf("token: does not exist")
	}
	storage.NoteChange(tx, "record", "token of "+d.User)
	return dropToken(tx, &d)
}

func dropToken(tx *storage.Tx, d *DeviceToken) error {
	storage.Ends(tx)
	return cmp.Or(tx.Secret(tokens).Delete(secret.Hash(d.Token)), tx.Secret(tokenOf).Delete(d.key()))
}

// endTokens removes the tokens of a user.
func endTokens(tx *storage.Tx, user string) error {
	list, err := tokensOf(tx, user, "")
	if err != nil {
		return err
	}
	for i := range list {
		if err := dropToken(tx, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// SignInToken returns who a device token stands for. One asked for to read only does no more.
func SignInToken(ctx context.Context, repo *storage.Repo, token string) (*storage.Principal, error) {
	if token == "" || len(token) > maxTokenWord {
		return nil, errToken()
	}
	hash := secret.Hash(token)
	d, there, err := byTokens.row(ctx, repo, hash)
	if err == nil && !there {
		err = errToken()
	}
	if err != nil {
		return nil, err
	}
	p, err := principal(ctx, repo, d.User, errToken)
	if err != nil {
		return nil, err
	}
	as := p.While(storage.Proof{Kind: byDevice, Name: hash}, storage.Rows(storage.SecretKey(tokens, hash)))
	as.ReadOnly = strings.EqualFold(d.Permission, "Read") || strings.EqualFold(d.Permission, "r")
	return as, nil
}

// tokenStands reports whether the token of a hash is there.
func tokenStands(tx *storage.Tx, hash string) (bool, error) {
	there, err := tx.Secret(tokens).Row(hash)
	return there != nil, err
}
