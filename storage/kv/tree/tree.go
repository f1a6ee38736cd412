// Package tree is an ordered map with snapshots in constant time. A transaction keeps its buffered writes in one, so
// that scans see a fixed state while writing goes on, and the memory store keeps its whole content in one. A tree has one
// writer at a time; its snapshots may be read by anyone at any moment.
package tree

import "bytes"

// width is the most keys a node holds before it splits.
const width = 64

// owner tells the nodes a tree may change in place from those a snapshot shares.
type owner struct{ _ byte }

// node is a leaf with values or an inner node with kids. In an inner node keys[i]
// is at most the first key of kids[i]; keys[0] counts as lower than every key.
type node[V any] struct {
	owner *owner
	keys  [][]byte
	vals  []V
	kids  []*node[V]
}

// Tree maps keys to values in byte order. The zero value is empty and ready.
type Tree[V any] struct {
	root  *node[V]
	owner *owner
	n     int
}

// Len is the number of keys.
func (t *Tree[V]) Len() int { return t.n }

// Snapshot returns the present state as a tree of its own; neither sees what the
// other does later.
func (t *Tree[V]) Snapshot() Tree[V] {
	t.owner = nil
	return Tree[V]{root: t.root, n: t.n}
}

// Get returns the value of a key.
func (t *Tree[V]) Get(key []byte) (v V, ok bool) {
	n := t.root
	if n == nil {
		return v, false
	}
	for n.kids != nil {
		n = n.kids[n.child(key)]
	}
	if i, found := n.search(key); found {
		return n.vals[i], true
	}
	return v, false
}

// Set puts a value under a key, which the tree keeps, and returns what was there.
func (t *Tree[V]) Set(key []byte, v V) (old V, had bool) {
	if t.owner == nil {
		t.owner = new(owner)
	}
	if t.root == nil {
		t.root = &node[V]{owner: t.owner, keys: make([][]byte, 0, 24), vals: make([]V, 0, 24)}
	}
	t.root = t.root.own(t.owner)
	old, had = t.root.set(t.owner, key, v)
	if right, sep := t.root.split(t.owner); right != nil {
		t.root = &node[V]{owner: t.owner, keys: [][]byte{nil, sep}, kids: []*node[V]{t.root, right}}
	}
	if !had {
		t.n++
	}
	return old, had
}

// Delete removes a key and reports whether it was there.
func (t *Tree[V]) Delete(key []byte) bool {
	if _, ok := t.Get(key); !ok {
		return false
	}
	if t.owner == nil {
		t.owner = new(owner)
	}
	t.root = t.root.own(t.owner)
	t.root.remove(t.owner, key)
	for t.root != nil && t.root.kids != nil && len(t.root.kids) <= 1 {
		if len(t.root.kids) == 0 {
			t.root = nil
		} else {
			t.root = t.root.kids[0]
		}
	}
	if t.root != nil && len(t.root.keys) == 0 {
		t.root = nil
	}
	t.n--
	return true
}

// search finds the first position whose key is not below key.
func (n *node[V]) search(key []byte) (int, bool) {
	lo, hi := 0, len(n.keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(n.keys[mid], key); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// child is the position of the kid that holds key.
func (n *node[V]) child(key []byte) int {
	lo, hi := 1, len(n.keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(n.keys[mid], key) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// own returns the node itself if o owns it, else a copy that o owns.
func (n *node[V]) own(o *owner) *node[V] {
	if n.owner == o {
		return n
	}
	c := &node[V]{owner: o, keys: append(make([][]byte, 0, len(n.keys)+4), n.keys...)}
	if n.kids != nil {
		c.kids = append(make([]*node[V], 0, len(n.kids)+4), n.kids...)
	} else {
		c.vals = append(make([]V, 0, len(n.vals)+4), n.vals...)
	}
	return c
}

func (n *node[V]) set(o *owner, key []byte, v V) (old V, had bool) {
	if n.kids == nil {
		i, found := n.search(key)
		if found {
			old, n.vals[i] = n.vals[i], v
			return old, true
		}
		n.keys = insert(n.keys, i, key)
		n.vals = insert(n.vals, i, v)
		return old, false
	}
	i := n.child(key)
	kid := n.kids[i].own(o)
	n.kids[i] = kid
	old, had = kid.set(o, key, v)
	if right, sep := kid.split(o); right != nil {
		n.keys = insert(n.keys, i+1, sep)
		n.kids = insert(n.kids, i+1, right)
	}
	return old, had
}

// split moves the upper half of an overfull node into a new one.
func (n *node[V]) split(o *owner) (*node[V], []byte) {
	if len(n.keys) <= width {
		return nil, nil
	}
	at := len(n.keys) / 2
	r := &node[V]{owner: o, keys: append(make([][]byte, 0, width+1), n.keys[at:]...)}
	clear(n.keys[at:])
	if n.kids != nil {
		r.kids = append(make([]*node[V], 0, width+1), n.kids[at:]...)
		clear(n.kids[at:])
		n.kids = n.kids[:at]
	} else {
		r.vals = append(make([]V, 0, width+1), n.vals[at:]...)
		clear(n.vals[at:])
		n.vals = n.vals[:at]
	}
	n.keys = n.keys[:at]
	return r, r.keys[0]
}

// remove takes a key that is there out of the subtree; emptied kids disappear.
func (n *node[V]) remove(o *owner, key []byte) {
	if n.kids == nil {
		i, _ := n.search(key)
		n.keys = cut(n.keys, i)
		n.vals = cut(n.vals, i)
		return
	}
	i := n.child(key)
	kid := n.kids[i].own(o)
	n.kids[i] = kid
	kid.remove(o, key)
	if len(kid.keys) == 0 {
		n.keys = cut(n.keys, i)
		n.kids = cut(n.kids, i)
	}
}

func insert[E any](s []E, i int, e E) []E {
	var zero E
	s = append(s, zero)
	copy(s[i+1:], s[i:])
	s[i] = e
	return s
}

func cut[E any](s []E, i int) []E {
	var zero E
	copy(s[i:], s[i+1:])
	s[len(s)-1] = zero
	return s[:len(s)-1]
}
