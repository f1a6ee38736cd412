package storage

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/schema"
)

// record is what the row "D id" holds: the system fields, and the properties as one
// block of JSON members for each schema.
type record struct {
	typ          *schema.Type
	state        string
	facets       []string // of the document itself, besides those of its type
	system, user uint64   // the change token
	lockOwner    string
	lockNumber   int64 // of the user who has the lock; 0: not a user with a number
	lockSince    time.Time
	series       layout.ID // of a version: its live document; of a proxy: that of the document shown
	major, minor int64
	checkedIn    bool
	target       layout.ID // of a proxy: the document shown; of a live document: the version it was last equal to
	archived     time.Time // when a version was made
	proxied      bool      // a live document that proxies show, or showed
	kept         Retention
	blocks       []block
}

// The bits of a record's first varint.
const (
	hasFacets = 1 << iota
	hasLock
	hasVersion
	isCheckedIn
	hasTarget
	hasArchived
	isProxied
	hasLockNumber
	isRecord
	isHeld
	isRetained
)

func (r *record) bits() (b uint64) {
	set := func(on bool, bit uint64) {
		if on {
			b |= bit
		}
	}
	set(len(r.facets) > 0, hasFacets)
	set(r.lockOwner != "", hasLock)
	set(r.major != 0 || r.minor != 0 || r.series != layout.None, hasVersion)
	set(r.checkedIn, isCheckedIn)
	set(r.target != layout.None, hasTarget)
	set(!r.archived.IsZero(), hasArchived)
	set(r.proxied, isProxied)
	set(r.lockOwner != "" && r.lockNumber != 0, hasLockNumber)
	set(r.kept.Record, isRecord)
	set(r.kept.Hold, isHeld)
	set(r.kept.Until != 0, isRetained)
	return b
}

// append writes the record. Blocks changed in memory are written from their values.
func (r *record) append(dst []byte) []byte {
	bits := r.bits()
	dst = append(dst, layout.RecordFormat)
	dst = binary.AppendUvarint(dst, bits)
	dst = layout.AppendText(dst, r.typ.Name)
	dst = layout.AppendText(dst, r.state)
	dst = binary.AppendUvarint(dst, r.system)
	dst = binary.AppendUvarint(dst, r.user)
	if bits&hasFacets != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(r.facets)))
		for _, f := range r.facets {
			dst = layout.AppendText(dst, f)
		}
	}
	if bits&hasLock != 0 {
		dst = layout.AppendText(dst, r.lockOwner)
		dst = binary.AppendVarint(dst, r.lockSince.UnixMilli())
	}
	if bits&hasLockNumber != 0 {
		dst = binary.AppendVarint(dst, r.lockNumber)
	}
	if bits&hasVersion != 0 {
		dst = append(dst, r.series[:]...)
		dst = binary.AppendVarint(dst, r.major)
		dst = binary.AppendVarint(dst, r.minor)
	}
	if bits&hasTarget != 0 {
		dst = append(dst, r.target[:]...)
	}
	if bits&hasArchived != 0 {
		dst = binary.AppendVarint(dst, r.archived.UnixMilli())
	}
	if bits&isRetained != 0 {
		dst = binary.AppendVarint(dst, int64(r.kept.Until))
	}
	set := 0
	for i := range r.blocks {
		if r.blocks[i].raw != nil {
			set++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(set))
	for i := range r.blocks {
		if r.blocks[i].raw != nil {
			dst = r.blocks[i].append(dst)
		}
	}
	return dst
}

// parseRecord reads a record. Blocks keep pointing into b.
func (r *catalog) parseRecord(b []byte) (record, error) { return r.parseRecordIn(b, nil) }

// parseRecordIn is parseRecord with blocks that nobody uses any longer, which the record may get.
func (r *catalog) parseRecordIn(b []byte, spare []block) (rec record, err error) {
	in := layout.Reader{B: b}
	if f := in.Take(1); len(f) == 0 || f[0] != layout.RecordFormat {
		return rec, fault.Internal.Errorf("record: unknown format")
	}
	bits := in.Uvarint()
	name := in.Bytes()
	typ, ok := r.types.Type(string(name))
	if !ok {
		return rec, fault.Internal.Errorf("record: document type %q is no longer declared", name)
	}
	rec.typ = typ
	rec.state = r.intern(in.Bytes())
	rec.system, rec.user = in.Uvarint(), in.Uvarint()
	if bits&hasFacets != 0 {
		for n := in.Uvarint(); n > 0 && !in.Bad; n-- {
			rec.facets = append(rec.facets, r.intern(in.Bytes()))
		}
	}
	if bits&hasLock != 0 {
		rec.lockOwner, rec.lockSince = in.Text(), in.Time()
	}
	if bits&hasLockNumber != 0 {
		rec.lockNumber = in.Varint()
	}
	if bits&hasVersion != 0 {
		rec.series, rec.major, rec.minor = in.ID(), in.Varint(), in.Varint()
	}
	rec.checkedIn, rec.proxied = bits&isCheckedIn != 0, bits&isProxied != 0
	if bits&hasTarget != 0 {
		rec.target = in.ID()
	}
	if bits&hasArchived != 0 {
		rec.archived = in.Time()
	}
	rec.kept.Record, rec.kept.Hold = bits&isRecord != 0, bits&isHeld != 0
	if bits&isRetained != 0 {
		rec.kept.Until = Until(in.Varint())
	}
	r.parseBlocks(&in, &rec, spare)
	if in.Bad || len(in.B) > 0 {
		return rec, fault.Internal.Errorf("record: cut short")
	}
	return rec, nil
}

// parseBlocks reads the blocks and puts them in the order of the document's schemas:
// a schema none of whose fields is set has no block, one that the document
// no longer has is left out.
func (r *catalog) parseBlocks(in *layout.Reader, rec *record, spare []block) {
	if len(rec.facets) == 0 && len(spare) == len(r.typeShapes[rec.typ]) {
		rec.blocks = spare
		for i, s := range r.typeShapes[rec.typ] {
			spare[i] = block{shape: s}
		}
	} else {
		rec.blocks = r.emptyBlocks(rec.typ, rec.facets)
	}
	next := 0
	for n := in.Uvarint(); n > 0 && !in.Bad; n-- {
		name, head, runs, body := in.Bytes(), in.Take(5), in.Bytes(), in.Bytes()
		if in.Bad {
			return
		}
		at := rec.block(name, next)
		if at < 0 || len(body) == 0 {
			continue
		}
		b := &rec.blocks[at]
		b.raw, b.runs, b.blobs = body, runs, head[0] != 0
		b.same = binary.BigEndian.Uint32(head[1:]) == b.shape.hash
		next = at + 1
	}
}

// block finds the block of a schema, first from where it is expected; -1: there is none.
func (r *record) block(name []byte, from int) int {
	is := func(b block) bool { return b.shape.Name == string(name) }
	if i := slices.IndexFunc(r.blocks[from:], is); i >= 0 {
		return from + i
	}
	return slices.IndexFunc(r.blocks[:from], is)
}

// emptyBlocks returns a block for each schema of documents of a type with further facets.
func (r *catalog) emptyBlocks(typ *schema.Type, facets []string) []block {
	shapes := r.typeShapes[typ]
	if len(facets) > 0 {
		shapes = nil
		for _, s := range r.types.SchemasOf(typ, facets) {
			shapes = append(shapes, r.shapes[s])
		}
	}
	blocks := make([]block, len(shapes))
	for i, s := range shapes {
		blocks[i].shape = s
	}
	return blocks
}

// shape is a schema with what blocks need to know about it.
type shape struct {
	*schema.Schema
	hash  uint32
	blobs []bool // by field: it can hold a blob
	unset string // the members of all fields if none is set, a comma behind each
	ends  []int  // where the member of a field begins in unset, and where the last ends
}

// newShape precomputes how records hold the properties of a schema. The hash covers the names and types of all fields: a block with
// another hash was written under another declaration, so its members cannot be found by position or copied as they are.
func newShape(s *schema.Schema) *shape {
	sh := &shape{Schema: s, blobs: make([]bool, len(s.Fields))}
	h := fnv.New32a()
	var walk func(f *schema.Field) bool
	walk = func(f *schema.Field) bool {
		h.Write([]byte(f.Name + ":" + f.TypeName() + "{"))
		holds := f.Kind == schema.Blob
		for _, sub := range f.Fields {
			holds = walk(sub) || holds
		}
		h.Write([]byte("}"))
		return holds
	}
	h.Write([]byte(s.Space() + "/"))
	for i, f := range s.Fields {
		sh.blobs[i] = walk(f)
	}
	var unset []byte
	for _, f := range s.Fields {
		sh.ends = append(sh.ends, len(unset))
		unset = append(f.AppendJSON(append(append(append(unset, '"'), f.Key...), '"', ':'), nil, nil), ',')
	}
	sh.unset, sh.ends = string(unset), append(sh.ends, len(unset))
	sh.hash = h.Sum32()
	return sh
}

// node is a document's position in the tree: the row "t id".
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
	var c layout.Cover
	if err = parsePlace(b, &c); err == nil {
		n, _ = nodeOf(&c)
	}
	return n, err
}

// parsePlace is parseNode for what index rows say of a place, too. It keeps pointing into b.
func parsePlace(b []byte, c *layout.Cover) error {
	if len(b) < 42 || b[0] != nodeFormat {
		return fault.Internal.Errorf("tree: row has an unknown format")
	}
	*c = layout.Cover{Flags: b[1], Bits: layout.HasNode, Position: int64(binary.BigEndian.Uint64(b[34:])), Name: b[42:]}
	copy(c.Parent[:], b[2:])
	copy(c.List[:], b[18:])
	return nil
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

// nodeOf returns where a document is, if its index row says all of it.
func nodeOf(c *layout.Cover) (node, bool) {
	n := node{parent: c.Parent, acl: c.List, position: c.Position, flags: c.Flags, name: string(c.Name)}
	return n, c.Bits&layout.HasNode != 0
}
