package storage

import (
	"encoding/binary"
	"encoding/hex"
	"time"

	"catena/storage/internal/row"
	"catena/storage/kv"
)

// The table of key layouts. A key is a space byte, a kind byte where a space has
// several, parts of fixed length or tuple encoding, and mostly a document's id at the end. Which of them all
// repositories of a store share, sharedKey says. Records, which are half of all bytes, come first: a table
// of the store that ends with the newest rows of one kind and begins with those of the next lies across all
// older rows of the next, which are written again when it is merged.
//
//	D id                        the document's record
//	t id                        its place: parent, name, position, flags, own access list
//	c 1 parent name             flags, id: children by name
//	c 2 parent position id      flags, access list, type: children in order
//	p 1 acl                     the entries of an access list, by content hash
//	p 2 principal id            acl: documents whose own list names a user or group
//	x blob digest id            documents that hold a content
//	x index value id            cover: what indexes find documents by (index.go)
//	a 1 time number             audit records of one transaction, by the first one's number
//	a 2 id time number          where an audit record of a document is among those
//	a 3 number                  what the feed tells of an audit record
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
//	z id                        a deleted folder whose content is not yet removed
//	m name                      the root's id, the epoch of the tree, the numbers of names
const (
	spaceRecord   = 'D'
	spaceTree     = 't'
	spaceChild    = 'c'
	spaceAccess   = 'p'
	spaceIndex    = 'x'
	spaceAudit    = 'a'
	spaceEntry    = row.EntrySpace
	spaceName     = 'n'
	spaceTable    = 'r'
	spaceSecret   = 's'
	spaceMember   = 'g'
	spaceRelation = 'l'
	spaceWords    = 'w'
	spaceBlob     = 'b'
	spaceGone     = 'z'
	spaceMeta     = 'm'
)

const (
	childByName     = 1
	childByPosition = 2
	accessList      = 1
	accessGrantee   = 2
	auditByTime     = 1
	auditByDoc      = 2
	auditFeed       = 3
	wordsTerm       = 1
	wordsOf         = 2
	wordsPending    = 3
	wordsContent    = 4
	blobContent     = 1
	blobLoose       = 2
	memberUser      = 1
	memberOf        = 2
	subgroup        = 3
	supergroup      = 4
	memberEpoch     = 5
)

// docID is a document's identifier, 16 bytes shown as a UUID.
type docID [16]byte

// aclID is the hash of an access list's content; zero means no list.
type aclID [16]byte

// none is the parent of the root and of what is outside the tree.
var none docID

func (id docID) String() string {
	var b [36]byte
	hex.Encode(b[:8], id[:4])
	hex.Encode(b[9:13], id[4:6])
	hex.Encode(b[14:18], id[6:8])
	hex.Encode(b[19:23], id[8:10])
	hex.Encode(b[24:], id[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// parseID reads a UUID in its usual spelling, in either case.
func parseID(s string) (id docID, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return none, false
	}
	n := 0
	for i := 0; i < 36; i++ {
		if s[i] == '-' && (i == 8 || i == 13 || i == 18 || i == 23) {
			continue
		}
		v := unhex(s[i])
		if v > 15 {
			return none, false
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

func recordKey(id docID) []byte { return idKey(spaceRecord, id) }
func treeKey(id docID) []byte   { return idKey(spaceTree, id) }
func goneKey(id docID) []byte   { return idKey(spaceGone, id) }

func idKey(space byte, id docID) []byte {
	k := make([]byte, 17)
	k[0] = space
	copy(k[1:], id[:])
	return k
}

func childNameKey(parent docID, name string) []byte {
	k := make([]byte, 0, 64)
	k = append(k, spaceChild, childByName)
	k = append(k, parent[:]...)
	return append(k, name...)
}

// childrenPrefix begins the keys of the children in order.
func childrenPrefix(parent docID) []byte {
	k := make([]byte, 0, 42)
	k = append(k, spaceChild, childByPosition)
	return append(k, parent[:]...)
}

func childPositionKey(parent docID, position int64, id docID) []byte {
	k := childrenPrefix(parent)
	k = binary.BigEndian.AppendUint64(k, uint64(position)^1<<63)
	return append(k, id[:]...)
}

// positionAndID reads the end of a key made by childPositionKey.
func positionAndID(key []byte) (position int64, id docID) {
	n := len(key)
	position = int64(binary.BigEndian.Uint64(key[n-24:n-16]) ^ 1<<63)
	copy(id[:], key[n-16:])
	return position, id
}

func aclKey(a aclID) []byte {
	return append([]byte{spaceAccess, accessList}, a[:]...)
}

// granteePrefix begins the keys of the documents that a user or group was granted something on.
func granteePrefix(principal string) []byte {
	return kv.AppendString([]byte{spaceAccess, accessGrantee}, principal)
}

func granteeKey(principal string, id docID) []byte { return append(granteePrefix(principal), id[:]...) }

const blobIndex = "blob"

func blobRefPrefix(digest string) []byte {
	return kv.AppendString(kv.AppendString([]byte{spaceIndex}, blobIndex), digest)
}

func blobRefKey(digest string, id docID) []byte { return append(blobRefPrefix(digest), id[:]...) }

func auditTimeKey(at time.Time, number int64) []byte {
	return appendMoment([]byte{spaceAudit, auditByTime}, at, number)
}

func auditDocKey(id docID, at time.Time, number int64) []byte {
	return appendMoment(append([]byte{spaceAudit, auditByDoc}, id[:]...), at, number)
}

func appendMoment(k []byte, at time.Time, number int64) []byte {
	k = binary.BigEndian.AppendUint64(k, uint64(at.UnixMilli())^1<<63)
	return binary.BigEndian.AppendUint64(k, uint64(number))
}

func tableKey(space byte, name, key string) []byte {
	k := append(make([]byte, 0, 64), space)
	k = append(k, name...)
	k = append(k, 0)
	return append(k, key...)
}

func memberKey(kind byte, of, who string) []byte {
	return kv.AppendString(memberPrefix(kind, of), who)
}

func memberPrefix(kind byte, of string) []byte {
	return kv.AppendString([]byte{spaceMember, kind}, of)
}

func metaKey(name string) []byte { return append([]byte{spaceMeta}, name...) }
