package storage

import (
	"strconv"
)

// Owned says whose something is that is kept: one user's, and not that of another one who has the name later.
type Owned struct {
	Owner   string
	OwnerID int64 `json:",omitempty"` // 0 in rows of the time when only names were kept, whose owner has the name
}

// OwnedBy is what is a principal's.
func OwnedBy(p *Principal) Owned { return Owned{p.Name, p.ID} }

// Is reports whether a principal is the owner.
func (o Owned) Is(p *Principal) bool {
	return o.Owner == p.Name && (o.OwnerID == 0 || o.OwnerID == p.ID)
}

// Identity is the owner's.
func (o Owned) Identity() string { return o.Owner + "#" + strconv.FormatInt(o.OwnerID, 10) }

// Principal returns the owner as one who acts. It is an error of kind NotFound if the owner is gone, even if
// there is another user of the name.
func (o Owned) Principal(tx *Tx) (*Principal, error) {
	p, err := tx.PrincipalOf(o.Owner)
	if err == nil && !o.Is(p) {
		return nil, noUser()
	}
	return p, err
}
