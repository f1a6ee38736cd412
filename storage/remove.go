package storage

import (
	"cmp"
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// smallTree is the number of documents that a deletion removes at once. Of a larger tree only the
// top goes, which cuts the rest off for everyone; Sweep removes that later.
const smallTree = 200

// Delete removes d and everything below it for good. In a large tree only the row of its top is deleted, which cuts off
// the rest for everyone; Sweep removes that later.
func (t *Tx) Delete(d *Doc) error {
	if d != nil && d.IsVersion() {
		return t.deleteVersion(d)
	}
	cur, err := t.edit(d, permRemove)
	if err != nil {
		return err
	}
	if err := t.mayLeave(cur); err != nil {
		return err
	}
	if err := t.fire(Event{Name: "aboutToRemove" + cur.variant(), Doc: cur}); err != nil {
		return err
	}
	docs, err := t.withTree(cur)
	if err != nil {
		return err
	}
	if err := t.eraseAll(docs); err != nil {
		return err
	}
	t.changed(Change{Kind: "delete"}, cur)
	// The events come after the rows are gone: a listener that looks for the document must not find it.
	for _, gone := range docs {
		if err := t.fire(Event{Name: removedEvents[gone.variant()], Doc: gone}); err != nil {
			return err
		}
	}
	return nil
}

// withTree returns a document that is deleted and those below it, unless there are more than smallTree: then it is marked so
// that Sweep deletes the rest. Caches of the tree are invalidated, as what is below can no longer be reached.
func (t *Tx) withTree(cur *Doc) ([]*Doc, error) {
	below, whole, err := t.below(cur.id, smallTree)
	if err != nil {
		return nil, err
	}
	if !whole {
		below = nil
		if err := t.cutOwned(cur.id); err != nil {
			return nil, err
		}
		if err := t.kv.Set(layout.GoneKey(cur.id), nil); err != nil {
			return nil, err
		}
	}
	docs, err := t.loadMany(below)
	if err != nil {
		return nil, err
	}
	if cur.IsFolder() || len(below) > 0 || !whole {
		if err := t.invalidate(); err != nil {
			return nil, err
		}
	}
	t.folders = nil
	return slices.DeleteFunc(append(docs, cur), func(d *Doc) bool { return d == nil }), nil
}

// eraseAll deletes the rows of documents. Versions come last: what becomes of them depends on the proxies that remain.
func (t *Tx) eraseAll(docs []*Doc) error {
	if err := t.notShown(docs); err != nil {
		return err
	}
	for _, d := range docs {
		if err := t.erase(d); err != nil {
			return err
		}
	}
	for _, d := range docs {
		if err := t.settleVersions(d); err != nil {
			return err
		}
	}
	return nil
}

// removedEvents are the events of documents that are gone.
var removedEvents = map[string]string{"": "documentRemoved", "Proxy": "proxyRemoved", "Version": "versionRemoved"}

// variant is the part of an event's name that says what kind of document it is about.
func (d *Doc) variant() string {
	switch {
	case d.IsVersion():
		return "Version"
	case d.IsProxy():
		return "Proxy"
	}
	return ""
}

// below returns the documents under one, the deepest first; whole is false if there are more than max.
func (t *Tx) below(id layout.ID, max int) (ids []layout.ID, whole bool, err error) {
	todo := []layout.ID{id}
	children := func(id layout.ID) kv.Range {
		r := prefix(layout.ChildrenPrefix(id))
		r.KeysOnly = true
		return r
	}
	if err := t.rowsAhead("children", id, children); err != nil {
		return nil, false, err
	}
	for at, ahead := 0, 0; at < len(todo); at++ {
		if at == ahead {
			ahead = min(len(todo), at+descendChunk)
			if err := t.rangesAhead(todo[at:ahead], children); err != nil {
				return nil, false, err
			}
		}
		for row, err := range t.kv.Scan(children(todo[at])) {
			if err != nil {
				return nil, false, err
			}
			if len(todo) > max {
				return nil, false, nil
			}
			_, child := layout.PositionAndID(row.Key)
			todo = append(todo, child)
		}
	}
	for i := len(todo) - 1; i > 0; i-- {
		ids = append(ids, todo[i])
	}
	return ids, true, nil
}

// erase deletes every row of one document.
func (t *Tx) erase(d *Doc) error {
	if d == nil {
		return nil
	}
	if err := t.mayGo(d); err != nil {
		return err
	}
	keys, err := t.ownKeys(d)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := t.kv.Delete(k); err != nil {
			return err
		}
	}
	if err := t.eraseOwned(d); err != nil {
		return err
	}
	if err := t.reindexText(d); err != nil {
		return err
	}
	if err := t.reindex(d, nil); err != nil {
		return fault.Wrap(err, "document %s", d.ID())
	}
	// The path is computed while the folders above are known; listeners and the audit log still need it.
	d.Path()
	d.erased = true
	return nil
}

// ownKeys returns the keys of rows that only one document has, but for those of indexes, and lets go of its files.
func (t *Tx) ownKeys(d *Doc) ([][]byte, error) {
	keys := [][]byte{layout.NodeKey(d.id), layout.RecordKey(d.id)}
	if !d.IsVersion() {
		keys = append(keys, layout.ChildNameKey(d.parent, d.name), layout.ChildPositionKey(d.parent, d.position, d.id))
	}
	if !d.IsProxy() {
		digests, err := d.digests()
		if err != nil {
			return nil, err
		}
		for digest := range digests {
			keys = append(keys, layout.BlobRefKey(digest, d.id))
			if err := t.loosen(digest); err != nil {
				return nil, err
			}
		}
	}
	if d.acl != (layout.ListID{}) {
		lists, err := t.accessLists(d.acl)
		if err != nil {
			return nil, err
		}
		for who := range grantees(lists) {
			keys = append(keys, layout.GranteeKey(who, d.id))
		}
	}
	return keys, nil
}

// closed is the access list of a tomb: what is below it is for administrators. A tomb takes the position of a
// document that is gone and whose versions are still shown by a proxy.
var closed = []ACL{{Name: "local", Entries: []ACE{{User: Everyone, Permission: "Everything"}}}}

// fewVersions is the number of versions that go with their live document at once. More of
// them are cut off with it, and Sweep removes them.
const fewVersions = 50

// deleteVersion removes one version. It may not be shown by a proxy, and only an administrator
// removes the one that its live document equals, or one whose live document is gone.
func (t *Tx) deleteVersion(d *Doc) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	v, err := t.load(d.id)
	if err != nil || v == nil {
		return cmp.Or[error](err, notFound(d.Ref()))
	}
	if err := t.need(v, permWriteVersion); err != nil {
		return err
	}
	live, err := t.load(v.series)
	if err != nil {
		return err
	}
	base := live != nil && live.target == v.id
	// The live document equals this version; without it nobody could go back to that state.
	if base && live.checkedIn && !t.rights.admin {
		return fault.Conflict.Errorf("document %s: version %s is its base version", t.nameFor(live), v.VersionLabel())
	}
	if err := t.notShown(Docs{v}); err != nil {
		return err
	}
	if err := t.fire(Event{Name: "aboutToRemoveVersion", Doc: v}); err != nil {
		return err
	}
	if err := t.erase(v); err != nil {
		return err
	}
	t.forgetLatest(v.series)
	if base {
		before := live.clone()
		live.checkedIn, live.target = false, layout.None
		if err := t.recorded(before, live); err != nil {
			return err
		}
	}
	t.changed(Change{Kind: "delete"}, v)
	return t.fire(Event{Name: "versionRemoved", Doc: v})
}

// notShown is an error if a proxy that is not among the documents shows one of them.
func (t *Tx) notShown(docs Docs) error {
	among := map[layout.ID]bool{}
	for _, d := range docs {
		among[d.id] = true
	}
	for _, d := range docs {
		if !d.proxied && !d.IsVersion() {
			continue
		}
		ids, _, err := t.proxyIDs(layout.ProxyIndex, d.id, maxProxies)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !among[id] {
				return t.shownBy(d, id)
			}
		}
	}
	return nil
}

// shownBy is the error of a document that a proxy shows.
func (t *Tx) shownBy(d *Doc, proxy layout.ID) error {
	p, err := t.load(proxy)
	if err != nil {
		return err
	}
	name := proxy.String()
	if p != nil {
		name = t.nameFor(p)
	}
	return fault.Conflict.Errorf("document %s: proxy %s refers to it", t.nameFor(d), name)
}

// settleVersions deletes the versions of a document that was erased, or those that an erased proxy showed, unless a proxy
// still shows one of them.
func (t *Tx) settleVersions(d *Doc) error {
	if d.IsVersion() {
		return nil
	}
	if !d.IsProxy() && d.major == 0 && d.minor == 0 {
		return nil // never had a version
	}
	series := d.seriesID()
	t.forgetLatest(series)
	if d.IsProxy() {
		n, err := t.node(series)
		if err != nil || n == nil || n.flags&layout.Tomb == 0 {
			return err
		}
	}
	if _, _, last, err := t.lastNumber(series); err != nil || last == layout.None {
		return err
	}
	shown, _, err := t.proxyIDs(layout.ProxyOfIndex, series, 1)
	if err != nil {
		return err
	}
	if len(shown) == 0 {
		return t.eraseSeries(series)
	}
	tomb := node{parent: t.repo.root, flags: layout.Tomb}
	if tomb.acl, err = t.keepLists(closed); err != nil {
		return err
	}
	return t.kv.Set(layout.NodeKey(series), tomb.append(nil))
}

// eraseSeries deletes the versions of a document that no longer exists; if there are many, Sweep deletes the rest.
func (t *Tx) eraseSeries(series layout.ID) error {
	if err := t.kv.Delete(layout.NodeKey(series)); err != nil {
		return err
	}
	if more, err := t.eraseVersions(series, fewVersions); err != nil || !more {
		return err
	}
	if err := t.cutOwned(series); err != nil {
		return err
	}
	return t.kv.Set(layout.GoneKey(series), nil)
}

// eraseVersions removes versions of a document that is gone; more says that others are left.
func (t *Tx) eraseVersions(live layout.ID, max int) (more bool, err error) {
	r := prefix(t.repo.numbers.VersionPrefix(live))
	r.KeysOnly, r.Limit = true, max+1
	var ids []layout.ID
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return false, err
		}
		ids = append(ids, layout.IDAtEnd(row.Key))
	}
	if more = len(ids) > max; more {
		ids = ids[:max]
	}
	for _, id := range ids {
		if err := t.sweepOne(id); err != nil {
			return false, err
		}
	}
	return more, nil
}

// eraseProxies removes the proxies that show a document which is about to be erased.
func (t *Tx) eraseProxies(of layout.ID) error {
	ids, more, err := t.proxyIDs(layout.ProxyIndex, of, maxProxies)
	if err != nil {
		return err
	}
	if more {
		return fault.Limit.Errorf("document %s: more than %d proxies refer to it", of, maxProxies)
	}
	for _, id := range ids {
		if err := t.sweepOne(id); err != nil {
			return err
		}
	}
	return nil
}
