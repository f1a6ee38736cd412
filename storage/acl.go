package storage

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// ACE is one entry of an access control list.
type ACE struct {
	User, Permission string
	Granted          bool
	Creator          string
	Begin, End       time.Time // zero: unbounded
	Notify           bool
	Comment          string

	// Number says which of the users of that name is meant. The server gives it to entries that are set, and shows
	// it to nobody.
	Number int64 `json:",omitzero"`
}

// The states of an entry.
const (
	effective = "effective"
	pending   = "pending"
	archived  = "archived"
)

// ID returns the entry's identifier: user:permission:granted:creator:begin:end.
func (a ACE) ID() string {
	return fmt.Sprintf("%s:%s:%t:%s:%s:%s", a.User, a.Permission, a.Granted, a.Creator, millis(a.Begin), millis(a.End))
}

func millis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// Status returns effective, pending (it begins later) or archived (it has ended).
func (a ACE) Status(now time.Time) string {
	switch {
	case !a.Begin.IsZero() && now.Before(a.Begin):
		return pending
	case !a.End.IsZero() && !now.Before(a.End):
		return archived
	}
	return effective
}

// ACL is a named list of entries.
type ACL struct {
	Name    string // "local", "inherited", or any other
	Entries []ACE
}

// errDamagedList is in the chain of every error about access lists that are not what was written.
var errDamagedList = errors.New("is damaged")

// accessLists reads the lists kept under an id.
func (t *Tx) accessLists(id layout.ListID) ([]ACL, error) {
	c := &t.repo.access
	c.mu.RLock()
	lists, ok := c.lists[id]
	c.mu.RUnlock()
	if ok {
		return lists, nil
	}
	b, err := t.kv.Get(layout.ListKey(id))
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fault.Internal.Errorf("access list %x: missing: %w", id, errDamagedList)
	}
	if err := json.Unmarshal(b, &lists); err != nil {
		return nil, fault.Internal.Errorf("access list %x: %w: %w", id, errDamagedList, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lists) >= maxLists {
		clear(c.lists)
	}
	c.lists[id] = lists
	return lists, nil
}

// ownLists returns the lists set on a document itself.
func (t *Tx) ownLists(id layout.ListID) ([]ACL, error) {
	if id == (layout.ListID{}) {
		return nil, nil
	}
	return t.accessLists(id)
}

// ACLs returns the access lists that hold for d: its own, local first, then "inherited" with the entries
// of those above it, the nearest first, up to an entry that ends inheritance.
func (t *Tx) ACLs(d *Doc) ([]ACL, error) {
	if err := t.need(d, permReadSecurity); err != nil {
		return nil, err
	}
	own, up, err := t.accessOf(d)
	if err != nil {
		return nil, err
	}
	mine, err := t.ownLists(own)
	if err != nil {
		return nil, err
	}
	above, err := t.inherited(mine, up)
	if err != nil {
		return nil, err
	}
	out, h := make([]ACL, 0, len(mine)+1), t.identities()
	if err := h.ahead(mine, above); err != nil {
		return nil, err
	}
	for _, l := range mine {
		entries, err := h.present(l.Entries)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 {
			out = append(out, ACL{l.Name, entries})
		}
	}
	inherited := ACL{Name: "inherited"}
	for _, l := range above {
		entries, err := h.present(l.Entries)
		if err != nil {
			return nil, err
		}
		inherited.Entries = append(inherited.Entries, entries...)
	}
	if len(inherited.Entries) > 0 {
		out = append(out, inherited)
	}
	return out, nil
}

// inherited returns the lists of the folders above a document with lists of its own, the nearest first, up to one that ends
// inheritance.
func (t *Tx) inherited(mine []ACL, up *Folder) (above []ACL, err error) {
	if up == nil || ends(mine) {
		return nil, nil
	}
	for _, id := range up.acls {
		lists, err := t.accessLists(id)
		if err != nil {
			return nil, err
		}
		if above = append(above, lists...); ends(lists) {
			break
		}
	}
	return above, nil
}

// ends reports whether nothing after the lists can matter.
func ends(lists []ACL) bool {
	for _, l := range lists {
		for _, e := range l.Entries {
			if e.User == Everyone && e.Permission == "Everything" && !e.Granted && e.Begin.IsZero() && e.End.IsZero() {
				return true
			}
		}
	}
	return false
}

// SetACL replaces one of the access lists of d; no entries remove it. They are for those who have the names now, or
// have them next.
func (t *Tx) SetACL(d *Doc, name string, entries []ACE) (*Doc, error) {
	d, err := t.edit(d, permWriteSecurity)
	if err != nil {
		return nil, err
	}
	if name == "inherited" {
		return nil, fault.Invalid.Errorf("acl inherited: is derived from the ancestors' lists")
	}
	if name == "" {
		name = "local"
	}
	entries = slices.Clone(entries)
	h := t.identities()
	for i, e := range entries {
		if _, ok := permissions[e.Permission]; !ok {
			return nil, fault.Invalid.Errorf("permission %s: does not exist%s", e.Permission, fault.Perhaps(e.Permission, slices.Values(permissionNames))).In("permission")
		}
		if e.User == "" {
			return nil, fault.Invalid.Errorf("access entry: does not name a user or group").In("user")
		}
		entries[i].Begin, entries[i].End = e.Begin.Truncate(time.Millisecond), e.End.Truncate(time.Millisecond)
		if entries[i].Number, err = h.number(e.User); err != nil {
			return nil, err
		}
	}
	return t.setList(d, name, entries)
}

// setList replaces one of the access lists of a document by entries that are complete.
func (t *Tx) setList(d *Doc, name string, entries []ACE) (*Doc, error) {
	old, err := t.ownLists(d.acl)
	if err != nil {
		return nil, err
	}
	if err := t.fire(Event{Name: "beforeDocumentSecurityModification", Doc: d}); err != nil {
		return nil, err
	}
	lists := withList(old, ACL{name, entries})
	before := d.clone()
	if d.acl, err = t.keepLists(lists); err != nil {
		return nil, err
	}
	if d.acl == before.acl {
		return d, nil
	}
	if err := t.indexGrantees(d.id, old, lists, d.acl); err != nil {
		return nil, err
	}
	if err := t.placed(before, d); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "acl", Note: name}, d)
	return d, t.fire(Event{Name: "documentSecurityUpdated", Doc: d})
}

// RoutingList is the name of the access list by which those who have a task may see what it is about. It comes before
// all others: also where inheritance is blocked.
const RoutingList = "routing"

// firstLists come first, the last of them before the others.
var firstLists = []string{"local", RoutingList}

// withList returns lists with one of them replaced: that of tasks first, then local, then the others by name.
func withList(lists []ACL, l ACL) []ACL {
	var out []ACL
	for _, o := range lists {
		if o.Name != l.Name {
			out = append(out, o)
		}
	}
	if len(l.Entries) > 0 {
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b ACL) int {
		return cmp.Or(slices.Index(firstLists, b.Name)-slices.Index(firstLists, a.Name), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// keepLists stores access lists under the hash of their content.
func (t *Tx) keepLists(lists []ACL) (id layout.ListID, err error) {
	if len(lists) == 0 {
		return id, nil
	}
	b, err := json.Marshal(lists)
	if err != nil {
		return id, fault.Internal.Errorf("access list: %w", err)
	}
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	return id, t.kv.Set(layout.ListKey(id), b)
}

// indexGrantees keeps the rows that find the folders a user or group was granted something on.
func (t *Tx) indexGrantees(id layout.ID, before, after []ACL, acl layout.ListID) error {
	was, is := grantees(before), grantees(after)
	for who := range was {
		if !is[who] {
			if err := t.kv.Delete(layout.GranteeKey(who, id)); err != nil {
				return err
			}
		}
	}
	for who := range is {
		if err := t.kv.Set(layout.GranteeKey(who, id), acl[:]); err != nil {
			return err
		}
	}
	return nil
}

// grantedTo returns the documents that a user or group was granted something on, in order and at most so many: those
// after the one of an id, if one is given.
func (t *Tx) grantedTo(who, after string, most int) (ids []layout.ID, err error) {
	at := layout.GranteePrefix(who)
	r := prefix(at)
	r.KeysOnly, r.Limit = true, most
	if last, ok := layout.ParseID(after); ok {
		r.Start = append(append(slices.Clone(at), last[:]...), 0)
	}
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, layout.ID(row.Key[len(at):]))
	}
	return ids, nil
}

func grantees(lists []ACL) map[string]bool {
	out := map[string]bool{}
	for _, l := range lists {
		for _, e := range l.Entries {
			if e.Granted {
				out[e.User] = true
			}
		}
	}
	return out
}
