package storage

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"sync"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// Principal is who acts.
type Principal struct {
	Name     string
	ID       int64    // the number of the user, which no other user ever gets; 0 for who is none
	Groups   []string // transitive, with "members" for everyone who signed in
	Admin    bool     // member of administrators, or the system
	System   bool     // the server itself; audit shows Actor
	Actor    string   // the originating user when Name is not
	ReadOnly bool     // signed in by a key of read-only scope: writes are refused
	KeyID    int64    // the API key used, or 0
	By       Proof    // what was signed in by
	Revision string   // deck revision pinned by the key: "", "A", "B"

	former int64          // the number of the last user of the name who is gone
	auth   authentication // of somebody who signed in
}

// PowerUsers is the group of those who look after people and directories.
const PowerUsers = "powerusers"

// The groups and the user that every repository has.
const (
	Administrators    = "administrators"
	Members           = "members"
	AdministratorName = "Administrator"
	SystemName        = "system"
	GuestName         = "Guest"
)

// PerhapsGroup suggests, behind the message about a name that nobody has, the group that every repository has and
// that was probably meant. What other groups there are is not told.
func PerhapsGroup(name string) string {
	return fault.Perhaps(name, slices.Values([]string{Administrators, Everyone, Members, PowerUsers}))
}

// Is reports whether the principal is an administrator, or one of these users or in one of these groups.
func (p *Principal) Is(names ...string) bool {
	return p.Admin || p.System || slices.ContainsFunc(names, func(name string) bool {
		return name == Everyone || name == p.Name && name != "" || slices.Contains(p.Groups, name)
	})
}

// Identity says whose something is that is kept: a user made again under the name of one who is gone is
// somebody else.
func (p *Principal) Identity() string { return OwnedBy(p).Identity() }

// System returns the server itself, which may do everything.
func (r *Repo) System() *Principal {
	return &Principal{Name: SystemName, System: true, Admin: true, Groups: []string{Administrators}}
}

// Guest is somebody who did not sign in and opens what is for everyone: in no group, not a
// user, and named by no access list but those for Everyone.
func Guest() *Principal { return &Principal{Name: GuestName} }

// peopleCache holds principals until a user or group changes.
type peopleCache struct {
	mu         sync.Mutex
	generation uint64
	byName     map[string]cachedPrincipal
}

type cachedPrincipal struct {
	p     *Principal
	until time.Time
}

const peopleKept = time.Minute

func (c *peopleCache) init() { c.byName = map[string]cachedPrincipal{} }

func (c *peopleCache) get(name string) (p *Principal, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byName[name]; ok && time.Now().Before(e.until) {
		return e.p, c.generation
	}
	return nil, c.generation
}

// put keeps a principal unless somebody changed since the generation it was read in.
func (c *peopleCache) put(p *Principal, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return
	}
	if len(c.byName) >= maxPrincipals {
		clear(c.byName)
	}
	c.byName[p.Name] = cachedPrincipal{p, time.Now().Add(peopleKept)}
}

func (c *peopleCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	clear(c.byName)
}

// forget removes what is kept of a principal, if it is still what was found to be out of date.
func (c *peopleCache) forget(p *Principal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byName[p.Name]; ok && bytes.Equal(e.p.auth.epoch, p.auth.epoch) {
		delete(c.byName, p.Name)
	}
}

type rememberingKey struct{}

// Remembering returns a context in which a caller is who was signed in a moment ago, without a look at what other processes may have
// changed since. Whatever the caller is then shown must come from a transaction that succeeds, because each one looks again (acting).
// If none does, the caller has to be signed in once more without it.
func Remembering(ctx context.Context) context.Context {
	return context.WithValue(ctx, rememberingKey{}, true)
}

// Remembers reports whether what is remembered of who signs in is good enough: no other process can have changed it, or the caller finds
// that out later.
func (r *Repo) Remembers(ctx context.Context) bool {
	return !r.shared || ctx.Value(rememberingKey{}) != nil
}

// Principal returns a user as one who acts as long as the user is there; the result is shared and
// not changed. What is remembered is compared with the store if other processes may have changed it.
func (r *Repo) Principal(ctx context.Context, user string) (*Principal, error) {
	p, generation := r.people.get(user)
	if p != nil && r.Remembers(ctx) {
		return p, nil
	}
	err := r.View(ctx, r.System(), func(t *Tx) error {
		if err := SignInAhead(t, kv.Asked{}); err != nil {
			return err
		}
		epoch, err := t.memberEpoch()
		if err != nil || p != nil && bytes.Equal(epoch, p.auth.epoch) {
			return err
		}
		if p, err = PrincipalOf(t, user); err == nil {
			p.auth.epoch = epoch
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r.people.put(p, generation)
	return p, nil
}

// PrincipalOf returns a user as one who acts, with all groups the user is in, directly or not.
func PrincipalOf(t *Tx, user string) (*Principal, error) {
	var u userRow
	if ok, err := t.Table(layout.UserTable).Get(user, &u); err != nil || !ok {
		return nil, cmp.Or(err, ErrNoUser(user))
	}
	direct, err := t.members(layout.MemberOf, u.Username)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(direct, Members) {
		direct = append(direct, Members)
	}
	groups, err := t.groupsAbove(direct)
	if err != nil {
		return nil, err
	}
	p := &Principal{Name: u.Username, ID: u.ID, Groups: groups, Admin: slices.Contains(groups, Administrators)}
	_, err = t.Table(formerTable).Get(user, &p.former)
	return p, err
}

// userRow is what principals need to know of the row of a user.
type userRow struct {
	ID       int64
	Username string
}

// NumberOf returns the number of a user, 0 if there is none of the name.
func NumberOf(t *Tx, user string) (int64, error) {
	if user == t.as.Name {
		return t.as.ID, nil
	}
	var u userRow
	_, err := t.Table(layout.UserTable).Get(user, &u)
	return u.ID, err
}

// groupsAbove returns groups with all that contain them.
func (t *Tx) groupsAbove(groups []string) ([]string, error) {
	all := slices.Clone(groups)
	for i := 0; i < len(all); i++ {
		above, err := t.members(layout.Supergroup, all[i])
		if err != nil {
			return nil, err
		}
		for _, g := range above {
			if !slices.Contains(all, g) {
				all = append(all, g)
			}
		}
	}
	return all, nil
}

// ErrNoUser is the error for a user who does not exist.
func ErrNoUser(name string) error { return fault.NotFound.Errorf("user does not exist: %s", name) }

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

// HasPredecessor reports whether somebody who is gone had the user's name before.
func (p *Principal) HasPredecessor() bool { return p.former != 0 }

// Identity is the owner's.
func (o Owned) Identity() string { return o.Owner + "#" + strconv.FormatInt(o.OwnerID, 10) }

// Principal returns the owner as one who acts. It is an error of kind NotFound if the owner is gone, even if
// there is another user of the name.
func (o Owned) Principal(tx *Tx) (*Principal, error) {
	p, err := PrincipalOf(tx, o.Owner)
	if err == nil && !o.Is(p) {
		return nil, ErrNoUser(o.Owner)
	}
	return p, err
}

// Acting returns the owner as one who acts, of a row that is kept for later: the server, for actor, if it is its own.
func (o Owned) Acting(tx *Tx, actor string) (*Principal, error) {
	if system := tx.repo.System(); o.Owner == system.Name {
		system.Actor = actor
		return system, nil
	}
	return o.Principal(tx)
}

// memberRows are the rows of one side of a membership.
func memberRows(kind byte, of string) kv.Range {
	r := prefix(layout.MemberPrefix(kind, of))
	r.KeysOnly = true
	return r
}

// members reads one side of a membership.
func (t *Tx) members(kind byte, of string) (names []string, err error) {
	at, r := layout.MemberPrefix(kind, of), memberRows(kind, of)
	if err := t.kv.Prefetch(nil, r); err != nil { // remembered, since the same is read for each of many documents
		return nil, err
	}
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return nil, err
		}
		name, _, err := kv.DecodeString(row.Key[len(at):])
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// Anyone who signed in acts as long as what they signed in by is good and as a member of the groups
// they are in now, however long the request takes. So every transaction looks again, in its own
// snapshot: a key that is revoked, a session that ends, a user who goes or leaves a group while a
// request is under way counts from then on. A writing transaction that loses the race runs again
// and is refused.

// authentication is what a principal who signed in acts by.
type authentication struct {
	epoch  []byte   // of the memberships when the groups were read
	proven bool     // only as long as By is good
	rows   kv.Asked // that say so, as far as they are known
}

// Proof is what somebody signed in by, as it can be kept: a kind, and what one of the kind is found by, which
// nobody signs in with. The zero value is nothing that ends.
type Proof struct{ Kind, Name string }

// membersKey holds the epoch of the memberships, which every change of them renews.
var membersKey = []byte{layout.MemberSpace, layout.MemberEpoch}

// regrouped has all who act look up again which groups they are in.
func (t *Tx) regrouped() error {
	epoch := make([]byte, 8)
	rand.Read(epoch)
	t.AfterCommit(t.repo.people.drop)
	return t.kv.Set(membersKey, epoch)
}

// Ends says that the transaction ends what others act by, such as a key: none of those that are under way is committed after it without
// having run again.
func Ends(t *Tx) { t.kv.Strict() }

// While returns a principal who acts as long as a proof is good. Rows are what says that it is: a store across a network is
// asked for them together with the rest that every transaction reads.
func (p *Principal) While(by Proof, rows kv.Asked) *Principal {
	as := *p
	as.By, as.auth.proven, as.auth.rows = by, true, rows
	return &as
}

// Proven reports whether a proof is good now, as the owner of its kind says; one of a kind that nobody knows is not.
func Proven(t *Tx, by Proof) (bool, error) {
	for _, o := range t.repo.owners {
		if good := o.Proofs[by.Kind]; good != nil {
			return good(t, by.Name)
		}
	}
	return false, nil
}

// ErrEnded refuses who signed in by what is no longer good.
var ErrEnded = fault.Denied.Errorf("sign-in: is no longer valid").WithCode(fault.CodeNotSignedIn)

// acting returns who acts as of the transaction.
func (t *Tx) acting(as *Principal) (*Principal, error) {
	if as.auth.epoch == nil {
		return as, nil
	}
	if err := t.usualAhead(as.auth.rows); err != nil {
		return nil, err
	}
	if as.auth.proven {
		if ok, err := Proven(t, as.By); err != nil || !ok {
			return nil, cmp.Or[error](err, ErrEnded)
		}
	}
	epoch, err := t.memberEpoch()
	if err != nil || bytes.Equal(epoch, as.auth.epoch) {
		return as, err
	}
	if t.repo.shared {
		t.repo.people.forget(as) // or each transaction of a request that remembers the caller would find this out
	}
	now, err := PrincipalOf(t, as.Name)
	if fault.Is(err, fault.NotFound) || err == nil && now.ID != as.ID {
		err = ErrEnded
	}
	if err != nil || slices.Equal(now.Groups, as.Groups) {
		return as, err
	}
	p := *as
	p.Groups, p.Admin, p.auth.epoch = now.Groups, now.Admin, epoch
	return &p, nil
}

// usualAhead has a store across a network fetch in one round trip what nearly every transaction asks for, the rows that say whether its
// principal may act among them.
func (t *Tx) usualAhead(rows kv.Asked) error {
	if !t.kv.Remote() {
		return nil
	}
	ahead := t.predicted()
	keys := slices.Concat(t.expected(), t.usual(), rows.Keys, ahead.Keys)
	if t.kv.Writable() {
		keys = slices.Concat(keys, writtenKeys, t.repo.ownReads)
	}
	return t.kv.Prefetch(keys, slices.Concat(rows.Ranges, ahead.Ranges)...)
}

// memberEpoch returns the epoch of the memberships, which is never nil.
func (t *Tx) memberEpoch() ([]byte, error) {
	epoch, err := t.kv.Get(membersKey)
	if epoch == nil {
		epoch = []byte{}
	}
	return epoch, err
}
