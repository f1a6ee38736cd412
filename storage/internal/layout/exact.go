package layout

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// The rows of indexes over several fields end with what their keys do not hold: for each column whether its text is that
// in the key, and the values of included fields.
const (
	asInKey   = iota // the text is folded already
	inPart           // the text is longer than what the key holds
	asFollows        // the text follows
)

// AppendOriginal appends what the key of a row does not say of the value of a column.
func AppendOriginal(dst []byte, v any) []byte {
	s, ok := v.(string)
	if !ok {
		return append(dst, asInKey)
	}
	switch folded := strings.ToLower(s); {
	case len(folded) > MaxIndexed:
		return append(dst, inPart)
	case folded != s:
		return AppendText(append(dst, asFollows), s)
	}
	return append(dst, asInKey)
}

// ReadOriginal reads what AppendOriginal wrote: the text where the key has another one. It is not whole if neither has it.
func ReadOriginal(in *Reader) (text []byte, other, whole bool) {
	switch string(in.Take(1)) {
	case string([]byte{asFollows}):
		return in.Bytes(), true, true
	case string([]byte{asInKey}):
		return nil, false, true
	}
	return nil, false, false
}

// The kinds of included values.
const (
	exactNil = iota
	exactText
	exactInt
	exactFloat
	exactFalse
	exactTrue
	exactTime
	exactMissing // too long to be held
	exactList    // the number of its items, and these
)

// maxExact is the number of bytes of the longest text and the longest list that rows include.
const maxExact = 256

// AppendExact appends an included value.
func AppendExact(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, exactNil)
	case string:
		if len(v) <= maxExact {
			return AppendText(append(dst, exactText), v)
		}
	case int64:
		return binary.AppendVarint(append(dst, exactInt), v)
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, exactFloat), math.Float64bits(v))
	case bool:
		if v {
			return append(dst, exactTrue)
		}
		return append(dst, exactFalse)
	case time.Time:
		return binary.AppendVarint(append(dst, exactTime), v.UnixMilli())
	case []any:
		if list, ok := appendItems(append(dst, exactList), v); ok {
			return list
		}
	}
	return append(dst, exactMissing)
}

// appendItems appends the items of a list; it is not ok if they are too long together, or a row cannot hold one of them.
func appendItems(dst []byte, list []any) ([]byte, bool) {
	begin := len(dst)
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, item := range list {
		at := len(dst)
		if _, nested := item.([]any); nested {
			return nil, false
		}
		if dst = AppendExact(dst, item); dst[at] == exactMissing || len(dst)-begin > maxExact {
			return nil, false
		}
	}
	return dst, true
}

// ReadExact reads an included value; it is not ok if the row does not hold it.
func ReadExact(in *Reader) (v any, ok bool) {
	head := in.Take(1)
	if head == nil {
		return nil, false
	}
	switch head[0] {
	case exactNil:
		return nil, true
	case exactText:
		return in.Text(), !in.Bad
	case exactInt:
		return in.Varint(), !in.Bad
	case exactFloat:
		b := in.Take(8)
		if b == nil {
			return nil, false
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), true
	case exactFalse, exactTrue:
		return head[0] == exactTrue, true
	case exactTime:
		return in.Time(), !in.Bad
	case exactList:
		return readItems(in)
	}
	return nil, false
}

func readItems(in *Reader) (any, bool) {
	n := in.Uvarint()
	if in.Bad || n > maxExact {
		return nil, false
	}
	list := make([]any, n)
	for i := range list {
		if len(in.B) > 0 && in.B[0] == exactList {
			return nil, false
		}
		var ok bool
		if list[i], ok = ReadExact(in); !ok {
			return nil, false
		}
	}
	return list, true
}
