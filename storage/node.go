package storage

import (
	"encoding/binary"

	"catena/storage/fault"
)

// The flags that rows about a document repeat, so that lists can be filtered without
// reading records.
const (
	flagFolder  = 1 << iota // has the facet Folderish
	flagVersion             // an archived state, outside the tree
	flagProxy
	flagTrashed
	flagHidden  // has the facet HiddenInNavigation
	flagTomb    // stands for a removed document whose versions are still published; no record
	flagOrdered // has the facet Orderable: its children have an order of their own
)

// facetBits follow from the facets, treeBits are what documents below see of them.
const (
	facetBits = flagFolder | flagHidden | flagOrdered
	treeBits  = flagFolder | flagOrdered
)

// node is a document's place: the row "t id".
type node struct {
	parent   docID // for a version, the document it is a version of
	acl      aclID
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
		return n, fault.Internal.Errorf("tree: row of unknown form")
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
	if d.acl != (aclID{}) {
		b = append(b, d.acl[:]...)
	}
	return d.repo.numbers.append(b, d.typ.Name)
}

// parseChild reads such a row. Those of older repositories do not say the type, which is nil then.
func (n *numbers) parseChild(b []byte) (flags byte, acl aclID, typ []byte) {
	in := reader{b: b}
	if head := in.take(1); head != nil {
		flags = head[0]
	}
	if len(in.b) >= len(acl) {
		copy(acl[:], in.take(len(acl)))
	}
	if len(in.b) > 0 {
		typ = n.read(&in)
	}
	return flags, acl, typ
}

// childValue is the value of the row of a child by name.
func childValue(flags byte, id docID) []byte { return append([]byte{flags}, id[:]...) }

// childOf reads the id in such a value.
func childOf(b []byte) (id docID) {
	if len(b) == 17 {
		copy(id[:], b[1:])
	}
	return id
}
