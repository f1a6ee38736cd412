package storage

import (
	"encoding/base64"
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// descendChunk is how many children are read at once on the way down a tree.
const descendChunk = 100

// Descend returns some of the documents below top that may be read, those above before those below them: what take
// accepts, until there are as many as wanted. Only what it lets the walk enter is gone into. After is where the
// part before ended; next, where this one has, is "" once nothing follows. What moves meanwhile may be left out.
func (t *Tx) Descend(top *Doc, after string, want int, take func(*Doc) (taken, enter bool, err error)) (docs Docs, next string, err error) {
	at, err := base64.RawURLEncoding.DecodeString(after)
	if err != nil || len(at)%childAt != 0 {
		return nil, "", fault.Invalid.Errorf("cursor: was not returned by a traversal of the tree")
	}
	w := &descent{t: t, want: want, take: take}
	done, err := w.below(top, at)
	if err != nil || done {
		return w.docs, "", err
	}
	return w.docs, base64.RawURLEncoding.EncodeToString(w.last), nil
}

// childAt is the length of what says where a child is among the children.
const childAt = 24

// descent is a walk down a tree.
type descent struct {
	t    *Tx
	want int
	take func(*Doc) (taken, enter bool, err error)
	docs Docs
	seen int
	path []byte // where the walk is: the places of the folders that it is in
	last []byte // where it stopped: path and the place of the document
}

// below walks what is below a folder, behind a place if one is given; done says that nothing is left there.
func (w *descent) below(d *Doc, after []byte) (done bool, err error) {
	if !w.t.can(d, permReadChildren) {
		return true, nil
	}
	var at []byte
	if len(after) > 0 {
		at = after[:childAt]
		if done, err := w.again(d, at, after[childAt:]); err != nil || !done {
			return done, err
		}
	}
	for {
		chunk, err := w.chunk(d, at)
		if err != nil || len(chunk) == 0 {
			return true, err
		}
		ids := make([]layout.ID, len(chunk))
		for i, c := range chunk {
			ids[i] = c.id
		}
		docs, err := w.t.loadMany(ids)
		if err != nil {
			return true, err
		}
		for i, child := range docs {
			at = layout.ChildPositionKey(layout.None, chunk[i].position, chunk[i].id)[18:]
			if child == nil {
				continue
			}
			if done, err := w.visit(child, at); err != nil || !done {
				return done, err
			}
		}
	}
}

// chunk returns the next children.
func (w *descent) chunk(d *Doc, after []byte) (rows []childRow, err error) {
	for c, err := range w.t.children(d, after) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, c); len(rows) == descendChunk {
			break
		}
	}
	if w.seen += len(rows); w.seen > w.t.repo.limits.ScanRows {
		return nil, fault.Limit.Errorf("documents below %s: more than %d read", d.ID(), w.t.repo.limits.ScanRows)
	}
	return rows, nil
}

// visit takes a document and walks what is below it.
func (w *descent) visit(d *Doc, at []byte) (done bool, err error) {
	taken, enter, err := w.take(d)
	if err != nil {
		return true, err
	}
	if taken {
		w.docs = append(w.docs, d)
	}
	if len(w.docs) == w.want {
		w.last = slices.Concat(w.path, at)
		return false, nil
	}
	if !enter {
		return true, nil
	}
	return w.within(d, at, nil)
}

// again goes on in a document where the part before ended, unless it has gone elsewhere.
func (w *descent) again(folder *Doc, at, after []byte) (done bool, err error) {
	_, id := layout.PositionAndID(at)
	d, err := w.t.load(id)
	if err != nil || d == nil || d.parent != folder.id || !w.t.can(d, permRead) {
		return true, err
	}
	_, enter, err := w.take(d)
	if err != nil || !enter {
		return true, err
	}
	return w.within(d, at, after)
}

func (w *descent) within(d *Doc, at, after []byte) (done bool, err error) {
	before := len(w.path)
	w.path = append(w.path, at...)
	done, err = w.below(d, after)
	w.path = w.path[:before]
	return done, err
}
