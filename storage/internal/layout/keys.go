// Package layout defines keys and index rows: the table of all keys, identifiers, names that rows store as numbers,
// and the values of covering index rows. It reads and writes bytes; what they mean is storage's.
package layout

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"catena/storage/kv"
)

// The table of key layouts. A key is a space byte, a kind byte where a space has
// several, parts of fixed length or tuple encoding, and mostly a document's id at the end. Which of them all
// repositories of a store share, sharedKey says. Records, which are half of all bytes, come first: a table
// of the store that ends with the newest rows of one kind and begins with those of the next lies across all
// older rows of the next, which are written again when it is merged.
//
//	D id                        the document's record
//	t id                        the tree row: parent, name, position, flags, own access list
//	c 1 parent name             flags, id: children by name
//	c 2 parent position id      flags, access list, type: children in order
//	p 1 acl                     the entries of an access list, by content hash
//	p 2 principal id            acl: documents whose own list names a user or group
//	x blob digest id            documents that hold a content
//	x index value id            cover: what indexes find documents by (index.go)
//	a 1 time number             audit records of one transaction, by the first one's number
//	a 2 id time number          where an audit record of a document is among those
//	a 3 number                  what the feed describes an audit record
//	a 4 begin end               the zone map of a run of audit records (zones.go)
//	j 0 due job                 a job that waits
//	j 1 leaseEnd job            a job that is being carried out
//	j 2 job                     a job that was given up
//	e 1 directory id            an entry of a directory
//	e 2 directory field value id   entries by the value of a field
//	n 1 text user, n 2 text group   people by the beginning of their names
//	r name 0 key                a row of a table
//	s name 0 key                a row of a table that only this package reads
//	g 1 group user, g 2 user group, g 3 group sub, g 4 sub group   memberships
//	g 5                         the epoch of the memberships
//	l 1 subject predicate object, l 2 object predicate subject      relations
//	w 1 term id                 words that full text finds a document by
//	w 2 id                      the terms of a document
//	w 3 number                  documents whose terms are to be brought up to date
//	w 4 digest                  the text in a content
//	b 1 digest                  the content of a small file
//	b 2 digest                  since when nobody may need it
//	y id                        a folder whose content is put into the trash, or taken out of it
//	z id                        a deleted folder whose content is not yet removed
//	m name                      the root's id, the epoch of the tree, the numbers of names
const (
	RecordSpace   = 'D'
	NodeSpace     = 't'
	ChildSpace    = 'c'
	AccessSpace   = 'p'
	IndexSpace    = 'x'
	AuditSpace    = 'a'
	EntrySpace    = 'e'
	NameSpace     = 'n'
	TableSpace    = 'r'
	SecretSpace   = 's'
	MemberSpace   = 'g'
	RelationSpace = 'l'
	WordsSpace    = 'w'
	BlobSpace     = 'b'
	TrashSpace    = 'y'
	GoneSpace     = 'z'
	MetaSpace     = 'm'
)

// The kinds of rows within a space, the first byte after that of the space.
const (
	ChildByName     = 1
	ChildByPosition = 2
	AccessList      = 1
	AccessGrantee   = 2
	AuditByTime     = 1
	AuditByDoc      = 2
	AuditFeed       = 3
	AuditZone       = 4
	WordsTerm       = 1
	WordsOf         = 2
	WordsPending    = 3
	WordsContent    = 4
	BlobContent     = 1
	BlobLoose       = 2
	MemberUser      = 1
	MemberOf        = 2
	Subgroup        = 3
	Supergroup      = 4
	MemberEpoch     = 5
)

// ID is a document's identifier, 16 bytes shown as a UUID.
type ID [16]byte

// ListID is the hash of an access list's content; zero means no list.
type ListID [16]byte

// None is the parent of the root and of what is outside the tree.
var None ID

// String returns the usual spelling of a UUID.
func (id ID) String() string {
	var b [36]byte
	return string(id.Append(b[:0]))
}

// Append appends the usual spelling.
func (id ID) Append(dst []byte) []byte {
	for i, part := range [...][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// ParseID reads a UUID in its usual spelling, in either case.
func ParseID(s string) (id ID, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return None, false
	}
	n := 0
	for i := 0; i < 36; i++ {
		if s[i] == '-' && (i == 8 || i == 13 || i == 18 || i == 23) {
			continue
		}
		v := unhex(s[i])
		if v > 15 {
			return None, false
		}
		if n%2 == 0 {
			id[n/2] = v << 4
		} else {
			id[n/2] |= v
		}
		n++
	}
	return id, true
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// RecordKey is the key of the record of a document.
func RecordKey(id ID) []byte { return idKey(RecordSpace, id) }

// NodeKey is the key of the tree row of a document: its parent, name and position.
func NodeKey(id ID) []byte { return idKey(NodeSpace, id) }

// DocumentSpaces are the spaces that have a row of each document, by its id.
var DocumentSpaces = [][]byte{{NodeSpace}, {RecordSpace}}

// RecordSpaces are those without the rows that say where a document is.
var RecordSpaces = DocumentSpaces[1:]

// TrashKey is the key of a folder whose content is put into the trash, or taken out of it, in parts.
func TrashKey(id ID) []byte { return idKey(TrashSpace, id) }

// GoneKey is the key of a deleted folder whose content is not yet removed.
func GoneKey(id ID) []byte { return idKey(GoneSpace, id) }

func idKey(space byte, id ID) []byte {
	k := make([]byte, 17)
	k[0] = space
	copy(k[1:], id[:])
	return k
}

// ChildNameKey is the key of a child by name.
func ChildNameKey(parent ID, name string) []byte {
	k := make([]byte, 0, 64)
	k = append(k, ChildSpace, ChildByName)
	k = append(k, parent[:]...)
	return append(k, name...)
}

// ChildrenPrefix begins the keys of the children in order.
func ChildrenPrefix(parent ID) []byte {
	k := make([]byte, 0, 42)
	k = append(k, ChildSpace, ChildByPosition)
	return append(k, parent[:]...)
}

// ChildPositionKey is the key of a child in order.
func ChildPositionKey(parent ID, position int64, id ID) []byte {
	k := ChildrenPrefix(parent)
	k = binary.BigEndian.AppendUint64(k, uint64(position)^1<<63)
	return append(k, id[:]...)
}

// PositionAndID reads the end of a key made by childPositionKey.
func PositionAndID(key []byte) (position int64, id ID) {
	n := len(key)
	position = int64(binary.BigEndian.Uint64(key[n-24:n-16]) ^ 1<<63)
	copy(id[:], key[n-16:])
	return position, id
}

// ListKey is the key of access lists.
func ListKey(a ListID) []byte {
	return append([]byte{AccessSpace, AccessList}, a[:]...)
}

// GranteePrefix begins the keys of the documents that a user or group was granted something on.
func GranteePrefix(principal string) []byte {
	return kv.AppendString([]byte{AccessSpace, AccessGrantee}, principal)
}

// GranteeKey is the key of a document that a user or group was granted something on.
func GranteeKey(principal string, id ID) []byte { return append(GranteePrefix(principal), id[:]...) }

// BlobIndex is the name of the index of contents.
const BlobIndex = "blob"

// BlobRefs begins the keys that say who refers to which content.
func BlobRefs() []byte { return kv.AppendString([]byte{IndexSpace}, BlobIndex) }

// BlobRefPrefix begins the keys of those that refer to a content.
func BlobRefPrefix(digest string) []byte {
	return kv.AppendString(kv.AppendString([]byte{IndexSpace}, BlobIndex), digest)
}

// BlobRefKey is the key that says that a document refers to a content.
func BlobRefKey(digest string, id ID) []byte { return append(BlobRefPrefix(digest), id[:]...) }

// AuditTimeKey is the key of the audit records of a transaction.
func AuditTimeKey(at time.Time, number int64) []byte {
	return AppendMoment([]byte{AuditSpace, AuditByTime}, at, number)
}

// AuditDocKey is the key that says where an audit record of a document is.
func AuditDocKey(id ID, at time.Time, number int64) []byte {
	return AppendMoment(append([]byte{AuditSpace, AuditByDoc}, id[:]...), at, number)
}

// AppendMoment appends a time and a number, so that keys are in their order.
func AppendMoment(k []byte, at time.Time, number int64) []byte {
	k = binary.BigEndian.AppendUint64(k, uint64(at.UnixMilli())^1<<63)
	return binary.BigEndian.AppendUint64(k, uint64(number))
}

// TableKey is the key of a row of a table.
func TableKey(space byte, name, key string) []byte {
	k := append(make([]byte, 0, 64), space)
	k = append(k, name...)
	k = append(k, 0)
	return append(k, key...)
}

// MemberKey is the key of one side of a membership.
func MemberKey(kind byte, of, who string) []byte {
	return kv.AppendString(MemberPrefix(kind, of), who)
}

// MemberPrefix begins the keys of one side of the memberships of a user or group.
func MemberPrefix(kind byte, of string) []byte {
	return kv.AppendString([]byte{MemberSpace, kind}, of)
}

// MetaKey is the key of a fact about the whole repository.
func MetaKey(name string) []byte { return append([]byte{MetaSpace}, name...) }

// TermKey begins the keys of the documents that have a term.
func TermKey(term string) []byte {
	return kv.AppendString(append(make([]byte, 0, 64), WordsSpace, WordsTerm), term)
}

// TermsKey is the key of the terms of a document.
func TermsKey(id ID) []byte {
	return append(append(make([]byte, 0, 18), WordsSpace, WordsOf), id[:]...)
}

// TextKey is the key of the text in a content.
func TextKey(digest string) []byte {
	return append([]byte{WordsSpace, WordsContent}, digest...)
}

// SortIDs sorts identifiers and leaves each once.
func SortIDs(ids []ID) []ID {
	slices.SortFunc(ids, compareIDs)
	return slices.Compact(ids)
}

// HasID reports whether an id is among sorted ones.
func HasID(ids []ID, id ID) bool {
	_, has := slices.BinarySearchFunc(ids, id, compareIDs)
	return has
}

func compareIDs(a, b ID) int { return bytes.Compare(a[:], b[:]) }

// TextIndex stands for the terms in the list of indexes; another version of the analysis has another
// number.
const TextIndex = "words/3"

// The tables of users and groups.
const (
	UserTable  = "users"
	GroupTable = "groups"
)

// InlineSize is how many bytes of content are kept inline, in a row.
const InlineSize = 64 << 10

// InlineKey is the key of the content of a small file.
func InlineKey(digest string) []byte {
	return append(append(make([]byte, 0, 66), BlobSpace, BlobContent), digest...)
}
