package layout

import (
	"encoding/binary"
	"strconv"

	"catena/storage/kv"
)

// Dictionary are the names that rows hold as numbers. They do not change once a repository is open.
type Dictionary struct {
	byName map[string]uint64
	names  [][]byte // the first has number one
}

// NewDictionary returns the dictionary of names in the order of their numbers.
func NewDictionary(names []string) *Dictionary {
	n := &Dictionary{byName: make(map[string]uint64, len(names))}
	for i, name := range names {
		n.names = append(n.names, []byte(name))
		n.byName[name] = uint64(i + 1)
	}
	return n
}

// Has reports whether a name has a number.
func (n *Dictionary) Has(name string) bool { return n.byName[name] > 0 }

// Append appends the number of a name, or zero and the name if it has none.
func (n *Dictionary) Append(dst []byte, name string) []byte {
	if number := n.byName[name]; number > 0 {
		return binary.AppendUvarint(dst, number)
	}
	return AppendText(append(dst, 0), name)
}

// Read reads what append wrote.
func (n *Dictionary) Read(in *Reader) []byte {
	number := in.Uvarint()
	if number == 0 {
		return in.Bytes()
	}
	if number > uint64(len(n.names)) {
		in.Bad = true
		return nil
	}
	return n.names[number-1]
}

// numberMark begins a number in a key; the parts of keys that hold values begin with lower bytes.
const numberMark = 0x80

// MaxName is the largest number that a key has room for.
const MaxName = 1<<15 - 1

// AppendKey appends the number of a name to a key. A name without one is a bug: its rows would be
// those of every other such name.
func (n *Dictionary) AppendKey(dst []byte, name string) []byte {
	number := n.byName[name]
	if number == 0 {
		panic("storage: no number for " + strconv.Quote(name))
	}
	return append(dst, numberMark|byte(number>>8), byte(number))
}

// IndexPrefix begins the rows of an index.
func (n *Dictionary) IndexPrefix(name string) []byte {
	return n.AppendKey(append(make([]byte, 0, 64), IndexSpace), name)
}

// TypePrefix begins the rows of a type's documents in the index by type.
func (n *Dictionary) TypePrefix(name string) []byte {
	return n.AppendKey(n.IndexPrefix(TypeIndex), name)
}

// UnsetPrefix begins the rows of a type's documents that have no value of an always indexed property.
func (n *Dictionary) UnsetPrefix(property, typ string) []byte {
	return n.AppendKey(n.AppendKey(n.IndexPrefix(UnsetIndex), property), typ)
}

// VersionPrefix begins the rows of the versions of a live document.
func (n *Dictionary) VersionPrefix(live ID) []byte {
	return kv.AppendString(n.IndexPrefix(VersionIndex), live.String())
}

// ParseChild reads such a row. Those of older repositories do not say the type, which is nil then.
func (n *Dictionary) ParseChild(b []byte) (flags byte, acl ListID, typ []byte) {
	in := Reader{B: b}
	if head := in.Take(1); head != nil {
		flags = head[0]
	}
	if len(in.B) >= len(acl) {
		copy(acl[:], in.Take(len(acl)))
	}
	if len(in.B) > 0 {
		typ = n.Read(&in)
	}
	return flags, acl, typ
}
