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
	// The subtree would be cut off from the root.
	if up.within(cur.id) {
		return nil, fault.Conflict.Errorf("document %s: cannot move a node under itself", cur.Path())
	}
	if name == "" {
		name = cur.name
	}
	if name, err = t.repo.CleanName(name); err != nil {
		return nil, err
	}
	// Nothing changes, so there is no event and no new epoch of the tree.
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
	// In another folder it comes last; renamed in its own, it keeps its position.
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

// Copy makes a copy of d, and of everything below it that may be read, below target; an empty name keeps the
// name. States and access lists are copied, locks and versions are not. What may not be read is left out
// without an error, as the caller must not learn that it exists.
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
	level := 0 // how many of the first are those that were there when the ones below them were looked for
	for todo := []pair{{src, made}}; len(todo) > 0; todo = todo[1:] {
		if level == 0 {
			level = len(todo)
			ids := make([]layout.ID, level)
			for i, p := range todo {
				ids[i] = p.from.id
			}
			t.accompany(ids)
		}
		level--
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
			// The copy may have been made within the tree that is copied.
			if child.id == made.id {
				continue
			}
			// All copies are written by one transaction, which must fit into memory and into the log.
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

// copyOne copies one document to a folder. The copy is new in every respect but its properties: it has no versions, locks or
// comments of the source, and its grants are its own.
func (t *Tx) copyOne(src *Doc, up *Folder, name string) (*Doc, error) {
	if src.IsProxy() {
		return t.copyProxy(src, up, name)
	}
	d := src.clone()
	d.saved, d.lockOwner, d.system, d.user, d.kept = false, "", 0, 0, Retention{}
	d.series, d.target, d.checkedIn, d.proxied, d.archived = layout.None, layout.None, false, false, time.Time{}
	d.flags &^= layout.Version
	if d.major != 0 || d.minor != 0 {
		d.setNumbers(0, 0)
	}
	if err := t.setNode(d, up, name); err != nil {
		return nil, err
	}
	t.touch(d, false)
	if b, i := d.field("dc:created"); b != nil {
		b.set(i, t.now)
	}
	if err := t.putRecord(nil, d); err != nil {
		return nil, err
	}
	if err := t.putNode(nil, d); err != nil {
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
	if err := t.putNode(before, d); err != nil {
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

// positionGap is how far children that are numbered again are apart. Each insertion at one spot halves the
// gap, so about twenty fit before the children have to be numbered again.
const positionGap = 1 << 20

// orderable is the facet of folders whose children have an order of their own.
const orderable = "Orderable"

// OrderBefore puts d before another child of its ordered folder; before nil it puts it last.
func (t *Tx) OrderBefore(d, before *Doc) (*Doc, error) {
	cur, err := t.edit(d, permRead)
	if err != nil {
		return nil, err
	}
	parent, err := t.load(cur.parent)
	if err != nil || parent == nil {
		return nil, cmp.Or(err, notFound(Ref(d.ParentID())))
	}
	switch {
	case !parent.HasFacet(orderable):
		return nil, fault.Conflict.Errorf("document %s: its children are not ordered", parent.Path())
	case before != nil && before.parent != cur.parent:
		return nil, fault.Invalid.Errorf("document %s: is not in the folder of %s", before.Path(), cur.Path()).In("before")
	case before != nil && before.id == cur.id:
		return t.finish(d, cur), nil
	}
	if err := t.need(parent, permWriteProperties); err != nil {
		return nil, err
	}
	position := t.position()
	if before != nil {
		if position, err = t.positionBefore(cur.parent, before.id); err != nil {
			return nil, err
		}
		// The document is read again, since its own row may have been written with a new number.
		if cur, err = t.load(cur.id); err != nil { // it may have been numbered again
			return nil, err
		}
	}
	if err := t.putAt(cur, position); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "move", Note: cur.Path()}, cur)
	d = t.finish(d, cur)
	return d, t.fire(Event{Name: "documentChildrenOrderChanged", Doc: parent})
}

// putAt writes another position of a document.
func (t *Tx) putAt(d *Doc, position int64) error {
	was := d.clone()
	d.position = position
	return t.placed(was, d)
}

// positionBefore finds a number between those of a child and the child before it. Where there
// is none all children are numbered again.
func (t *Tx) positionBefore(parent, child layout.ID) (int64, error) {
	for range 2 {
		d, err := t.load(child)
		if err != nil || d == nil {
			return 0, cmp.Or(err, notFound(Ref(child.String())))
		}
		last, err := t.positionAt(parent, d.position, child)
		if err != nil {
			return 0, err
		}
		if d.position-last >= 2 {
			return last + (d.position-last)/2, nil
		}
		if err := t.number(parent); err != nil {
			return 0, err
		}
	}
	return 0, fault.Internal.Errorf("children of %s: there is no room between them", parent)
}

// positionAt is the number of the child before a place; far below it if there is none.
func (t *Tx) positionAt(parent layout.ID, position int64, child layout.ID) (int64, error) {
	r := prefix(layout.ChildrenPrefix(parent))
	r.End = layout.ChildPositionKey(parent, position, child)
	r.Reverse, r.KeysOnly, r.Limit = true, true, 1
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return 0, err
		}
		last, _ := layout.PositionAndID(row.Key)
		return last, nil
	}
	return position - 2*positionGap, nil
}

// number gives the children of a folder numbers that are far apart, in the order they have.
func (t *Tx) number(parent layout.ID) error {
	var ids []layout.ID
	r := prefix(layout.ChildrenPrefix(parent))
	r.KeysOnly = true
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return err
		}
		_, id := layout.PositionAndID(row.Key)
		if ids = append(ids, id); len(ids) > t.repo.limits.TreeCopy {
			return fault.Limit.Errorf("children of %s: more than %d would have to be renumbered", parent, t.repo.limits.TreeCopy)
		}
	}
	children, err := t.loadMany(ids)
	if err != nil {
		return err
	}
	last := t.position()
	for i, d := range children {
		if d == nil {
			continue
		}
		if err := t.putAt(d, last-int64(len(children)-i)*positionGap); err != nil {
			return err
		}
	}
	return nil
}
