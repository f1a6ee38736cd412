package storage

import (
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// smallTree is the number of documents that a deletion removes at once. Of a larger tree only the
// top goes, which cuts the rest off for everyone; Sweep removes that later.
const smallTree = 200

// Delete removes d and everything below it for good.
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
	below, whole, err := t.below(cur.id, smallTree)
	if err != nil {
		return err
	}
	if !whole {
		below = nil
		if err := t.kv.Set(layout.GoneKey(cur.id), nil); err != nil {
			return err
		}
	}
	docs, err := t.loadMany(below)
	if err != nil {
		return err
	}
	if cur.IsFolder() || len(below) > 0 || !whole {
		if err := t.stir(); err != nil {
			return err
		}
	}
	t.folders = nil
	docs = slices.DeleteFunc(append(docs, cur), func(d *Doc) bool { return d == nil })
	if err := t.notShown(docs); err != nil {
		return err
	}
	for _, gone := range docs {
		if err := t.erase(gone); err != nil {
			return err
		}
	}
	for _, gone := range docs {
		if err := t.disown(gone); err != nil {
			return err
		}
	}
	t.changed(Change{Kind: "delete"}, cur)
	for _, gone := range docs {
		if err := t.fire(Event{Name: removedEvents[gone.variant()], Doc: gone}); err != nil {
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
	for at := 0; at < len(todo); at++ {
		r := prefix(layout.ChildrenPrefix(todo[at]))
		r.KeysOnly = true
		for row, err := range t.kv.Scan(r) {
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
	var digests map[string]bool
	if !d.IsProxy() {
		var err error
		if digests, err = d.digests(); err != nil {
			return err
		}
	}
	keys := [][]byte{layout.PlaceKey(d.id), layout.RecordKey(d.id)}
	if !d.IsVersion() {
		keys = append(keys, layout.ChildNameKey(d.parent, d.name), layout.ChildPositionKey(d.parent, d.position, d.id))
	}
	for digest := range digests {
		keys = append(keys, layout.BlobRefKey(digest, d.id))
		if err := t.loosen(digest); err != nil {
			return err
		}
	}
	if d.acl != (layout.ListID{}) {
		lists, err := t.accessLists(d.acl)
		if err != nil {
			return err
		}
		for who := range grantees(lists) {
			keys = append(keys, layout.GranteeKey(who, d.id))
		}
	}
	for _, k := range keys {
		if err := t.kv.Delete(k); err != nil {
			return err
		}
	}
	if err := t.eraseOwned(d); err != nil {
		return err
	}
	if err := t.reword(d); err != nil {
		return err
	}
	if err := t.reindex(d, nil); err != nil {
		return fault.Wrap(err, "document %s", d.ID())
	}
	d.Path()
	d.erased = true
	return nil
}
