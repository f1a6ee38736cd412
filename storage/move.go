package storage

import (
	"cmp"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// Move puts d below target; an empty name keeps its name. Nothing below d is rewritten.
func (t *Tx) Move(d, target *Doc, name string) (*Doc, error) {
	cur, err := t.edit(d, permRemove)
	if err != nil {
		return nil, err
	}
	if err := t.mayLeave(cur); err != nil {
		return nil, err
	}
	up, err := t.target(target)
	if err != nil {
		return nil, err
	}
	if up.within(cur.id) {
		return nil, fault.Conflict.Errorf("document %s: cannot move a node under itself", cur.Path())
	}
	if name == "" {
		name = cur.name
	}
	if name, err = t.repo.cleanName(name); err != nil {
		return nil, err
	}
	if up.id == cur.parent && name == cur.name {
		return t.finish(d, cur), nil
	}
	if err := t.fire(Event{Name: "aboutToMove", Doc: cur}); err != nil {
		return nil, err
	}
	before := cur.clone()
	if cur.name, err = t.freeName(up.id, name); err != nil {
		return nil, err
	}
	if up.id != cur.parent {
		cur.position = t.position()
	}
	cur.parent, cur.up, cur.parentPath, cur.path = up.id, up, up.path, ""
	if err := t.placed(before, cur); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "move", Note: before.Path()}, cur)
	d = t.finish(d, cur)
	return d, t.fire(Event{Name: "documentMoved", Doc: d, Extra: map[string]any{"from": before.Path()}, left: before.parent})
}

// within reports whether f is the document or below it.
func (f *Folder) within(id layout.ID) bool {
	for ; f != nil; f = f.up {
		if f.id == id {
			return true
		}
	}
	return false
}

// mayLeave checks that d may be taken away from where it is.
func (t *Tx) mayLeave(d *Doc) error {
	if d.id == t.repo.root {
		return fault.Conflict.Errorf("document /: the root cannot be removed")
	}
	if !t.granted(d.up.acl, d.up.up, permRemoveChildren) {
		return fault.Denied.Errorf("Privilege '%s' is not granted to '%s'", permRemoveChildren, t.as.Name)
	}
	return nil
}

// Copy makes a copy of d, and of everything below it that may be read, below target; an empty name keeps
// the name. States and access lists are copied, locks and versions are not.
func (t *Tx) Copy(d, target *Doc, name string) (*Doc, error) {
	src, err := t.Reload(d)
	if err != nil {
		return nil, err
	}
	up, err := t.target(target)
	if err != nil {
		return nil, err
	}
	if up.within(src.id) {
		return nil, fault.Conflict.Errorf("document %s: cannot copy a node under itself", src.Path())
	}
	if name == "" {
		name = src.name
	}
	if err := t.fire(Event{Name: "aboutToCopy", Doc: src}); err != nil {
		return nil, err
	}
	first, err := t.copyOne(src, up, name)
	if err != nil {
		return nil, err
	}
	if err := t.copyBelow(src, first); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "copy", Note: src.Path()}, first)
	if err := t.fire(Event{Name: "documentCreatedByCopy", Doc: first}); err != nil {
		return nil, err
	}
	return first, t.fire(Event{Name: "documentDuplicated", Doc: src})
}

// copyBelow copies what is below src to below its copy.
func (t *Tx) copyBelow(src, made *Doc) error {
	type pair struct{ from, to *Doc }
	copies := 1
	for todo := []pair{{src, made}}; len(todo) > 0; todo = todo[1:] {
		p := todo[0]
		if !t.can(p.from, permReadChildren) {
			continue
		}
		up, err := t.folder(p.to.id)
		if err != nil {
			return err
		}
		for child, err := range t.EachChild(p.from) {
			if err != nil {
				return err
			}
			if child.id == made.id {
				continue
			}
			if copies++; copies > t.repo.limits.TreeCopy {
				return fault.Limit.Errorf("document %s: more than %d documents to copy", src.Path(), t.repo.limits.TreeCopy)
			}
			if up.depth >= t.repo.limits.PathDepth {
				return fault.Limit.Errorf("document %s: more than %d levels deep", child.Path(), t.repo.limits.PathDepth)
			}
			c, err := t.copyOne(child, up, child.name)
			if err != nil {
				return err
			}
			todo = append(todo, pair{child, c})
		}
	}
	return nil
}

func (t *Tx) copyOne(src *Doc, up *Folder, name string) (*Doc, error) {
	if src.IsProxy() {
		return t.copyProxy(src, up, name)
	}
	d := src.clone()
	d.saved, d.lockOwner, d.system, d.user = false, "", 0, 0
	d.series, d.target, d.checkedIn, d.proxied, d.archived = layout.None, layout.None, false, false, time.Time{}
	d.flags &^= layout.Version
	if d.major != 0 || d.minor != 0 {
		d.setNumbers(0, 0)
	}
	if err := t.setPlace(d, up, name); err != nil {
		return nil, err
	}
	t.touch(d, false)
	if b, i := d.field("dc:created"); b != nil {
		b.set(i, t.now)
	}
	if err := t.putRecord(nil, d); err != nil {
		return nil, err
	}
	if err := t.putPlace(nil, d); err != nil {
		return nil, err
	}
	if err := t.ownGrants(d); err != nil {
		return nil, err
	}
	d.saved = true
	return d, t.reindex(nil, d)
}

// copyProxy makes another proxy of what src shows.
func (t *Tx) copyProxy(src *Doc, up *Folder, name string) (*Doc, error) {
	target, err := t.load(src.target)
	if err != nil || target == nil {
		return nil, cmp.Or[error](err, notFound(src.Ref()))
	}
	d, err := t.putProxy(target, up, name)
	if err != nil || src.acl == (layout.ListID{}) {
		return d, err
	}
	before := d.clone()
	d.acl = src.acl
	if err := t.putPlace(before, d); err != nil {
		return nil, err
	}
	if err := t.ownGrants(d); err != nil {
		return nil, err
	}
	return d, t.reindex(before, d)
}

// ownGrants writes the rows that find a new document by those its own access lists name.
func (t *Tx) ownGrants(d *Doc) error {
	if d.acl == (layout.ListID{}) {
		return nil
	}
	lists, err := t.accessLists(d.acl)
	if err != nil {
		return err
	}
	return t.indexGrantees(d.id, nil, lists, d.acl)
}
