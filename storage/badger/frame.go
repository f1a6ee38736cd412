package badger

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"catena/storage/fault"
	"catena/storage/kv"
)

// A redo log is a chain of frames, one for each group of transactions synced together.
// A frame is a header and a payload:
//
//	 0  magic
//	 4  length of the payload
//	 8  CRC32C of the payload
//	12  number of transactions, in the low 12 bits; above that the number of sectors that
//	    its payload leaves blank, in 19 bits; the highest bit is set if that number is known
//	16  version of the first; the others follow without gaps
//	24  last version known to be on disk when the frame was written
//	32  chain: hash of the chain before and of this header
//	48  number of the segment
//	56  CRC32C of the store's id and of this header
//
// A transaction in the payload is a number of writes, and a write is the length of its
// key, doubled, plus one if it deletes; the key; unless it deletes, the length of the
// value and the value. Numbers in the payload are uvarints.
//
// What a segment holds after its last frame are zeros, so a sector of a payload that was
// never written is blank: all zeros as far as the payload reaches into it. A frame that has
// more blank sectors than it was sealed with was torn: the machine stopped before all of it
// was on disk, so its commits were not acknowledged. One that has no more of them was
// written as a whole, and if its sums do not match it is damaged.
const (
	frameMagic  = 0x63_74_6e_6c
	frameHeader = 60

	countBits  = 12
	blankBits  = 19
	blankKnown = 1 << (countBits + blankBits)
)

// id is the random number that belongs to one store.
type id [16]byte

// chain proves that nothing is missing before a frame.
type chain [16]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is the decoded header of one.
type frame struct {
	length  int
	sum     uint32
	count   int
	blank   int // sectors that it leaves blank, -1 if that is not known
	first   uint64
	synced  uint64
	chain   chain
	segment uint64
}

// last is the version of the frame's last transaction.
func (f *frame) last() uint64 { return f.first + uint64(f.count) - 1 }

// seal writes the header of the frame that b holds and that will stand at a place of its
// segment, the payload being complete, and returns the chain that ends with it.
func (f *frame) seal(b []byte, at int64, store id, before chain) chain {
	payload := b[frameHeader:]
	binary.BigEndian.PutUint32(b, frameMagic)
	binary.BigEndian.PutUint32(b[4:], uint32(len(payload)))
	binary.BigEndian.PutUint32(b[8:], crc32.Checksum(payload, castagnoli))
	binary.BigEndian.PutUint32(b[12:], packCount(f.count, blankSectors(payload, at+frameHeader)))
	binary.BigEndian.PutUint64(b[16:], f.first)
	binary.BigEndian.PutUint64(b[24:], f.synced)
	binary.BigEndian.PutUint64(b[48:], f.segment)
	c := link(b, before)
	copy(b[32:], c[:])
	binary.BigEndian.PutUint32(b[56:], headerSum(b, store))
	return c
}

func packCount(count, blank int) uint32 {
	if blank >= 1<<blankBits {
		return uint32(count)
	}
	return blankKnown | uint32(blank)<<countBits | uint32(count)
}

// unpackCount returns what packCount packed; older logs hold the number of transactions alone.
func unpackCount(n uint32) (count, blank int) {
	if n&blankKnown == 0 {
		return int(n), -1
	}
	return int(n & (1<<countBits - 1)), int(n>>countBits) & (1<<blankBits - 1)
}

// link is the chain that ends with the header in b.
func link(b []byte, before chain) (c chain) {
	var in [56]byte
	copy(in[:], before[:])
	copy(in[16:], b[:32])
	copy(in[48:], b[48:56])
	sum := sha256.Sum256(in[:])
	copy(c[:], sum[:])
	return c
}

func headerSum(b []byte, store id) uint32 {
	return crc32.Update(crc32.Checksum(store[:], castagnoli), castagnoli, b[:56])
}

// parse reads the header at the start of b; ok says that it is one of this store.
func (f *frame) parse(b []byte, store id) (ok bool) {
	if len(b) < frameHeader || binary.BigEndian.Uint32(b) != frameMagic || binary.BigEndian.Uint32(b[56:]) != headerSum(b, store) {
		return false
	}
	f.length = int(binary.BigEndian.Uint32(b[4:]))
	f.sum = binary.BigEndian.Uint32(b[8:])
	f.count, f.blank = unpackCount(binary.BigEndian.Uint32(b[12:]))
	f.first = binary.BigEndian.Uint64(b[16:])
	f.synced = binary.BigEndian.Uint64(b[24:])
	copy(f.chain[:], b[32:48])
	f.segment = binary.BigEndian.Uint64(b[48:])
	return f.count > 0
}

// payload returns the payload of the frame that b begins with, if it is whole.
func (f *frame) payload(b []byte) ([]byte, bool) {
	if f.length > len(b)-frameHeader {
		return nil, false
	}
	p := b[frameHeader : frameHeader+f.length]
	return p, crc32.Checksum(p, castagnoli) == f.sum
}

// torn reports whether some of a frame that stands at a place of segment b was never written. Of a frame whose
// number of blank sectors is not known, one blank sector is taken to prove that.
func (f *frame) torn(b []byte, at int) bool {
	from := at + frameHeader
	if f.length > len(b)-from {
		return true
	}
	return blankSectors(b[from:from+f.length], int64(from)) > max(f.blank, 0)
}

// tornHeader reports whether the header at a place of segment b was never written as a whole: the part of it in one
// of the sectors it lies in is blank.
func tornHeader(b []byte, at int) bool {
	end := at + frameHeader
	return end > len(b) || blankSectors(b[at:end], int64(at)) > 0
}

// appendWrites adds a transaction to a payload.
func appendWrites(b []byte, writes []kv.Mutation) []byte {
	b = binary.AppendUvarint(b, uint64(len(writes)))
	for _, w := range writes {
		if w.Value == nil {
			b = binary.AppendUvarint(b, uint64(len(w.Key))<<1|1)
			b = append(b, w.Key...)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(w.Key))<<1)
		b = append(b, w.Key...)
		b = binary.AppendUvarint(b, uint64(len(w.Value)))
		b = append(b, w.Value...)
	}
	return b
}

// eachWrite calls fn with every write of a payload; the slices lie in it.
func eachWrite(payload []byte, f *frame, fn func(version uint64, w kv.Mutation) error) error {
	p := reader{rest: payload}
	for i := range f.count {
		for n := p.number(); n > 0 && !p.bad; n-- {
			head := p.number()
			w := kv.Mutation{Key: p.bytes(head >> 1)}
			if head&1 == 0 {
				w.Value = p.bytes(p.number())
			}
			if p.bad {
				break
			}
			if err := fn(f.first+uint64(i), w); err != nil {
				return err
			}
		}
	}
	if p.bad || len(p.rest) > 0 {
		return fault.Internal.Errorf("log: record of version %d cannot be decoded: %w", f.first, ErrCorrupt)
	}
	return nil
}

// reader takes numbers and byte strings off a payload.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}
