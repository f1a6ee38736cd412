package decks

import (
	"crypto/subtle"
	"time"

	"catena/engine"
	"catena/storage"
)

func either(err error, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// unlock compares the password, and counts wrong ones, which the transaction has to keep:
// that is why they are a result and not an error.
func (p openShareParams) unlock(c *engine.Ctx, d *storage.Doc, l *link) (locked map[string]any, err error) {
	if l.Password == "" || subtle.ConstantTimeCompare([]byte(p.Pass), []byte(l.pass(c.Tx, d.ID()))) == 1 {
		return nil, nil
	}
	if p.Password == "" {
		return map[string]any{"locked": "password_required"}, nil
	}
	since := c.Now.Sub(l.TriesFrom)
	if since >= tryWindow {
		l.Tries, l.TriesFrom, since = 0, c.Now, 0
	}
	if l.Tries >= maxTries {
		return map[string]any{"locked": "too_many_tries", "retry_after": int64((tryWindow-since)/time.Second) + 1}, nil
	}
	ok := false
	if len(p.Password) <= maxPassword {
		if ok, err = c.Tx.Repo().PasswordMatches(c, l.Password, p.Password); err != nil {
			return nil, err
		}
	}
	if ok {
		return nil, nil
	}
	l.Tries++
	return map[string]any{"locked": "wrong_password"}, l.save(c, d)
}
