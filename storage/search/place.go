package search

import (
	"bytes"

	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// parse reads what a row of the path says of its document: that of an index, of a child, or of the tree.
func (r *scan) parse(row kv.Row, h *candidate) error {
	switch {
	case r.path.parent != nil:
		*h = candidate{key: row.Key, bare: true}
		_, h.id = layout.PositionAndID(row.Key)
		h.Parent = *r.path.parent
		h.Flags, h.List, h.Type = r.t.dictionary().ParseChild(row.Value)
		return nil
	case r.path.primary:
		*h = candidate{id: layout.IDAtEnd(row.Key), key: row.Key, bare: true}
		return r.t.in().Place(row.Value, &h.Cover)
	}
	h.id, h.key, h.doc, h.bare = layout.IDAtEnd(row.Key), row.Key, nil, false
	return h.Parse(r.t.dictionary(), row.Value)
}

// shows reports whether a candidate has the flags, type and place that are asked for, and may be read, as far as its row says it.
func (r *scan) shows(h *candidate) (bool, error) {
	p := r.p
	if h.Flags&p.mask != p.want || h.Type != nil && !r.typeWanted(h.Type) {
		return false, nil
	}
	if p.parent != nil && (h.Parent != *p.parent || h.Flags&layout.Version != 0) {
		return false, nil
	}
	if h.id != r.t.in().Root() {
		if err := r.above(h); err != nil {
			return false, err
		}
		if r.up == nil {
			// The sweep has not reached it yet.
			return false, nil // cut off by the deletion of a folder above
		}
	} else {
		r.up, r.fresh = nil, true
		r.open = r.t.in().MayRead(layout.ListID{}, nil)
	}
	if len(p.under) > 0 && !r.below(h) {
		return false, nil
	}
	if h.List == (layout.ListID{}) {
		return r.open, nil
	}
	return r.t.in().MayRead(h.List, r.up), nil
}

func (r *scan) typeWanted(name []byte) bool {
	if r.p.names == nil {
		return true
	}
	if !bytes.Equal(r.typ, name) || r.typ == nil {
		r.typ = append(r.typ[:0], name...)
		r.wanted = r.p.names[string(name)]
	}
	return r.wanted
}

// above finds the folder a candidate is in, which is mostly the one before.
func (r *scan) above(h *candidate) (err error) {
	if h.Parent == r.at && !r.fresh {
		return nil
	}
	if err := r.foldersAhead(h); err != nil {
		return err
	}
	if r.up, err = r.t.in().Folder(h.Parent); err != nil {
		return err
	}
	r.at, r.fresh = h.Parent, false
	r.open = r.up != nil && r.t.in().MayRead(layout.ListID{}, r.up)
	return nil
}

// below reports whether the candidate is below all the folders asked for.
func (r *scan) below(h *candidate) bool {
	if h.Flags&layout.Version != 0 {
		return false
	}
	for _, top := range r.p.under {
		f := r.up
		for f != nil && f.ID() != top {
			f = f.Up()
		}
		if f == nil {
			return false
		}
	}
	return true
}
