package webhook

import (
	"catena/storage"
	"catena/storage/fault"
)

// Owned says whose a webhook is: one user's, and not that of another one who has the name later.
type Owned struct {
	Owner   string
	OwnerID int64 `json:",omitempty"` // 0 in rows of the time when only names were kept, whose owner has the name
}

// Is reports whether a principal is the owner.
func (o Owned) Is(p *storage.Principal) bool {
	return o.Owner == p.Name && (o.OwnerID == 0 || o.OwnerID == p.ID)
}

// Principal returns the owner as one who acts. It is an error of kind NotFound if the owner is gone, even if
// there is another user of the name.
func (o Owned) Principal(tx *storage.Tx) (*storage.Principal, error) {
	p, err := tx.PrincipalOf(o.Owner)
	if err == nil && !o.Is(p) {
		return nil, fault.NotFound.Errorf("user does not exist")
	}
	return p, err
}
