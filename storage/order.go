package storage

import (
	"cmp"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// positionGap is how far children that are numbered anew are apart.
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
		if cur, err = t.load(cur.id); err != nil { // it may have been numbered anew
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
// is none all children are numbered anew.
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
