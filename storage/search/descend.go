package search

import (
	"strings"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// Nothing has to be sorted by paths: the rows of children by name, from a folder down, have their order, but for one thing. What is
// below a document does not follow it at once: the slash comes after some characters, so a-b is before a/b.

// treePath is the way to all documents below the folder of STARTSWITH, or all there are, in the order of their paths. It is nil if that
// is not the order asked for, or versions are, which are in no folder. A store across a network would be asked about each document.
func (t planner) treePath(p *plan) *accessPath {
	live := len(p.under) > 0 || p.mask&layout.Version != 0 && p.want&layout.Version == 0
	if o := p.order[0]; o.Field.System != query.SysPath || o.Desc || !live || p.parent != nil || t.kv().Remote() {
		return nil
	}
	top := t.in().Root()
	if len(p.under) > 0 {
		top = p.under[len(p.under)-1]
	}
	return &accessPath{name: "tree", about: "documents below " + top.String() + " in the order of paths", top: &top, whole: true, rows: -1}
}

// source is what the order of the results comes from, for Explain.
func (a *accessPath) source() string {
	if a.top != nil {
		return "tree"
	}
	return "index"
}

// fewInTree reports whether the candidates of the plan without an order are so few that they are rather sorted by path.
func (t planner) fewInTree(p *plan) (bool, error) {
	if p.everyType(t.types) && p.plain.name == layout.TypeIndex {
		return false, nil
	}
	most := maxUnordered
	if !t.scan(p, p.plain).covers() {
		most /= t.costs.factor
	}
	return t.atMost(p.plain, most)
}

// descent offers documents in the order of their paths, from after one on.
type descent struct {
	scan  *scan
	after string
	visit func(h *candidate) (more bool, err error)
}

// node is a document on the way down.
type node struct {
	id   layout.ID
	name string
}

// descend offers the documents of a treePath.
func (r *scan) descend(after []byte, visit func(h *candidate) (bool, error)) error {
	d, top := descent{r, string(after), visit}, *r.path.top
	up, err := r.t.in().Folder(top)
	if err != nil || up == nil {
		return err
	}
	path := up.PathOf("")
	if top == r.t.in().Root() && len(r.p.under) == 0 && d.after < path {
		if more, err := d.offer(top); err != nil || !more {
			return err
		}
	}
	_, err = d.below(top, strings.TrimSuffix(path, "/")+"/")
	return err
}

// offer costs about as much as loading four documents in the order of an index: three rows are read that lie anywhere.
func (d *descent) offer(id layout.ID) (more bool, err error) {
	d.scan.loads += 4
	return d.scan.offerID(id, nil, id[:], d.visit)
}

// childrenTogether is how many children of a document are read together.
const childrenTogether = 200

// below offers what is below a document; path is its own, with a slash.
func (d *descent) below(id layout.ID, path string) (more bool, err error) {
	rng := kv.Prefix(layout.ChildNameKey(id, ""))
	rng.Limit = childrenTogether
	skip := len(rng.Start)
	late, err := d.resume(&rng, id, path)
	if err != nil {
		return false, err
	}
	for read := childrenTogether; read == childrenTogether; {
		var children []node
		for row, err := range d.scan.t.kv().Scan(rng) {
			if err != nil {
				return false, err
			}
			children = append(children, node{layout.IDAtEnd(row.Value), string(row.Key[skip:])})
		}
		for _, child := range children {
			if late, more, err = d.belowAll(late, path, child.name); err != nil || !more {
				return false, err
			}
			if more, err = d.offer(child.id); err != nil || !more {
				return false, err
			}
			late = append(late, child)
		}
		if read = len(children); read > 0 {
			rng.Start = append(layout.ChildNameKey(id, children[read-1].name), 0)
		}
	}
	_, more, err = d.belowAll(late, path, "")
	return more, err
}

// belowAll offers what is below children that were offered, the last ones first, as far as it comes before the next child, which "" says that
// there is none of. It returns those that are left; each name begins with the one before.
func (d *descent) belowAll(late []node, path, next string) (left []node, more bool, err error) {
	for len(late) > 0 {
		last := late[len(late)-1]
		if next != "" && next < last.name+"/" {
			break
		}
		late = late[:len(late)-1]
		if more, err := d.below(last.id, path+last.name+"/"); err != nil || !more {
			return nil, false, err
		}
	}
	return late, true, nil
}

// resume has children read from the one on that leads to where the last page ended, and returns those of which some of what is below them
// comes later: that one, and those whose names it begins with.
func (d *descent) resume(rng *kv.Range, id layout.ID, path string) (late []node, err error) {
	rest, ok := strings.CutPrefix(d.after, path)
	if !ok || rest == "" {
		return nil, nil
	}
	name, _, deeper := strings.Cut(rest, "/")
	key := layout.ChildNameKey(id, name)
	parent := len(key) - len(name)
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] >= '/' {
			continue
		}
		row, err := d.scan.t.kv().Get(key[: parent+i : parent+i]) // a cursor may name anything, however long
		if err != nil {
			return nil, err
		}
		if err := d.scan.count(); err != nil {
			return nil, err
		}
		if row != nil {
			late = append(late, node{layout.IDAtEnd(row), name[:i]})
		}
	}
	from := name + "\x00"
	if deeper { // what goes on with a character before the slash came before what is below
		from = name + "/"
	}
	rng.Start = layout.ChildNameKey(id, from)
	return late, nil
}
