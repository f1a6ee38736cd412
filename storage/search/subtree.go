package search

import "catena/storage/internal/layout"

// subtree walks down from the folder of STARTSWITH if that finds few documents and no
// index finds fewer.
func (t planner) subtree(p *plan, best *accessPath) (*accessPath, error) {
	if len(p.under) == 0 || best != nil && best.rows >= 0 && best.rows < t.costs.few {
		return best, nil
	}
	top := p.under[len(p.under)-1]
	if top == layout.None {
		return idPath(nil, subtreeName), nil
	}
	// Everything is below the root.
	if top == t.in().Root() {
		return best, nil
	}
	key := string(top[:])
	if n, ok := t.estimates.get(key); ok && n.rows > t.costs.subtree {
		p.wide = top
		return best, nil
	}
	a, whole, err := t.walkDown(top, t.costs.subtree)
	if err != nil {
		return nil, err
	}
	if !whole {
		// Remembered, so that the next query does not walk down a large tree in vain.
		t.estimates.put(key, t.costs.subtree+1, true)
		p.wide = top
		return best, nil
	}
	if best != nil && best.rows >= 0 && best.rows <= a.rows {
		return best, nil
	}
	return a, nil
}

// subtreeName stands in cursors for the documents below a folder.
const subtreeName = "subtree"

// walkDown returns the documents below one by id; whole is false, and the access path nil, if
// there are more than max.
func (t planner) walkDown(top layout.ID, max int) (a *accessPath, whole bool, err error) {
	ids, whole, err := t.in().Below(top, max)
	if err != nil || !whole {
		return nil, false, err
	}
	a = idPath(layout.SortIDs(ids), subtreeName)
	a.about = "documents below " + top.String()
	return a, true, nil
}
