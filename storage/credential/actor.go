package credential

import (
	"cmp"

	"catena/storage"
	"catena/storage/fault"
)

// Actor says for whom work is done that goes on after the request, and by which API key it was asked for,
// so that it can be kept.
type Actor struct {
	User   string
	UserID int64
	KeyID  int64 `json:",omitempty"` // 0: none
}

// ActorOf returns a principal as an actor.
func ActorOf(p *storage.Principal) Actor { return Actor{p.Name, p.ID, p.KeyID} }

// Is reports whether the actor is a principal's user.
func (a Actor) Is(p *storage.Principal) bool { return a.User == p.Name && a.UserID == p.ID }

// Principal returns the actor as one who acts in a transaction, which fails to commit if that ends meanwhile.
// It is an error if the user is gone, even if there is another one of the name, or if the key has ended.
func (a Actor) Principal(tx *storage.Tx) (*storage.Principal, error) {
	p, err := tx.PrincipalOf(a.User)
	if err != nil {
		return nil, err
	}
	if !a.Is(p) {
		return nil, fault.NotFound.Errorf("user does not exist")
	}
	if p.KeyID = a.KeyID; a.KeyID == 0 {
		return p, nil
	}
	if ok, err := KeyStands(tx, a.KeyID); err != nil || !ok {
		return nil, cmp.Or(err, errKey())
	}
	return p, nil
}
