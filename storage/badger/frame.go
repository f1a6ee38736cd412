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
//	12  number of transactions
//	16  version of the first; the others follow without gaps
//	24  last version known to be on disk when the frame was written
//	32  chain: hash of the chain before and of this header
//	48  number of the segment
//	56  CRC32C of the store's id and of this header
//
// A transaction in the payload is a number of writes, and a write is the length of its
// key, doubled, plus one if it deletes; the key; unless it deletes, the length of the
// value and the value. Numbers in the payload are uvarints.
const (
	frameMagic  = 0x63_74_6e_6c
	frameHeader = 60
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
	first   uint64
	synced  uint64
	chain   chain
	segment uint64
}

// last is the version of the frame's last transaction.
func (f *frame) last() uint64 { return f.first + uint64(f.count) - 1 }

// seal writes the header of the frame that b holds, the payload being complete, and
// returns the chain that ends with it.
func (f *frame) seal(b []byte, store id, before chain) chain {
	payload := b[frameHeader:]
	binary.BigEndian.PutUint32(b, frameMagic)
	binary.BigEndian.PutUint32(b[4:], uint32(len(payload)))
	binary.BigEndian.PutUint32(b[8:], crc32.Checksum(payload, castagnoli))
	binary.BigEndian.PutUint32(b[12:], uint32(f.count))
	binary.BigEndian.PutUint64(b[16:], f.first)
	binary.BigEndian.PutUint64(b[24:], f.synced)
	binary.BigEndian.PutUint64(b[48:], f.segment)
	c := link(b, before)
	copy(b[32:], c[:])
	binary.BigEndian.PutUint32(b[56:], headerSum(b, store))
	return c
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
	f.count = int(binary.BigEndian.Uint32(b[12:]))
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
		return fault.Internal.Errorf("log: record of version %d does not decode: %w", f.first, ErrCorrupt)
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
