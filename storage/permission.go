package storage

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// permission is a set of permissions, one bit each. What a group permission includes is part of its
// set, so holding it means holding the bit that stands for the group itself.
type permission uint64

// The permissions that storage itself asks for: each by its own bit, without what it includes.
var (
	permRead            = bitOf("Read")
	permReadChildren    = bitOf("ReadChildren")
	permReadSecurity    = bitOf("ReadSecurity")
	permWriteProperties = bitOf("WriteProperties")
	permWriteSecurity   = bitOf("WriteSecurity")
	permWriteLifeCycle  = bitOf("WriteLifeCycle")
	permUnlock          = bitOf("Unlock")
	permAddChildren     = bitOf("AddChildren")
	permRemoveChildren  = bitOf("RemoveChildren")
	permRemove          = bitOf("Remove")
	permReadVersion     = bitOf("ReadVersion")
	permWriteVersion    = bitOf("WriteVersion")
)

func bitOf(name string) permission { return 1 << slices.Index(permissionNames, name) }

const everything permission = 1<<63 - 1

// permissionNames are all permissions; the position is the bit.
var permissionNames = []string{
	"AddChildren", "Browse", "CanAskForPublishing", "Comment", "DataVisualization", "Everything", "MakeRecord",
	"ManageLegalHold", "ManageWorkflows", "Moderate", "Read", "ReadCanCollect", "ReadChildren", "ReadLifeCycle",
	"ReadProperties", "ReadRemove", "ReadSecurity", "ReadVersion", "ReadWrite", "Remove", "RemoveChildren",
	"RestrictedRead", "ReviewParticipant", "SetRetention", "Unlock", "UnsetRetention", "Version", "Write",
	"WriteColdStorage", "WriteLifeCycle", "WriteProperties", "WriteSecurity", "WriteVersion",
}

// permissionGroups are the permissions that include others. Everything includes all.
var permissionGroups = map[string]string{
	"Moderate":       "Comment",
	"Read":           "Browse ReadChildren ReadLifeCycle ReadProperties ReadSecurity ReadVersion RestrictedRead",
	"ReadCanCollect": "Read",
	"ReadRemove":     "Read Remove",
	"ReadWrite":      "Read Write",
	"RestrictedRead": "Browse ReadChildren ReadLifeCycle ReadProperties ReadVersion",
	"Version":        "ReadVersion WriteVersion",
	"Write":          "AddChildren ManageWorkflows Remove RemoveChildren ReviewParticipant Version WriteLifeCycle WriteProperties WriteVersion",
}

// permissions are the sets that names stand for.
var permissions = expandPermissions()

func expandPermissions() map[string]permission {
	var expand func(name string) permission
	expand = func(name string) permission {
		set := bitOf(name)
		for _, part := range strings.Fields(permissionGroups[name]) {
			set |= expand(part)
		}
		return set
	}
	all := map[string]permission{}
	for _, name := range permissionNames {
		all[name] = expand(name)
	}
	all["Everything"] = everything
	return all
}

// PermissionNames returns the permissions that exist, by name.
func PermissionNames() []string { return slices.Clone(permissionNames) }

func (p permission) String() string {
	for i, name := range permissionNames {
		if p == 1<<i {
			return name
		}
	}
	return "Everything"
}

// verdict is what one access list decides for one principal, while from <= now < until (milliseconds). The
// period ends when the next entry begins or ends, so a cached verdict needs no timer.
type verdict struct {
	grant, deny permission
	from, until int64
}

// rights are the verdicts of access lists on one set of principals: a name and groups.
type rights struct {
	admin    bool
	who      map[string]bool // groups, and everyone
	name     string
	identity identity // of the name

	mu       sync.RWMutex
	verdicts map[layout.ListID]verdict
}

// accessCache keeps verdicts and the content of access lists, which never change under an id: the id is a
// hash of the content. So nothing has to be invalidated here when permissions change; documents then refer to
// another list.
type accessCache struct {
	mu     sync.RWMutex
	rights map[string]*rights
	lists  map[layout.ListID][]ACL
}

const (
	maxPrincipals = 10_000
	maxLists      = 50_000
)

// Everyone is the group that every user is in, guests too.
const Everyone = "Everyone"

func (c *accessCache) init() {
	c.rights, c.lists = map[string]*rights{}, map[layout.ListID][]ACL{}
}

// of returns the rights of a principal, shared by all that have the same name and groups.
func (c *accessCache) of(p *Principal) *rights {
	if p.Admin || p.System {
		return &administrator
	}
	key := p.Name + "\x00" + strconv.FormatInt(p.ID, 36) + "\x00" + strconv.FormatInt(p.former, 36) + "\x00" + strings.Join(p.Groups, "\x00")
	c.mu.RLock()
	r := c.rights[key]
	c.mu.RUnlock()
	if r != nil {
		return r
	}
	r = &rights{who: map[string]bool{Everyone: true}, name: p.Name, identity: identity{p.ID, p.former}, verdicts: map[layout.ListID]verdict{}}
	for _, g := range p.Groups {
		r.who[g] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rights) >= maxPrincipals {
		clear(c.rights)
	}
	c.rights[key] = r
	return r
}

var administrator = rights{admin: true}

// meant reports whether an entry is for the principal. One without a number is no user, and meant by its name.
func (r *rights) meant(e *ACE) bool {
	return r.who[e.User] || r.name != "" && r.name == e.User && (r.identity.number == 0 || r.identity.means(e.Number))
}

// verdict decides an access list at an instant.
func (r *rights) verdict(lists []ACL, now time.Time) verdict {
	at := now.UnixMilli()
	v := verdict{from: 0, until: 1<<63 - 1}
	bound := func(t time.Time) {
		switch ms := t.UnixMilli(); {
		case t.IsZero():
		case ms <= at:
			v.from = max(v.from, ms)
		default:
			v.until = min(v.until, ms)
		}
	}
	for _, l := range lists {
		for _, e := range l.Entries {
			if !r.meant(&e) {
				continue
			}
			bound(e.Begin)
			bound(e.End)
			if e.Status(now) != effective {
				continue
			}
			// The first entry that names a permission decides about it; a later one only adds what is
			// undecided.
			fresh := permissions[e.Permission] &^ (v.grant | v.deny)
			if e.Granted {
				v.grant |= fresh
			} else {
				v.deny |= fresh
			}
		}
	}
	return v
}

// verdict returns what the access list decides for the transaction's principal. A list that is damaged grants
// nothing and ends the walk; if the store fails, so does the transaction, for nobody was refused anything.
func (t *Tx) verdict(id layout.ListID) verdict {
	r, at := t.rights, t.now.UnixMilli()
	r.mu.RLock()
	v, ok := r.verdicts[id]
	r.mu.RUnlock()
	if ok && v.from <= at && at < v.until {
		return v
	}
	lists, err := t.accessLists(id)
	if err != nil {
		if errors.Is(err, errDamagedList) || errors.Is(err, kv.ErrDamaged) {
			t.repo.log.Error("access list cannot be read", "acl", id, "err", err)
		} else {
			t.Fail(err)
		}
		// Whatever the reason, an access list that cannot be read grants nothing.
		return verdict{deny: everything}
	}
	v = r.verdict(lists, t.now)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.verdicts) >= maxLists {
		clear(r.verdicts)
	}
	r.verdicts[id] = v
	return v
}

// granted walks from a document's own access list up: the first list that decides about the permission does.
// Without any decision the answer is no.
func (t *Tx) granted(own layout.ListID, up *Folder, p permission) bool {
	if t.rights.admin {
		return true
	}
	if own != (layout.ListID{}) {
		if v := t.verdict(own); (v.grant|v.deny)&p == p {
			return v.grant&p == p
		}
	}
	if up == nil {
		return false
	}
	for _, id := range up.acls {
		if v := t.verdict(id); (v.grant|v.deny)&p == p {
			return v.grant&p == p
		}
	}
	return false
}

func (t *Tx) can(d *Doc, p permission) bool { return t.granted(d.acl, d.up, p) }

// need is an error unless the principal has the permission on d.
func (t *Tx) need(d *Doc, p permission) error {
	if t.can(d, p) {
		return nil
	}
	return fault.Denied.Errorf("Privilege '%s' is not granted to '%s'", p, t.as.Name)
}

// Can reports whether the principal has a permission on d, as access lists have it now. Locks
// and the scope of a key do not count here.
func (t *Tx) Can(d *Doc, permission string) bool {
	i := slices.Index(permissionNames, permission)
	if i < 0 {
		return false
	}
	own, up, err := t.accessOf(d)
	if err != nil {
		t.unanswered(err)
		return false
	}
	return t.granted(own, up, 1<<i)
}

// unanswered makes the transaction fail if a permission could not be looked up, so that nobody takes that for a refusal. On
// documents that are gone there are none.
func (t *Tx) unanswered(err error) {
	if !fault.Is(err, fault.NotFound) {
		t.Fail(err)
	}
}

// Permissions returns the names of the permissions the principal has on d.
func (t *Tx) Permissions(d *Doc) []string {
	own, up, err := t.accessOf(d)
	if err != nil {
		t.unanswered(err)
		return nil
	}
	if h := &t.held; h.names != nil && h.own == own && h.up == up && !t.kv.Writable() {
		return h.names // most documents of a list are in one folder
	}
	names := make([]string, 0, len(permissionNames))
	for i, name := range permissionNames {
		if t.granted(own, up, 1<<i) {
			names = append(names, name)
		}
	}
	t.held = held{own, up, names}
	return names
}

// held are the permissions on documents with one access list in one folder.
type held struct {
	own   layout.ListID
	up    *Folder
	names []string
}

// accessOf returns the access list and parent of d as they are now, or as they were when the transaction erased it.
func (t *Tx) accessOf(d *Doc) (layout.ListID, *Folder, error) {
	if !d.saved || d.erased || !t.kv.Writable() && d.seen == t.kv.Version() {
		return d.acl, d.up, nil
	}
	n, err := t.node(d.id)
	if err != nil || n == nil {
		return layout.ListID{}, nil, cmp.Or[error](err, notFound(d.Ref()))
	}
	if d.id == t.repo.root {
		return n.acl, nil, nil
	}
	up, err := t.folder(n.parent)
	if err == nil && up == nil {
		err = notFound(d.Ref())
	}
	return n.acl, up, err
}

// Implies reports whether holding one permission means holding another.
func Implies(held, asked string) bool {
	all := permissions[asked]
	return held == asked || held == "Everything" || all != 0 && permissions[held]&all == all
}
