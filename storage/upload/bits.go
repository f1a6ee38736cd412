package upload

import (
	"math/bits"
)

// bitset is a set of small numbers.
type bitset []byte

func (s bitset) has(i int) bool { return i/8 < len(s) && s[i/8]>>(i%8)&1 != 0 }

// with returns the set with i.
func (s bitset) with(i int) bitset {
	out := make(bitset, max(len(s), i/8+1))
	copy(out, s)
	out[i/8] |= 1 << (i % 8)
	return out
}

func (s bitset) count() (n int) {
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}

// size is the number of bytes of a chunk in the draft.
func (w *fileRow) size(chunk int) int64 {
	if chunk == w.Count-1 {
		return w.Last
	}
	return w.Part
}

// final is the number of bytes of the draft, from its beginning on, that are there.
func (w *fileRow) final() int64 {
	n := int64(0)
	for i := range w.Count {
		if !w.There.has(i) {
			break
		}
		n += w.size(i)
	}
	return n
}
