package storage

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/schema"
)

// The rows of indexes are "x name value id" with a cover as value, names as numbers and
// values in tuple encoding:
//
//	x type    typeName modified id    every document
//	x name    name id                 every document
//	x state   state id                documents with a life cycle
//	x facet   facet id                facets of the document itself
//	x lock    owner id                locked documents
//	x proxy   target id               proxies
//	x proxyOf live id         proxies, by the live document of what they show
//	x version live major minor id     versions
//	x dc:title value id               properties declared with an index, item by item;
//	                                  those of alwaysIndexed also if they are not set
//	x nxtag:tags/*/label value id     fields of complex properties declared with one
//
// Text is folded and cut at maxIndexed bytes.
const (
	indexType    = "type"
	indexName    = "name"
	indexState   = "state"
	indexFacet   = "facet"
	indexLock    = "lock"
	indexProxy   = "proxy"
	indexProxyOf = "proxyOf"
	indexVersion = "version"
)

// maxIndexed is the number of bytes of a text that an index row holds.
const maxIndexed = 200

// alwaysIndexed are the properties most lists are ordered by: every document has a row,
// so that the index alone gives the order.
var alwaysIndexed = []string{"dc:title", "dc:created", "dc:modified", "dc:creator", "dc:lastContributor"}

func isAlwaysIndexed(key string) bool { return slices.Contains(alwaysIndexed, key) }

// slimIndexes are for filters more than for lists: their rows leave the place out.
var slimIndexes = map[string]bool{
	indexState: true, indexFacet: true, indexLock: true, indexProxy: true, indexProxyOf: true, indexVersion: true,
	"dc:creator": true, "dc:lastContributor": true,
}

// The bits that follow the flags of a cover.
const (
	coverACL    = 1 << iota // the document's own access list follows
	coverFacets             // the document has facets of its own
	coverText               // the indexed text follows, which is not what the key holds
	coverPart               // the key does not hold all of the value
	coverPlace              // position and name follow, so that the row of the tree need not be read
)

// cover is the value of an index row: what filters, permissions and counts need.
type cover struct {
	flags, bits byte
	parent      docID
	acl         aclID
	typ, state  []byte
	position    int64
	name        []byte
	text        []byte
}

// parse reads the value of an index row. It keeps pointing into b.
func (c *cover) parse(n *numbers, b []byte) error {
	in := reader{b: b}
	head := in.take(18)
	if len(head) < 18 {
		return fault.Internal.Errorf("index row: cut short")
	}
	c.flags, c.bits = head[0], head[1]
	copy(c.parent[:], head[2:])
	c.acl = aclID{}
	if c.bits&coverACL != 0 {
		copy(c.acl[:], in.take(16))
	}
	c.typ, c.state = n.read(&in), n.read(&in)
	c.position, c.name = 0, nil
	if c.bits&coverPlace != 0 {
		if b := in.take(8); b != nil {
			c.position = int64(binary.BigEndian.Uint64(b))
		}
		c.name = in.bytes()
	}
	if c.text = in.b; in.bad {
		return fault.Internal.Errorf("index row: cut short")
	}
	return nil
}

// indexRow is a row of an index as the store takes it over: key and value in one piece.
type indexRow struct {
	row  []byte
	size int // of the key
}

// key returns the key.
func (r indexRow) key() []byte { return r.row[:r.size:r.size] }

// value returns the value.
func (r indexRow) value() []byte { return kv.RowValue(r.row, r.size) }

// indexRows collects the rows of one document. They lie in room one behind the other.
type indexRows struct {
	numbers    *numbers
	rows       []indexRow
	room       []byte
	id         docID
	full, slim []byte         // covers with and without the place
	seen       map[string]int // where the row of a key is, if there are many

	few    [12]indexRow // where rows begins
	covers [160]byte    // where full and slim begin
}

// noRows are those of no document.
var noRows = &indexRows{}

// newIndexRows returns the rows of a document with an id, none at first.
func newIndexRows(n *numbers, id docID) *indexRows {
	x := &indexRows{numbers: n, id: id}
	x.rows = x.few[:0]
	return x
}

// coverRoom returns room for the two covers of the document.
func (x *indexRows) coverRoom() (slim, full []byte) { return x.covers[:0:48], x.covers[48:48] }

// setCovers sets the values of the rows that are added, without the place and with it.
func (x *indexRows) setCovers(slim, full []byte) { x.slim, x.full = slim, full }

// begin returns room for a row that begins with the prefix of an index.
func (x *indexRows) begin(index string) []byte {
	if cap(x.room) < rowRoom {
		x.room = make([]byte, 0, 8*rowRoom)
	}
	return x.numbers.appendKey(append(x.room, spaceIndex), index)
}

// rowRoom is enough for most rows.
const rowRoom = 96

// add adds a row whose key has everything but the id.
func (x *indexRows) add(index string, row []byte, text string, bits byte) {
	row = append(row, x.id[:]...)
	size := len(row)
	cover := x.full
	if slimIndexes[index] {
		cover = x.slim
	}
	if i := x.place(row); i >= 0 { // items of a list that differ in case only
		row = append(kv.AppendRow(row[:0], row), cover...)
		row[size+kv.RowGap+1] |= coverPart
		x.rows[i].row = row
		x.keep(row)
		return
	}
	row = append(kv.AppendRow(row[:0], row), cover...)
	row[size+kv.RowGap+1] |= bits
	row = append(row, text...)
	if x.seen != nil {
		x.seen[string(row[:size])] = len(x.rows)
	}
	x.rows = append(x.rows, indexRow{row, size})
	x.keep(row)
}

// manyRows is how many rows are compared one by one.
const manyRows = 64

// place returns where a row with a key is, -1 if there is none.
func (x *indexRows) place(key []byte) int {
	if len(x.rows) < manyRows {
		return slices.IndexFunc(x.rows, func(r indexRow) bool { return bytes.Equal(r.key(), key) })
	}
	if x.seen == nil {
		x.seen = make(map[string]int, 2*manyRows)
		for i, r := range x.rows {
			x.seen[string(r.key())] = i
		}
	}
	if i, ok := x.seen[string(key)]; ok {
		return i
	}
	return -1
}

// keep has the next row begin behind this one.
func (x *indexRows) keep(row []byte) {
	if len(row) <= cap(x.room) {
		x.room = x.room[len(row):len(row):cap(x.room)]
	}
}

// text adds a row of a text.
func (x *indexRows) text(index, s string) {
	folded, original, bits := strings.ToLower(s), "", byte(0)
	if folded != s {
		original, bits = s, coverText
	}
	if len(folded) > maxIndexed {
		folded, original, bits = folded[:maxIndexed], "", coverPart
	}
	x.add(index, kv.AppendString(x.begin(index), folded), original, bits)
}

// value adds a row of any value that has an order.
func (x *indexRows) value(index string, v any) {
	if s, ok := v.(string); ok {
		x.text(index, s)
		return
	}
	if key, ok := appendValue(x.begin(index), v); ok {
		x.add(index, key, "", 0)
	}
}

// appendValue encodes a value so that it sorts as ORDER BY sorts it.
func appendValue(dst []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return kv.AppendNil(dst), true
	case string:
		s := strings.ToLower(v)
		return kv.AppendString(dst, s[:min(len(s), maxIndexed)]), true
	case int64:
		return kv.AppendInt64(dst, v), true
	case float64:
		return kv.AppendFloat64(dst, v), true
	case bool:
		return kv.AppendBool(dst, v), true
	case time.Time:
		return kv.AppendInt64(dst, v.UnixMilli()), true
	}
	return dst, false
}

// find returns the value of the row with a key, nil if there is none.
func (x *indexRows) find(key []byte) []byte {
	if i := x.place(key); i >= 0 {
		return x.rows[i].value()
	}
	return nil
}

// indexID reads the id at the end of an index row's key.
func indexID(key []byte) (id docID) {
	if len(key) >= 16 {
		copy(id[:], key[len(key)-16:])
	}
	return id
}

// partLen is the length of the first value encoded in b, inverted or not.
func partLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	end, x := []byte{0, 1}, b[0]
	if x >= 0x80 {
		end, x = []byte{0xFF, 0xFE}, ^x
	}
	switch nilPart, no, str := kv.AppendNil(nil), kv.AppendBool(nil, false), kv.AppendString(nil, ""); {
	case x == nilPart[0], x|1 == no[0]|1:
		return 1
	case x == str[0]:
		i := bytes.Index(b, end)
		if i < 0 {
			return len(b)
		}
		return i + 2
	}
	return min(len(b), 9)
}

// indexValue decodes the value of an index key's first part; kind tells what it holds.
// Text is folded.
func indexValue(k schema.Kind, part []byte) (any, error) {
	if _, null := kv.DecodeNil(part); null {
		return nil, nil
	}
	switch k {
	case schema.String:
		s, _, err := kv.DecodeString(part)
		return s, err
	case schema.Double:
		v, _, err := kv.DecodeFloat64(part)
		return v, err
	case schema.Boolean:
		v, _, err := kv.DecodeBool(part)
		return v, err
	case schema.Date:
		if len(part) < 9 {
			return nil, fault.Internal.Errorf("index row: no date")
		}
		ms := int64(binary.BigEndian.Uint64(part[1:]) ^ 1<<63)
		return time.UnixMilli(ms).UTC(), nil
	}
	v, _, err := kv.DecodeInt64(part)
	return v, err
}
