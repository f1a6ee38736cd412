package storage

import (
	"context"
	"slices"
	"strings"

	"catena/storage/internal/layout"
	"catena/storage/internal/prefetch"
	"catena/storage/kv"
)

// Entries of access lists name users, and a name may have had several users, one after the other. So an entry says
// with a number whom it is for: one made again under the name gets nothing of what was granted before, from the moment
// on at which the one before is gone. What is left of that is removed by jobs.

// formerTable has the number of the last user of a name who is gone, by the name.
const formerTable = "former users"

// identity is who has a name.
type identity struct {
	number int64 // of the user; 0: there is none
	former int64 // of the last user before; 0: there was none
}

func (t *Tx) identityOf(name string) (h identity, err error) {
	if name == Everyone {
		return h, nil
	}
	var u userRow
	if _, err = t.Table(layout.UserTable).Get(name, &u); err != nil {
		return h, err
	}
	h.number = u.ID
	_, err = t.Table(formerTable).Get(name, &h.former)
	return h, err
}

// means reports whether an entry that has the name is for whom it stands for. Its number is the user's, or, if it was made
// while nobody had the name, that of the last who had, below zero: 0 is for the first of the name, and for groups.
func (h identity) means(number int64) bool {
	if number > 0 {
		return number == h.number
	}
	return h.former == -number
}

// identities knows those that the entries of some access lists name.
type identities struct {
	t  *Tx
	of map[string]identity
}

// identities are those that were looked up; a transaction that only reads looks each up once.
func (t *Tx) identities() identities {
	if t.kv.Writable() {
		return identities{t, map[string]identity{}}
	}
	if t.known == nil {
		t.known = map[string]identity{}
	}
	return identities{t, t.known}
}

func (h identities) find(name string) (identity, error) {
	if known, ok := h.of[name]; ok {
		return known, nil
	}
	found, err := h.t.identityOf(name)
	if err == nil {
		h.of[name] = found
	}
	return found, err
}

// ahead has a store across a network fetch what find and group ask for about those that access lists name.
func (h identities) ahead(own, above []ACL) error {
	if !h.t.kv.Remote() {
		return nil
	}
	return h.t.kv.Prefetch(h.keys(slices.Concat(own, above)))
}

// keys are the rows that find and group ask for about those whom access lists name.
func (h identities) keys(lists []ACL) (keys [][]byte) {
	asked := map[string]bool{Everyone: true}
	for _, l := range lists {
		for _, e := range l.Entries {
			if _, known := h.of[e.User]; known || asked[e.User] || e.User == "" || len(e.User) > maxTableKey {
				continue
			}
			asked[e.User] = true
			for _, table := range []string{layout.UserTable, formerTable, layout.GroupTable} {
				keys = append(keys, layout.TableKey(layout.TableSpace, table, e.User))
			}
		}
	}
	return keys
}

// present returns those of the entries that are for somebody who can have the name, without the numbers.
func (h identities) present(entries []ACE) ([]ACE, error) {
	var out []ACE
	for _, e := range entries {
		ok, err := h.current(e)
		if err != nil {
			return nil, err
		}
		if e.Number = 0; ok {
			out = append(out, e)
		}
	}
	return out, nil
}

// current reports whether an entry is for somebody who can have the name.
func (h identities) current(e ACE) (bool, error) {
	who, err := h.find(e.User)
	if err != nil || who.means(e.Number) {
		return true, err
	}
	return h.group(e.User)
}

// group reports whether a name is that of a group.
func (h identities) group(name string) (bool, error) {
	raw, err := h.t.Table(layout.GroupTable).Row(name)
	return raw != nil, err
}

// number returns the number for an entry that is made now.
func (h identities) number(name string) (int64, error) {
	who, err := h.find(name)
	if err != nil || who.number != 0 || who.former == 0 {
		return who.number, err
	}
	group, err := h.group(name)
	if err != nil || group {
		return 0, err
	}
	return -who.former, nil
}

// removeGone removes the entries of a document that name a user and are for nobody.
func (t *Tx) removeGone(h identities, id layout.ID, user string) error {
	d, err := t.load(id)
	if err != nil || d == nil {
		return err
	}
	lists, err := t.ownLists(d.acl)
	if err != nil {
		return err
	}
	for _, l := range lists {
		left := make([]ACE, 0, len(l.Entries))
		for _, e := range l.Entries {
			ok := e.User != user
			if !ok {
				if ok, err = h.current(e); err != nil {
					return err
				}
			}
			if ok {
				left = append(left, e)
			}
		}
		if len(left) == len(l.Entries) {
			continue
		}
		if d, err = t.setList(d, l.Name, slices.Clip(left)); err != nil {
			return err
		}
	}
	return nil
}

// removeGrants removes what is no longer for anybody from the access lists of some documents that name a user, those
// after one of them, and returns the last of these; "" if there were none.
func (t *Tx) removeGrants(user, after string, most int) (last string, err error) {
	ids, err := t.grantedTo(user, after, most)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	h := t.identities()
	for _, id := range ids {
		if err := t.removeGone(h, id, user); err != nil {
			return "", err
		}
	}
	return ids[len(ids)-1].String(), nil
}

// Joined is what views that find out who makes a request share with the one that answers it: its zero value is ready.
type Joined struct {
	kv.Join
	Alone bool // the request is for the expected document alone: what queries begin with is not asked for ahead

	request prefetch.Request
	ahead   kv.Asked // what it will probably ask for
	calls   bool     // the next view is that which answers it
	repo    *Repo
	bound   uint64 // as in session, before the first view began
	settled int64
}

type joinedKey struct{}

// Joining returns a context whose views see one state, unless that takes long, and are read together, in one round trip, with the
// document ref, if it is not "", and with what requests that are like this one have asked for before, if it is said what it is like.
// Their functions may run again. The store must be shared.
func (r *Repo) Joining(ctx context.Context, j *Joined, ref Ref, like ...string) context.Context {
	j.repo, j.bound, j.settled = r, r.backlog.bound.Load(), r.feed.settled.Load()
	if len(like) > 0 {
		id := r.probably(ref)
		if id == layout.None {
			like = append(like, string(ref))
		}
		j.request = r.requests.Request(prefetch.ID(id), like...)
		j.ahead = r.requests.Ahead(&j.request)
	}
	return r.Expecting(context.WithValue(j.Context(ctx, false), joinedKey{}, j), ref)
}

// probably returns the document that a reference names, as far as that is known without looking; none if it is not.
func (r *Repo) probably(ref Ref) layout.ID {
	path, id, ok := r.parseRef(ref)
	if !ok || path == "" {
		return id
	}
	if known := r.tree.Load(); known != nil {
		if f := known.at(path); f != nil {
			return f.id
		}
	}
	return layout.None
}

// predicted is what the request of a view will probably ask for, once.
func (t *Tx) predicted() (ahead kv.Asked) {
	if j, ok := t.ctx.Value(joinedKey{}).(*Joined); ok && j.repo == t.repo.Repo && !t.kv.Writable() {
		ahead, j.ahead = j.ahead, kv.Asked{}
	}
	return ahead
}

// learn notes what a request has asked for once who makes it was found out.
func (r *Repo) learn(ctx context.Context, k *kv.Tx) {
	if !r.shared {
		return
	}
	if j, ok := ctx.Value(joinedKey{}).(*Joined); ok && j.repo == r && j.calls {
		if late, ok := k.Late(); ok {
			r.requests.Learn(&j.request, late)
		}
	}
}

// Last returns a context in which one more view sees that state, whose function may also run again.
func (j *Joined) Last(ctx context.Context) context.Context {
	j.calls = j.request != prefetch.Request{}
	return context.WithValue(j.Context(ctx, true), joinedKey{}, j)
}

// before returns what View has to know from before its snapshot.
func (r *Repo) before(ctx context.Context) (bound uint64, settled int64) {
	if r.shared {
		if j, ok := ctx.Value(joinedKey{}).(*Joined); ok && j.repo == r {
			return j.bound, j.settled
		}
	}
	return r.backlog.bound.Load(), r.feed.settled.Load()
}

// SignInAhead has a store across a network fetch in one round trip what says who signs in, with what nearly every transaction
// asks for and the document that is expected.
func SignInAhead(t *Tx, rows kv.Asked) error {
	if !t.kv.Remote() {
		return nil
	}
	ahead := t.predicted()
	if keys := t.expected(); keys != nil || len(ahead.Keys)+len(ahead.Ranges) > 0 {
		rows.Keys = slices.Concat(rows.Keys, keys, t.usual(), ahead.Keys)
		rows.Ranges = slices.Concat(rows.Ranges, ahead.Ranges)
	} else {
		rows = rows.And(Rows(membersKey))
	}
	return t.kv.Prefetch(rows.Keys, rows.Ranges...)
}

// usualKeys are those that nearly every transaction asks for, loneKeys those of one that reads a document, and writtenKeys those that
// nearly every one asks for that writes.
var (
	usualKeys   = [][]byte{membersKey, epochKey, automaticKey, indexesKey, declaredKey}
	loneKeys    = usualKeys[:2]
	writtenKeys = [][]byte{awaitedKey}
)

// usual are the keys that the transaction is expected to ask for, whatever it does.
func (t *Tx) usual() [][]byte {
	if j, ok := t.ctx.Value(joinedKey{}).(*Joined); ok && j.Alone && !t.kv.Writable() {
		return loneKeys
	}
	return usualKeys
}

// expectedRef is the key of what a context says that its transactions begin with.
type expectedRef struct{}

// Expecting returns a context whose transactions will probably begin with a document. Where the store is across a network, its rows
// are then fetched together with those that say who the caller is, instead of after them. It changes no result.
func (r *Repo) Expecting(ctx context.Context, ref Ref) context.Context {
	if !r.shared || ref == "" {
		return ctx
	}
	return context.WithValue(ctx, expectedRef{}, ref)
}

// expected are the keys of what the transaction will probably read first. Where a path leads is guessed from the folders that are
// known, which may be outdated: what is read then is what is there.
func (t *Tx) expected() [][]byte {
	ref, ok := t.ctx.Value(expectedRef{}).(Ref)
	if !ok {
		return nil
	}
	path, id, ok := t.repo.parseRef(ref)
	if !ok {
		return nil
	}
	known := t.repo.tree.Load()
	switch {
	case path == "":
		return t.expectedAt(id, known)
	case known == nil:
		return nil
	}
	if f := known.at(path); f != nil {
		return t.expectedAt(f.id, known)
	}
	cut := strings.LastIndexByte(path, '/')
	if f := known.at(path[:max(cut, 1)]); f != nil && cut < len(path)-1 {
		return [][]byte{layout.ChildNameKey(f.id, path[cut+1:])}
	}
	return nil
}

// expectedAt are the rows of a document, and, for a transaction that may write, those of the folders above it that guard will name: the
// commit then need not ask for them. Where a name was wanted lately that is taken, it is among them.
func (t *Tx) expectedAt(id layout.ID, known *treeCache) [][]byte {
	keys := [][]byte{layout.NodeKey(id), layout.RecordKey(id)}
	if known == nil || !t.kv.Writable() {
		return keys
	}
	for f := known.get(id); f != nil && f.up != nil; f = f.up {
		keys = append(keys, layout.NodeKey(f.up.id))
	}
	if name := t.repo.naming.wanted(id, t.now.UnixMilli()); name != "" {
		t.wanted = childName{id, name}
		keys = append(keys, layout.ChildNameKey(id, name))
	}
	return keys
}

// listAhead are the keys that decide for whom the entries of an access list are, or that of the list if it is not known.
func (t *Tx) listAhead(h identities, id layout.ListID) [][]byte {
	c := &t.repo.access
	c.mu.RLock()
	lists, ok := c.lists[id]
	c.mu.RUnlock()
	if !ok {
		return [][]byte{layout.ListKey(id)}
	}
	return h.keys(lists)
}

// AheadPath has a store across a network fetch in one round trip what is read on the way down a path, as far as its folders are
// known.
func (i Internal) AheadPath(path string) error {
	t := i.t
	known := t.repo.tree.Load()
	if !t.kv.Remote() || known == nil {
		return nil
	}
	var keys [][]byte
	at := known.get(t.repo.root)
	for start := 1; at != nil && start <= len(path); {
		keys = append(keys, layout.NodeKey(at.id), layout.RecordKey(at.id))
		name, _, _ := strings.Cut(path[start:], "/")
		keys = append(keys, layout.ChildNameKey(at.id, name))
		end := start + len(name)
		at, start = known.at(path[:end]), end+1
	}
	return t.kv.Prefetch(keys)
}
