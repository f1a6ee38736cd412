package kv

import (
	"bytes"
	"cmp"
	"math"
	"strings"
	"testing"
)

func TestTupleOrder(t *testing.T) {
	// Each row is in ascending order.
	rows := [][][]byte{
		{AppendInt64(nil, math.MinInt64), AppendInt64(nil, -1), AppendInt64(nil, 0), AppendInt64(nil, 1), AppendInt64(nil, math.MaxInt64)},
		{AppendFloat64(nil, math.Inf(-1)), AppendFloat64(nil, -2.5), AppendFloat64(nil, -math.SmallestNonzeroFloat64), AppendFloat64(nil, 0), AppendFloat64(nil, 1e-300), AppendFloat64(nil, 7), AppendFloat64(nil, math.Inf(1)), AppendFloat64(nil, math.NaN())},
		{AppendString(nil, ""), AppendString(nil, "\x00"), AppendString(nil, "\x00\x00"), AppendString(nil, "\x00\x01"), AppendString(nil, "\x01"), AppendString(nil, "a"), AppendString(nil, "a\x00b"), AppendString(nil, "ab"), AppendString(nil, "b"), AppendString(nil, "\xff"), AppendString(nil, "\xff\xff")},
		{AppendNil(nil), AppendBool(nil, false), AppendBool(nil, true), AppendInt64(nil, 5), AppendFloat64(nil, 5), AppendString(nil, "")},
		{AppendInt64(AppendString(nil, "a"), 2), AppendInt64(AppendString(nil, "a\x00"), 1), AppendInt64(AppendString(nil, "aa"), 0)},
	}
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			if bytes.Compare(row[i-1], row[i]) >= 0 {
				t.Errorf("%x is not below %x", row[i-1], row[i])
			}
			if bytes.Compare(Invert(bytes.Clone(row[i-1])), Invert(bytes.Clone(row[i]))) <= 0 {
				t.Errorf("inverted %x is not above inverted %x", row[i-1], row[i])
			}
		}
	}
}

// FuzzTuple checks that parts decode to what was encoded, also inverted, and sort as
// their values do.
func FuzzTuple(f *testing.F) {
	f.Add("a\x00b", "a", int64(1), int64(-1), 1.5, math.Copysign(0, -1), true)
	f.Add("", "\xff", int64(math.MinInt64), int64(0), math.Inf(1), math.NaN(), false)
	f.Fuzz(func(t *testing.T, s1, s2 string, i1, i2 int64, f1, f2 float64, b bool) {
		enc := func(s string, i int64, v float64) []byte {
			return AppendNil(AppendBool(AppendFloat64(AppendInt64(AppendString(nil, s), i), v), b))
		}
		for _, k := range [][]byte{enc(s1, i1, f1), Invert(enc(s1, i1, f1))} {
			s, rest, err := DecodeString(k)
			if err != nil || s != s1 {
				t.Fatalf("string %q: %q %v", s1, s, err)
			}
			i, rest, err := DecodeInt64(rest)
			if err != nil || i != i1 {
				t.Fatalf("integer %d: %d %v", i1, i, err)
			}
			v, rest, err := DecodeFloat64(rest)
			if err != nil || v != f1 && !(v != v && f1 != f1) {
				t.Fatalf("number %v: %v %v", f1, v, err)
			}
			x, rest, err := DecodeBool(rest)
			if err != nil || x != b {
				t.Fatalf("bool %v: %v %v", b, x, err)
			}
			if rest, ok := DecodeNil(rest); !ok || len(rest) != 0 {
				t.Fatalf("nil: %v, %x left", ok, rest)
			}
		}
		want := cmp.Or(strings.Compare(s1, s2), cmp.Compare(i1, i2), cmp.Compare(f1, f2))
		if f1 == f1 && f2 == f2 && bytes.Compare(enc(s1, i1, f1), enc(s2, i2, f2)) != want {
			t.Fatalf("order of (%q %d %v) and (%q %d %v)", s1, i1, f1, s2, i2, f2)
		}
	})
}

// FuzzTupleDecode checks that no input makes a decoder fail otherwise than by an error.
func FuzzTupleDecode(f *testing.F) {
	f.Add(AppendString(nil, "a\x00"))
	f.Add(Invert(AppendFloat64(nil, 1.5)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, rest, err := DecodeString(b); err == nil && !bytes.Equal(AppendString(nil, s), unflip(b, rest)) {
			t.Fatalf("string %q of %x", s, b)
		}
		if v, rest, err := DecodeInt64(b); err == nil && !bytes.Equal(AppendInt64(nil, v), unflip(b, rest)) {
			t.Fatalf("integer %v of %x", v, b)
		}
		if v, rest, err := DecodeBool(b); err == nil && !bytes.Equal(AppendBool(nil, v), unflip(b, rest)) {
			t.Fatalf("bool %v of %x", v, b)
		}
		_, _, _ = DecodeFloat64(b)
	})
}

// unflip is the part that stands before rest in b, ascending.
func unflip(b, rest []byte) []byte {
	part := bytes.Clone(b[:len(b)-len(rest)])
	if flip(b) != 0 {
		Invert(part)
	}
	return part
}
