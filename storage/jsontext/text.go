package jsontext

import (
	"bytes"
	"math/bits"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a text; it is a part of Data if nothing in it is escaped.
func (s *Scanner) Text() ([]byte, error) {
	if !s.Take('"') {
		return nil, s.Fail("is missing a string")
	}
	rest := s.Data[s.Pos:]
	switch n := Plain(rest); {
	case n == len(rest):
		s.Pos--
		return nil, s.Fail("has an unterminated string")
	case rest[n] == '"':
		s.Pos += n + 1
		return rest[:n], nil
	default:
		return s.special(n)
	}
}

// special reads a text in which the first bytes are plain and the next one is not.
func (s *Scanner) special(first int) ([]byte, error) {
	start := s.Pos
	escaped := false
	for s.Pos += first; s.Pos < len(s.Data); {
		switch b := s.Data[s.Pos]; {
		case b == '"':
			in := s.Data[start:s.Pos]
			if !utf8.Valid(in) {
				return nil, s.Fail("is not valid UTF-8")
			}
			if s.Pos++; escaped {
				return s.unescape(in, start)
			}
			return in, nil
		case b == '\\':
			escaped = true
			s.Pos += 2
		case b < ' ':
			return nil, s.Fail("has a control character in a string")
		default:
			s.Pos += max(1, Plain(s.Data[s.Pos:]))
		}
	}
	s.Pos = start - 1
	return nil, s.Fail("has an unterminated string")
}

// unescape returns a text without its escapes; it begins at start.
func (s *Scanner) unescape(in []byte, start int) ([]byte, error) {
	out := make([]byte, 0, len(in))
	for at := start; ; {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			return append(out, in...), nil
		}
		out = append(out, in[:i]...)
		var n int
		if out, n = escape(out, in[i+1:], s.Pairs); n == 0 {
			s.Pos = at + i
			return nil, s.Fail("has an invalid escape in a string")
		}
		in = in[i+1+n:]
		at += i + 1 + n
	}
}

// escapes are what single letters after a backslash stand for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends what s, which follows a backslash, begins with, and returns how long that is; 0 if it is nothing.
func escape(dst, s []byte, pairs bool) ([]byte, int) {
	switch {
	case len(s) == 0:
		return dst, 0
	case escapes[s[0]] != 0:
		return append(dst, escapes[s[0]]), 1
	}
	r, ok := hexRune(s)
	if !ok {
		return dst, 0
	}
	n := 5
	if utf16.IsSurrogate(r) {
		second, pair := rune(0), false
		if len(s) > n && s[n] == '\\' {
			second, pair = hexRune(s[n+1:])
		}
		switch r = utf16.DecodeRune(r, second); {
		case pair && r != unicode.ReplacementChar:
			n += 6
		case pairs:
			return dst, 0
		default:
			r = unicode.ReplacementChar
		}
	}
	return utf8.AppendRune(dst, r), n
}

// hexRune reads a u and four digits.
func hexRune(s []byte) (r rune, ok bool) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, false
	}
	for _, c := range s[1:5] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Eight are the eight bytes that s begins with, the first one lowest. Unless all of them stand for themselves in JSON text
// and are ASCII, special has the top bit of the first that does not, and none below it. A subtraction sets the top bit of
// the lowest byte that is too small, and perhaps of those above it.
func Eight[T string | []byte](s T) (w, special uint64) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	w = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return w, (w | (w - ones*' ') | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & tops
}

// Plain is the number of bytes that s begins with which stand for themselves in JSON text: ASCII
// without control characters, quotes and backslashes. It looks at eight at a time.
func Plain[T string | []byte](s T) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if _, found := Eight(s[i : i+8]); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// Names is a set of names: a list while it is short.
type Names struct {
	few  [8][]byte
	n    int
	many map[string]bool
}

// Add reports whether the name was not there yet.
func (n *Names) Add(name []byte) bool {
	if n.many != nil {
		if n.many[string(name)] {
			return false
		}
		n.many[string(name)] = true
		return true
	}
	for _, x := range n.few[:n.n] {
		if bytes.Equal(x, name) {
			return false
		}
	}
	if n.n < len(n.few) {
		n.few[n.n] = name
		n.n++
		return true
	}
	n.many = map[string]bool{string(name): true}
	for _, x := range n.few {
		n.many[string(x)] = true
	}
	return true
}
