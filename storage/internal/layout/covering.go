package layout

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
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
//	x trash true id                   documents in the trash
//	x file parent name id             documents by the name of their main file, if neither their
//	                                  title nor their own name is that
//	x dc:title value id               properties declared with an index, item by item;
//	                                  those of alwaysIndexed also if they are not set
//	x unset dc:title typeName id      properties of alwaysIndexed that are not set
//	x nxtag:tags/*/label value id     fields of complex properties declared with one
//
// Text is folded and cut at maxIndexed bytes.
const (
	TypeIndex    = "type"
	NameIndex    = "name"
	StateIndex   = "state"
	FacetIndex   = "facet"
	FileIndex    = "file"
	LockIndex    = "lock"
	ProxyIndex   = "proxy"
	ProxyOfIndex = "proxyOf"
	VersionIndex = "version"
	TrashIndex   = "trash"
	UnsetIndex   = "unset"
)

// MaxIndexed is the number of bytes of a text that an index row holds.
const MaxIndexed = 200

// AlwaysIndexed are the properties most lists are ordered by: every document has a row,
// so that the index alone gives the order.
var AlwaysIndexed = []string{"dc:title", "dc:created", "dc:modified", "dc:creator", "dc:lastContributor"}

// IsAlwaysIndexed reports whether every document has a row in the index of a property.
func IsAlwaysIndexed(key string) bool { return slices.Contains(AlwaysIndexed, key) }

// SlimIndexes are for filters more than for lists: their rows leave the place out.
var SlimIndexes = map[string]bool{
	StateIndex: true, FacetIndex: true, LockIndex: true, ProxyIndex: true, ProxyOfIndex: true, VersionIndex: true,
	TrashIndex: true, UnsetIndex: true, "dc:creator": true, "dc:lastContributor": true,
}

// The bits that follow the flags of a cover.
const (
	HasList   = 1 << iota // the document's own access list follows
	HasFacets             // the document has facets of its own
	HasText               // the indexed text follows, which is not what the key holds
	IsPart                // the key does not hold all of the value
	HasNode               // position and name follow, so that the row of the tree need not be read
)

// Cover is the value of an index row: what filters, permissions and counts need.
type Cover struct {
	Flags, Bits byte
	Parent      ID
	List        ListID
	Type, State []byte
	Position    int64
	Name        []byte
	Text        []byte
}

// Parse reads the value of an index row. It keeps pointing into b.
func (c *Cover) Parse(n *Dictionary, b []byte) error {
	in := Reader{B: b}
	head := in.Take(18)
	if len(head) < 18 {
		return fault.Internal.Errorf("index row: cut short")
	}
	c.Flags, c.Bits = head[0], head[1]
	copy(c.Parent[:], head[2:])
	c.List = ListID{}
	if c.Bits&HasList != 0 {
		copy(c.List[:], in.Take(16))
	}
	c.Type, c.State = n.Read(&in), n.Read(&in)
	c.Position, c.Name = 0, nil
	if c.Bits&HasNode != 0 {
		if b := in.Take(8); b != nil {
			c.Position = int64(binary.BigEndian.Uint64(b))
		}
		c.Name = in.Bytes()
	}
	if c.Text = in.B; in.Bad {
		return fault.Internal.Errorf("index row: cut short")
	}
	return nil
}

// IndexRow is a row of an index as the store takes it over: key and value in one piece.
type IndexRow struct {
	Row     []byte
	KeySize int // of the key
}

// Key returns the key.
func (r IndexRow) Key() []byte { return r.Row[:r.KeySize:r.KeySize] }

// Value returns the value.
func (r IndexRow) Value() []byte { return kv.RowValue(r.Row, r.KeySize) }

// IndexRows collects the rows of one document. They lie in room one behind the other.
type IndexRows struct {
	numbers    *Dictionary
	Rows       []IndexRow
	room       []byte
	id         ID
	full, slim []byte         // covers with and without the place
	seen       map[string]int // where the row of a key is, if there are many

	few    [12]IndexRow // where rows begins
	covers [160]byte    // where full and slim begin
}

// NoRows are those of no document.
var NoRows = &IndexRows{}

// NewIndexRows returns the rows of a document with an id, none at first.
func NewIndexRows(n *Dictionary, id ID) *IndexRows {
	x := &IndexRows{numbers: n, id: id}
	x.Rows = x.few[:0]
	return x
}

// CoverRoom returns room for the two covers of the document.
func (x *IndexRows) CoverRoom() (slim, full []byte) { return x.covers[:0:48], x.covers[48:48] }

// SetCovers sets the values of the rows that are added, without the place and with it.
func (x *IndexRows) SetCovers(slim, full []byte) { x.slim, x.full = slim, full }

// Begin returns room for a row that begins with the prefix of an index.
func (x *IndexRows) Begin(index string) []byte {
	if cap(x.room) < rowRoom {
		x.room = make([]byte, 0, 8*rowRoom)
	}
	return x.numbers.AppendKey(append(x.room, IndexSpace), index)
}

// rowRoom is enough for most rows.
const rowRoom = 96

// Add adds a row whose key has everything but the id.
func (x *IndexRows) Add(index string, row []byte, text string, bits byte) {
	row = append(row, x.id[:]...)
	size := len(row)
	cover := x.full
	if SlimIndexes[index] {
		cover = x.slim
	}
	if i := x.index(row); i >= 0 { // items of a list that differ in case only
		row = append(kv.AppendRow(row[:0], row), cover...)
		row[size+kv.RowGap+1] |= IsPart
		x.Rows[i].Row = row
		x.keep(row)
		return
	}
	row = append(kv.AppendRow(row[:0], row), cover...)
	row[size+kv.RowGap+1] |= bits
	row = append(row, text...)
	if x.seen != nil {
		x.seen[string(row[:size])] = len(x.Rows)
	}
	x.Rows = append(x.Rows, IndexRow{row, size})
	x.keep(row)
}

// manyRows is how many rows are compared one by one.
const manyRows = 64

// index returns where a row with a key is, -1 if there is none.
func (x *IndexRows) index(key []byte) int {
	if len(x.Rows) < manyRows {
		return slices.IndexFunc(x.Rows, func(r IndexRow) bool { return bytes.Equal(r.Key(), key) })
	}
	if x.seen == nil {
		x.seen = make(map[string]int, 2*manyRows)
		for i, r := range x.Rows {
			x.seen[string(r.Key())] = i
		}
	}
	if i, ok := x.seen[string(key)]; ok {
		return i
	}
	return -1
}

// keep has the next row begin behind this one.
func (x *IndexRows) keep(row []byte) {
	if len(row) <= cap(x.room) {
		x.room = x.room[len(row):len(row):cap(x.room)]
	}
}

// AddText adds a row of a text.
func (x *IndexRows) AddText(index, s string) {
	folded, original, bits := strings.ToLower(s), "", byte(0)
	if folded != s {
		original, bits = s, HasText
	}
	if len(folded) > MaxIndexed {
		folded, original, bits = folded[:MaxIndexed], "", IsPart
	}
	x.Add(index, kv.AppendString(x.Begin(index), folded), original, bits)
}

// AddValue adds a row of any value that has an order.
func (x *IndexRows) AddValue(index string, v any) {
	if s, ok := v.(string); ok {
		x.AddText(index, s)
		return
	}
	if key, ok := AppendValue(x.Begin(index), v); ok {
		x.Add(index, key, "", 0)
	}
}

// AppendValue encodes a value so that it sorts as ORDER BY sorts it.
func AppendValue(dst []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return kv.AppendNil(dst), true
	case string:
		s := strings.ToLower(v)
		return kv.AppendString(dst, s[:min(len(s), MaxIndexed)]), true
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

// Find returns the value of the row with a key, nil if there is none.
func (x *IndexRows) Find(key []byte) []byte {
	if i := x.index(key); i >= 0 {
		return x.Rows[i].Value()
	}
	return nil
}

// IDAtEnd reads the id at the end of an index row's key.
func IDAtEnd(key []byte) (id ID) {
	if len(key) >= 16 {
		copy(id[:], key[len(key)-16:])
	}
	return id
}

// ValueLen is the length of the first value encoded in b, inverted or not.
func ValueLen(b []byte) int {
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
