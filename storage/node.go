package storage

import (
	"encoding/binary"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// node is a document's place: the row "t id".
type node struct {
	parent   layout.ID // for a version, the document it is a version of
	acl      layout.ListID
	position int64
	flags    byte
	name     string
}

const nodeFormat = 1

func (n *node) append(dst []byte) []byte {
	dst = append(dst, nodeFormat, n.flags)
	dst = append(dst, n.parent[:]...)
	dst = append(dst, n.acl[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(n.position))
	return append(dst, n.name...)
}

func parseNode(b []byte) (n node, err error) {
	if len(b) < 42 || b[0] != nodeFormat {
		return n, fault.Internal.Errorf("tree: row has an unknown format")
	}
	n.flags = b[1]
	copy(n.parent[:], b[2:])
	copy(n.acl[:], b[18:])
	n.position = int64(binary.BigEndian.Uint64(b[34:]))
	n.name = string(b[42:])
	return n, nil
}

// childCover is what the row of a child in order says about its document: the flags, the access list if it
// has one of its own, and the type.
func (d *Doc) childCover() []byte {
	b := append(make([]byte, 0, 20), d.flags)
	if d.acl != (layout.ListID{}) {
		b = append(b, d.acl[:]...)
	}
	return d.repo.numbers.Append(b, d.typ.Name)
}

// childValue is the value of the row of a child by name.
func childValue(flags byte, id layout.ID) []byte { return append([]byte{flags}, id[:]...) }

// childOf reads the id in such a value.
func childOf(b []byte) (id layout.ID) {
	if len(b) == 17 {
		copy(id[:], b[1:])
	}
	return id
}

// placeOf returns where a document is, if its index row says all of it.
func placeOf(c *layout.Cover) (node, bool) {
	n := node{parent: c.Parent, acl: c.List, position: c.Position, flags: c.Flags, name: string(c.Name)}
	return n, c.Bits&layout.HasPlace != 0
}
