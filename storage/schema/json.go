package schema

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"catena/storage/blob"
	"catena/storage/jsontext"
)

// AppendJSON appends the wire form of v, which is in the form Coerce returns: dates in
// UTC with milliseconds, null for what is not set and [] for a list, complex values with
// every part, blobs as objects with their length as text and what more says of them, unless
// it is nil. ParseJSON reads the result back.
func (f *Field) AppendJSON(dst []byte, v any, more BlobFunc) []byte {
	e := encoder{dst: dst, more: more}
	e.field(f, v, f.Key)
	return e.dst
}

// BlobFunc appends further members of a blob's object, a comma before each: where it can be
// downloaded, and what else depends on the document it belongs to.
type BlobFunc func(dst []byte, xpath string, b *blob.Blob) []byte

// encoder appends values. Places are only followed where more is to be said of blobs.
type encoder struct {
	dst  []byte
	more BlobFunc
}

func (e *encoder) field(f *Field, v any, at string) {
	if !f.List {
		e.single(f, v, at)
		return
	}
	items, _ := v.([]any)
	e.dst = append(e.dst, '[')
	for i, item := range items {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		if e.more != nil && f.Kind >= Blob {
			e.single(f, item, at+"/"+strconv.Itoa(i))
			continue
		}
		e.single(f, item, at)
	}
	e.dst = append(e.dst, ']')
}

func (e *encoder) single(f *Field, v any, at string) {
	switch v := v.(type) {
	case string:
		e.dst = AppendString(e.dst, v)
	case int64:
		e.dst = strconv.AppendInt(e.dst, v, 10)
	case float64:
		e.dst = appendDouble(e.dst, v)
	case bool:
		e.dst = strconv.AppendBool(e.dst, v)
	case time.Time:
		e.dst = AppendTime(e.dst, v)
	case *blob.Blob:
		e.blob(v, at)
	case map[string]any:
		e.complex(f, v, at)
	default:
		e.dst = append(e.dst, "null"...)
	}
}

func (e *encoder) complex(f *Field, v map[string]any, at string) {
	if v == nil {
		e.dst = append(e.dst, "null"...)
		return
	}
	e.dst = append(e.dst, '{')
	for i, sub := range f.Fields {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		e.dst = AppendString(e.dst, sub.Name)
		e.dst = append(e.dst, ':')
		xpath := at
		if e.more != nil && sub.Kind >= Blob {
			xpath = at + "/" + sub.Name
		}
		e.field(sub, v[sub.Name], xpath)
	}
	e.dst = append(e.dst, '}')
}

func (e *encoder) blob(b *blob.Blob, at string) {
	if b == nil {
		e.dst = append(e.dst, "null"...)
		return
	}
	e.dst = AppendBlob(e.dst, b)
	if e.more != nil {
		e.dst = append(e.more(e.dst[:len(e.dst)-1], at, b), '}')
	}
}

// AppendBlob appends what is the same of a blob wherever it is.
func AppendBlob(dst []byte, b *blob.Blob) []byte {
	dst = appendOr(append(dst, `{"name":`...), b.Name)
	dst = appendOr(append(dst, `,"mime-type":`...), b.Type)
	dst = appendOr(append(dst, `,"encoding":`...), b.Encoding)
	dst = append(dst, `,"digestAlgorithm":"SHA-256","digest":`...)
	dst = appendOr(dst, b.Digest)
	dst = append(dst, `,"length":"`...)
	return append(strconv.AppendInt(dst, b.Size, 10), '"', '}')
}

// appendOr appends text, or null if there is none.
func appendOr(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return AppendString(dst, s)
}

// appendDouble writes a number the way JavaScript does: exponents for the very large and
// very small only.
func appendDouble(dst []byte, v float64) []byte {
	format := byte('f')
	if a := max(v, -v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	if v-v != 0 { // JSON has no infinities
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, format, -1, 64)
}

// AppendTime appends a quoted date, in UTC with milliseconds.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	milli := t.Nanosecond() / 1e6
	year = min(max(year, 0), 9999)
	return append(dst, '"',
		digit(year/1000), digit(year/100), digit(year/10), digit(year), '-',
		digit(int(month)/10), digit(int(month)), '-', digit(day/10), digit(day), 'T',
		digit(hour/10), digit(hour), ':', digit(minute/10), digit(minute), ':',
		digit(second/10), digit(second), '.', digit(milli/100), digit(milli/10), digit(milli), 'Z', '"')
}

func digit(n int) byte { return byte('0' + n%10) }

const hexDigits = "0123456789abcdef"

// AppendString appends s as JSON text. Invalid UTF-8 becomes U+FFFD; HTML is left alone.
func AppendString(dst []byte, s string) []byte {
	const escapes = 16 // text that is escaped more often grows dst again
	dst = append(slices.Grow(dst, len(s)+len(s)/escapes+16), '"')
	i := 0
	for i+8 <= len(s) {
		if cap(dst)-len(dst) < 8 {
			dst = slices.Grow(dst, len(s)-i+16)
		}
		end := len(dst)
		w, found := jsontext.Eight(s[i : i+8])
		binary.LittleEndian.PutUint64(dst[end:end+8], w)
		if found == 0 {
			dst, i = dst[:end+8], i+8
			continue
		}
		n := bits.TrailingZeros64(found) / 8
		dst, i = dst[:end+n], i+n
		dst, n = appendSpecial(dst, s[i:])
		i += n
	}
	for i < len(s) {
		if c := s[i]; c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			dst, i = append(dst, c), i+1
			continue
		}
		var n int
		dst, n = appendSpecial(dst, s[i:])
		i += n
	}
	return append(dst, '"')
}

// appendSpecial writes the character that s begins with, which does not stand for itself or is not ASCII, and returns
// its length.
func appendSpecial(dst []byte, s string) ([]byte, int) {
	switch c := s[0]; {
	case c >= utf8.RuneSelf:
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			return append(dst, "\uFFFD"...), 1
		}
		return append(dst, s[:n]...), n
	case c == '"' || c == '\\':
		return append(dst, '\\', c), 1
	case c == '\n':
		return append(dst, '\\', 'n'), 1
	case c == '\r':
		return append(dst, '\\', 'r'), 1
	case c == '\t':
		return append(dst, '\\', 't'), 1
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]), 1
	}
}
