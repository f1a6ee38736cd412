package credential

import (
	"cmp"

	"catena/storage"
)

// Actor says for whom work is done that goes on after the request, and what the user who asked for it signed in by,
// so that it can be kept.
type Actor struct {
	User   string
	UserID int64
	KeyID  int64         `json:",omitempty"` // 0: none
	By     storage.Proof `json:",omitzero"`  // none in rows of the time when only keys were kept
}

// ActorOf returns a principal as an actor.
func ActorOf(p *storage.Principal) Actor { return Actor{p.Name, p.ID, p.KeyID, p.By} }

// Is reports whether the actor is a principal's user.
func (a Actor) Is(p *storage.Principal) bool { return a.User == p.Name && a.UserID == p.ID }

// Principal returns the actor as one who acts in a transaction, which fails to commit if that ends meanwhile.
// It is an error if the user is gone, even if there is another one of the name, or if what was signed in by has ended.
func (a Actor) Principal(tx *storage.Tx) (*storage.Principal, error) {
	p, err := storage.PrincipalOf(tx, a.User)
	if err != nil {
		return nil, err
	}
	if !a.Is(p) {
		return nil, storage.ErrNoUser(a.User)
	}
	p.KeyID, p.By = a.KeyID, a.By
	if ok, err := a.stands(tx); err != nil || !ok {
		return nil, cmp.Or[error](err, storage.ErrEnded)
	}
	return p, nil
}

const (
	byDevice   = "device"
	byKey      = "key"
	byPassword = "password"
	bySession  = "session"
)

func (a Actor) stands(tx *storage.Tx) (bool, error) {
	switch {
	case a.By.Kind != "":
		return storage.Proven(tx, a.By)
	case a.KeyID != 0:
		return KeyStands(tx, a.KeyID)
	}
	return a.By == storage.Proof{}, nil
}
