package layout

import (
	"encoding/binary"
	"time"
)

// Reader takes a record apart; after a mistake everything it reads is zero.
type Reader struct {
	B   []byte
	Bad bool
}

// Take reads so many bytes.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.B) {
		r.Bad, r.B = true, nil
		return nil
	}
	out := r.B[:n:n]
	r.B = r.B[n:]
	return out
}

// Uvarint reads a number that is not negative.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Bad, r.B = true, nil
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint reads a number.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.B)
	if n <= 0 {
		r.Bad, r.B = true, nil
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Bytes reads bytes with their length before them.
func (r *Reader) Bytes() []byte {
	n := r.Uvarint()
	if n > uint64(len(r.B)) {
		r.Bad, r.B = true, nil
		return nil
	}
	return r.Take(int(n))
}

// Text reads a text.
func (r *Reader) Text() string { return string(r.Bytes()) }

// ID reads an identifier.
func (r *Reader) ID() (id ID) {
	copy(id[:], r.Take(16))
	return id
}

// Time reads a time.
func (r *Reader) Time() time.Time { return time.UnixMilli(r.Varint()).UTC() }

// AppendText appends a text with its length before it.
func AppendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}
