package kv

import (
	"encoding/binary"
	"math"

	"catena/storage/fault"
)

// Tags begin every encoded part. All are below 0x80, so that an inverted part is
// known by its first byte.
const (
	tagNil    = 0x02
	tagFalse  = 0x04
	tagTrue   = 0x05
	tagInt    = 0x08
	tagFloat  = 0x0A
	tagString = 0x10
)

// AppendNil appends the part that sorts below all others.
func AppendNil(dst []byte) []byte { return append(dst, tagNil) }

// AppendBool appends a part that sorts false below true.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, tagTrue)
	}
	return append(dst, tagFalse)
}

// AppendInt64 appends a part that sorts by number.
func AppendInt64(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, tagInt), uint64(v)^1<<63)
}

// AppendFloat64 appends a part that sorts by number; both zeros are one, and all NaN
// are one above infinity.
func AppendFloat64(dst []byte, v float64) []byte {
	if v == 0 {
		v = 0 // drops the sign
	}
	bits := math.Float64bits(v)
	switch {
	case v != v:
		bits = math.MaxUint64
	case bits>>63 == 1:
		bits = ^bits
	default:
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(append(dst, tagFloat), bits)
}

// AppendString appends a part that sorts by bytes, also when other parts follow.
func AppendString(dst []byte, v string) []byte {
	dst = append(dst, tagString)
	for i := range len(v) {
		if dst = append(dst, v[i]); v[i] == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0, 1)
}

// Invert flips every bit of encoded parts in place, so that they sort the other way:
// n := len(key); key = AppendInt64(key, v); Invert(key[n:]). The decoders read inverted
// parts as well.
func Invert(parts []byte) []byte {
	for i := range parts {
		parts[i] = ^parts[i]
	}
	return parts
}

// DecodeNil reads a part made by AppendNil and reports whether it is one.
func DecodeNil(b []byte) (rest []byte, ok bool) {
	if len(b) > 0 && b[0]^flip(b) == tagNil {
		return b[1:], true
	}
	return b, false
}

// DecodeBool reads a part made by AppendBool and returns what follows it.
func DecodeBool(b []byte) (v bool, rest []byte, err error) {
	if len(b) > 0 && (b[0]^flip(b))|1 == tagTrue {
		return b[0]^flip(b) == tagTrue, b[1:], nil
	}
	return false, nil, badPart("bool")
}

// DecodeInt64 reads a part made by AppendInt64 and returns what follows it.
func DecodeInt64(b []byte) (v int64, rest []byte, err error) {
	n, rest, ok := fixed(b, tagInt)
	if !ok {
		return 0, nil, badPart("integer")
	}
	return int64(n ^ 1<<63), rest, nil
}

// DecodeFloat64 reads a part made by AppendFloat64 and returns what follows it.
func DecodeFloat64(b []byte) (v float64, rest []byte, err error) {
	bits, rest, ok := fixed(b, tagFloat)
	if !ok {
		return 0, nil, badPart("number")
	}
	switch {
	case bits == math.MaxUint64:
		return math.NaN(), rest, nil
	case bits>>63 == 1:
		bits &^= 1 << 63
	default:
		bits = ^bits
	}
	return math.Float64frombits(bits), rest, nil
}

// DecodeString reads a part made by AppendString and returns what follows it.
func DecodeString(b []byte) (v string, rest []byte, err error) {
	x := flip(b)
	if len(b) == 0 || b[0]^x != tagString {
		return "", nil, badPart("string")
	}
	out := make([]byte, 0, len(b))
	for i := 1; i < len(b); i++ {
		c := b[i] ^ x
		if c != 0 {
			out = append(out, c)
			continue
		}
		if i++; i == len(b) {
			break
		}
		switch b[i] ^ x {
		case 1:
			return string(out), b[i+1:], nil
		case 0xFF:
			out = append(out, 0)
		default:
			return "", nil, badPart("string")
		}
	}
	return "", nil, badPart("string")
}

// flip is 0xFF if the part that b begins with is inverted.
func flip(b []byte) byte {
	if len(b) > 0 && b[0] >= 0x80 {
		return 0xFF
	}
	return 0
}

func fixed(b []byte, tag byte) (n uint64, rest []byte, ok bool) {
	x := flip(b)
	if len(b) < 9 || b[0]^x != tag {
		return 0, nil, false
	}
	n = binary.BigEndian.Uint64(b[1:])
	if x != 0 {
		n = ^n
	}
	return n, b[9:], true
}

func badPart(kind string) error { return fault.Internal.Errorf("key: %s is missing", kind) }
