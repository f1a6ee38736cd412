package tree

import "bytes"

// Cursor walks the keys of a tree in [start, end), either way. The tree must not
// change meanwhile: walk a snapshot when it may.
type Cursor[V any] struct {
	root       *node[V]
	leaf       *node[V]
	start, end []byte
	next       []byte // the bound of the neighbouring leaf, nil at the edge
	i          int
	reverse    bool
}

// Range returns a cursor before the first key of [start, end), or behind the last
// if reverse. A nil bound is open.
func (t *Tree[V]) Range(start, end []byte, reverse bool) Cursor[V] {
	c := Cursor[V]{root: t.root, start: start, end: end, reverse: reverse}
	if c.root == nil {
		return c
	}
	if reverse {
		c.seekBelow(end)
	} else {
		c.seek(start)
	}
	return c
}

// Next moves to the next key and reports whether there is one.
func (c *Cursor[V]) Next() bool {
	if c.leaf == nil {
		return false
	}
	if c.reverse {
		return c.back()
	}
	for c.i++; c.i >= len(c.leaf.keys); c.i++ {
		if c.next == nil {
			c.leaf = nil
			return false
		}
		c.seek(c.next)
	}
	if c.end != nil && bytes.Compare(c.leaf.keys[c.i], c.end) >= 0 {
		c.leaf = nil
	}
	return c.leaf != nil
}

func (c *Cursor[V]) back() bool {
	for c.i--; c.i < 0; c.i-- {
		if c.next == nil {
			c.leaf = nil
			return false
		}
		c.seekBelow(c.next)
	}
	if bytes.Compare(c.leaf.keys[c.i], c.start) < 0 {
		c.leaf = nil
	}
	return c.leaf != nil
}

// Key is the present key.
func (c *Cursor[V]) Key() []byte { return c.leaf.keys[c.i] }

// Value is the present value.
func (c *Cursor[V]) Value() V { return c.leaf.vals[c.i] }

// seek stands just before the first key not below key.
func (c *Cursor[V]) seek(key []byte) {
	n, next := c.root, []byte(nil)
	for n.kids != nil {
		i := n.child(key)
		if i+1 < len(n.keys) {
			next = n.keys[i+1]
		}
		n = n.kids[i]
	}
	i, _ := n.search(key)
	c.leaf, c.next, c.i = n, next, i-1
}

// seekBelow stands just behind the last key below bound; nil means the end.
func (c *Cursor[V]) seekBelow(bound []byte) {
	n, next := c.root, []byte(nil)
	for n.kids != nil {
		i := len(n.kids) - 1
		if bound != nil {
			for i = n.child(bound); i > 0 && bytes.Equal(n.keys[i], bound); {
				i--
			}
		}
		if i > 0 {
			next = n.keys[i]
		}
		n = n.kids[i]
	}
	i := len(n.keys)
	if bound != nil {
		i, _ = n.search(bound)
	}
	c.leaf, c.next, c.i = n, next, i
}
