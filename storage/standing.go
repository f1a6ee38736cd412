package storage

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// Whoever signed in acts as long as what they signed in by is good and as a member of the groups
// they are in by now, however long the request takes. So every transaction looks again, in its own
// snapshot: a key that is revoked, a session that ends, a user who goes or leaves a group while a
// request is under way counts from then on. A writing transaction that loses the race runs again
// and is refused.

// standing is what a principal who signed in acts by.
type standing struct {
	epoch []byte // of the memberships when the groups were read
	good  func(t *Tx, name string) (bool, error)
}

// Proof is what somebody signed in by, as it can be kept: a kind, and what one of the kind is found by, which
// nobody signs in with. The zero value is nothing that ends.
type Proof struct{ Kind, Name string }

// membersKey holds the epoch of the memberships, which every change of them renews.
var membersKey = []byte{layout.MemberSpace, layout.MemberEpoch}

// regrouped has all who act look up anew which groups they are in.
func (t *Tx) regrouped() error {
	epoch := make([]byte, 8)
	rand.Read(epoch)
	t.AfterCommit(t.repo.people.drop)
	return t.kv.Set(membersKey, epoch)
}

// While returns a principal who acts as long as good says so of the name of a proof.
func (p *Principal) While(by Proof, good func(t *Tx, name string) (bool, error)) *Principal {
	as := *p
	as.By, as.standing.good = by, good
	return &as
}

// ErrEnded refuses who signed in by what is no longer good.
var ErrEnded = fault.Denied.Errorf("sign-in: is no longer valid").WithCode(fault.CodeNotSignedIn)

// acting returns who acts as of the transaction.
func (t *Tx) acting(as *Principal) (*Principal, error) {
	if as.standing.epoch == nil {
		return as, nil
	}
	if as.standing.good != nil {
		if ok, err := as.standing.good(t, as.By.Name); err != nil || !ok {
			return nil, cmp.Or[error](err, ErrEnded)
		}
	}
	epoch, err := t.memberEpoch()
	if err != nil || bytes.Equal(epoch, as.standing.epoch) {
		return as, err
	}
	now, err := t.PrincipalOf(as.Name)
	if fault.Is(err, fault.NotFound) || err == nil && now.ID != as.ID {
		err = ErrEnded
	}
	if err != nil || slices.Equal(now.Groups, as.Groups) {
		return as, err
	}
	p := *as
	p.Groups, p.Admin, p.standing.epoch = now.Groups, now.Admin, epoch
	return &p, nil
}

// memberEpoch returns the epoch of the memberships, which is never nil.
func (t *Tx) memberEpoch() ([]byte, error) {
	epoch, err := t.kv.Get(membersKey)
	if epoch == nil {
		epoch = []byte{}
	}
	return epoch, err
}
