package storage

import (
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

const lifeCycleCategory = "eventLifeCycleCategory"

// Follow takes d through a transition of its life cycle. The transitions delete and undelete put it in
// the trash and take it out.
func (t *Tx) Follow(d *Doc, transition string) (*Doc, error) {
	if transition == "delete" || transition == "undelete" {
		return t.SetTrashed(d, transition == "delete")
	}
	if d != nil && d.IsProxy() {
		return t.behind(d, permWriteLifeCycle, func(target *Doc) (*Doc, error) { return t.Follow(target, transition) })
	}
	cur, err := t.edit(d, permWriteLifeCycle)
	if err != nil {
		return nil, err
	}
	cycle := cur.typ.LifeCycle
	if cycle == nil {
		return nil, fault.Conflict.Errorf("document %s: type %s has no life cycle", cur.Path(), cur.typ.Name)
	}
	to, err := cycle.Follow(cur.state, transition)
	if err != nil {
		return nil, fault.Conflict.Errorf("document %s: transition %s is not allowed in state %s%s",
			cur.Path(), transition, cur.state, fault.Perhaps(transition, slices.Values(cycle.Allowed(cur.state))))
	}
	before := cur.clone()
	cur.state = to
	if cur.checkedIn {
		if err := t.leaveVersion(cur); err != nil {
			return nil, err
		}
	}
	if err := t.recorded(before, cur); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "lifecycle", Note: transition}, cur)
	d = t.finish(d, cur)
	return d, t.fire(Event{
		Name: "lifecycle_transition_event", Doc: d, Category: lifeCycleCategory,
		Extra: map[string]any{"from": before.state, "to": to, "transition": transition},
	})
}

// Begin puts a document that does not exist yet into another state of its life cycle than the first.
func (d *Doc) Begin(state string) error {
	if cycle := d.typ.LifeCycle; d.saved || cycle == nil || !slices.Contains(cycle.States, state) {
		return fault.Conflict.Errorf("document of type %s: cannot start in state %s", d.typ.Name, state)
	}
	d.state = state
	return nil
}

// trashedAbove returns the folders above a document that are in the trash, the nearest first.
func (t *Tx) trashedAbove(d *Doc) (ids []layout.ID, err error) {
	for up := d.up; up != nil; up = up.up {
		n, err := t.node(up.id) // folders from the cache do not tell
		if err != nil {
			return nil, err
		}
		if n == nil || n.flags&layout.Trashed == 0 {
			break
		}
		ids = append(ids, up.id)
	}
	return ids, nil
}

// SetTrashed puts d and everything below it in the trash, or takes it out. Folders above it that are in
// the trash come out with it. Of a folder with more below it than one call changes, RunTrash does the rest soon after.
func (t *Tx) SetTrashed(d *Doc, trashed bool) (*Doc, error) {
	cur, err := t.edit(d, permWriteLifeCycle)
	if err != nil {
		return nil, err
	}
	if cur.id == t.repo.root {
		return nil, fault.Conflict.Errorf("document /: the root cannot be removed")
	}
	if cur.IsTrashed() == trashed {
		return t.finish(d, cur), nil
	}
	ids, whole, err := t.below(cur.id, t.repo.limits.TreeCopy)
	if err != nil {
		return nil, err
	}
	if !whole {
		ids = nil
		if err := t.trashLater(cur, trashed); err != nil {
			return nil, err
		}
	}
	below := len(ids)
	if !trashed {
		above, err := t.trashedAbove(cur)
		if err != nil {
			return nil, err
		}
		ids = append(ids, above...)
	}
	others, err := t.loadMany(ids)
	if err == nil && trashed {
		err = t.mayAllGo(append(others, cur))
	}
	if err != nil {
		return nil, err
	}
	if err := t.flagTrashed(append(others, cur), trashed); err != nil {
		return nil, err
	}
	t.folders = nil
	kind, event := "trash", "documentTrashed"
	if !trashed {
		kind, event = "untrash", "documentUntrashed"
		if err := t.feedRestored(others[below:]); err != nil {
			return nil, err
		}
	}
	t.changed(Change{Kind: "lifecycle", Note: kind}, cur)
	d = t.finish(d, cur)
	return d, t.fire(Event{Name: event, Doc: d})
}

// trashLater leaves what is below a document to the sweep.
func (t *Tx) trashLater(d *Doc, trashed bool) error {
	if trashed {
		if err := t.cutOwned(d.id); err != nil {
			return err
		}
	}
	t.kv.Wake(trashTopic)
	return t.kv.Set(layout.TrashKey(d.id), trashRow(trashed, nil))
}

// flagTrashed writes the flag and the index rows of documents; nil ones have been deleted meanwhile.
func (t *Tx) flagTrashed(docs []*Doc, trashed bool) error {
	for _, d := range docs {
		if d == nil || d.IsTrashed() == trashed {
			continue
		}
		before := d.clone()
		d.flags ^= layout.Trashed
		if err := t.putNode(before, d); err != nil {
			return err
		}
		if err := t.reindex(before, d); err != nil {
			return err
		}
	}
	return nil
}

// Lock keeps others from changing d. Locking again is no error for the owner.
func (t *Tx) Lock(d *Doc) (*Doc, error) {
	if d != nil && d.IsProxy() {
		return t.behind(d, permWriteProperties, t.Lock)
	}
	cur, err := t.editLocked(d, permWriteProperties)
	if err != nil {
		return nil, err
	}
	if t.hasLock(cur) {
		return t.finish(d, cur), nil
	}
	if cur.lockOwner != "" {
		return nil, fault.Conflict.Errorf("Document already locked by %s: %s", cur.lockOwner, cur.ID())
	}
	before := cur.clone()
	cur.lockOwner, cur.lockNumber, cur.lockSince = t.as.Name, t.as.ID, t.now
	return t.relock(d, before, cur, "lock", "documentLocked")
}

// Unlock ends the lock of d. The owner, an administrator and who has the permission Unlock may.
func (t *Tx) Unlock(d *Doc) (*Doc, error) {
	if d != nil && d.IsProxy() {
		return t.behind(d, permRead, t.Unlock)
	}
	cur, err := t.editLocked(d, permRead)
	if err != nil {
		return nil, err
	}
	if cur.lockOwner == "" {
		return t.finish(d, cur), nil
	}
	if !t.hasLock(cur) && !t.can(cur, permUnlock) {
		return nil, fault.Conflict.Errorf("Document already locked by %s: %s", cur.lockOwner, cur.ID())
	}
	before := cur.clone()
	cur.lockOwner = ""
	return t.relock(d, before, cur, "unlock", "documentUnlocked")
}

// hasLock reports whether the principal has locked d. A user made again under the name of one who is gone has not.
func (t *Tx) hasLock(d *Doc) bool {
	if d.lockOwner == "" || d.lockOwner != t.as.Name {
		return false
	}
	return t.as.ID == 0 || identity{t.as.ID, t.as.former}.means(d.lockNumber)
}

func (t *Tx) relock(d, before, cur *Doc, kind, event string) (*Doc, error) {
	if err := t.recorded(before, cur); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: kind}, cur)
	d = t.finish(d, cur)
	return d, t.fire(Event{Name: event, Doc: d})
}
