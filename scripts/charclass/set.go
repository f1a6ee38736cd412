package charclass

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"unicode"
)

// span is a range of characters, both ends included.
type span struct{ lo, hi rune }

// set is in order, and no two spans overlap or touch.
type set []span

// of is the union of tables.
func of(tables ...*unicode.RangeTable) set {
	var s set
	for _, t := range tables {
		for _, r := range t.R16 {
			s = s.with(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			s = s.with(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return s.sorted()
}

func (s set) with(lo, hi, stride rune) set {
	if stride == 1 {
		return append(s, span{lo, hi})
	}
	for c := lo; c <= hi; c += stride {
		s = append(s, span{c, c})
	}
	return s
}

// sorted puts spans in any order into that of a set.
func (s set) sorted() set {
	slices.SortFunc(s, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	out := s[:0]
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func union(sets ...set) set { return slices.Concat(sets...).sorted() }

func (s set) complement() set {
	out := make(set, 0, len(s)+1)
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, span{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, span{next, unicode.MaxRune})
	}
	return out
}

func (s set) minus(others ...set) set {
	return union(append(others, s.complement())...).complement()
}

func (s set) has(c rune) bool {
	_, found := slices.BinarySearchFunc(s, c, func(r span, c rune) int {
		switch {
		case r.hi < c:
			return -1
		case r.lo > c:
			return 1
		}
		return 0
	})
	return found
}

// cased are the characters that have others which differ in case only.
var cased = sync.OnceValue(func() []rune {
	var out []rune
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			if unicode.SimpleFold(c) != c {
				out = append(out, c)
			}
		}
	}
	return out
})

// folded adds the characters that differ from those of the set in case only.
func (s set) folded() set {
	more := slices.Clone(s)
	for _, c := range cased() {
		if !s.has(c) {
			continue
		}
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			more = append(more, span{f, f})
		}
	}
	return more.sorted()
}

// text writes the set as the inside of a class, which is nothing for no characters.
func (s set) text() string {
	b := make([]byte, 0, 16*len(s))
	write := func(c rune) {
		b = append(b, `\u{`...)
		b = strconv.AppendInt(b, int64(c), 16)
		b = append(b, '}')
	}
	for _, r := range s {
		write(r.lo)
		if r.hi > r.lo {
			b = append(b, '-')
			write(r.hi)
		}
	}
	return string(b)
}
