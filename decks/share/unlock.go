package share

import (
	"crypto/subtle"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/credential"
)

// unlock compares the password. Wrong ones are a result and not an error: the page asks again.
func (p openShareParams) unlock(c *engine.Ctx, d *storage.Doc, l *link) (locked map[string]any, err error) {
	if l.Password == "" || subtle.ConstantTimeCompare([]byte(p.Pass), []byte(l.pass(c.Tx, d.ID()))) == 1 {
		return nil, nil
	}
	if p.Password == "" {
		return map[string]any{"locked": "password_required"}, nil
	}
	// No link can have such a password, so it is not hashed at the expense of the server.
	if len(p.Password) > maxPassword {
		return map[string]any{"locked": "wrong_password"}, nil
	}
	ok, wait, err := credential.GuessPassword(credential.WithClient(c, c.Remote(), ""), c.Tx.Repo(), l.Password, p.Password)
	switch {
	case err != nil || ok:
		return nil, err
	// Rounded up: a client that waits as long as it was told must not be refused again.
	case wait > 0:
		return map[string]any{"locked": "too_many_tries", "retry_after": int64((wait + time.Second - 1) / time.Second)}, nil
	}
	return map[string]any{"locked": "wrong_password"}, nil
}
