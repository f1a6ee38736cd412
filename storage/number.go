package storage

import (
	"encoding/binary"
	"strconv"

	"catena/storage/kv"
)

// numbers are the names that rows hold as numbers. They do not change once a repository is open.
type numbers struct {
	byName map[string]uint64
	names  [][]byte // the first has number one
}

func newNumbers(names []string) *numbers {
	n := &numbers{byName: make(map[string]uint64, len(names))}
	for i, name := range names {
		n.names = append(n.names, []byte(name))
		n.byName[name] = uint64(i + 1)
	}
	return n
}

// append appends the number of a name, or zero and the name if it has none.
func (n *numbers) append(dst []byte, name string) []byte {
	if number := n.byName[name]; number > 0 {
		return binary.AppendUvarint(dst, number)
	}
	return appendText(append(dst, 0), name)
}

// read reads what append wrote.
func (n *numbers) read(in *reader) []byte {
	number := in.uvarint()
	if number == 0 {
		return in.bytes()
	}
	if number > uint64(len(n.names)) {
		in.bad = true
		return nil
	}
	return n.names[number-1]
}

// numberMark begins a number in a key; the parts of keys that hold values begin with lower bytes.
const numberMark = 0x80

// maxNumber is the largest number that a key has room for.
const maxNumber = 1<<15 - 1

// appendKey appends the number of a name to a key. A name without one is a bug: its rows would be
// those of every other such name.
func (n *numbers) appendKey(dst []byte, name string) []byte {
	number := n.byName[name]
	if number == 0 {
		panic("storage: no number for " + strconv.Quote(name))
	}
	return append(dst, numberMark|byte(number>>8), byte(number))
}

// indexPrefix begins the rows of an index.
func (n *numbers) indexPrefix(name string) []byte {
	return n.appendKey(append(make([]byte, 0, 64), spaceIndex), name)
}

// typePrefix begins the rows of a type's documents in the index by type.
func (n *numbers) typePrefix(name string) []byte {
	return n.appendKey(n.indexPrefix(indexType), name)
}

// versionPrefix begins the rows of the versions of a live document.
func (n *numbers) versionPrefix(live docID) []byte {
	return kv.AppendString(n.indexPrefix(indexVersion), live.String())
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
