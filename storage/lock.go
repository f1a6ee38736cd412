package storage

import "catena/storage/fault"

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

// hasLock reports whether the principal has locked d. A user made anew under the name of one who is gone has not.
func (t *Tx) hasLock(d *Doc) bool {
	if d.lockOwner == "" || d.lockOwner != t.as.Name {
		return false
	}
	return t.as.ID == 0 || holder{t.as.ID, t.as.former}.means(d.lockNumber)
}

func (t *Tx) relock(d, before, cur *Doc, kind, event string) (*Doc, error) {
	if err := t.recorded(before, cur); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: kind}, cur)
	d = t.finish(d, cur)
	return d, t.fire(Event{Name: event, Doc: d})
}
