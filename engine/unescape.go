package engine

import (
	"bytes"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape reads the text whose quotes stand at from and before to.
func (s *scanner) unescape(from, to int) ([]byte, error) {
	in := s.data[from+1 : to-1]
	if !utf8.Valid(in) {
		return nil, s.fail("string is not UTF-8")
	}
	out := make([]byte, 0, len(in))
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			return append(out, in...), nil
		}
		out = append(out, in[:i]...)
		var n int
		if out, n = escape(out, in[i+1:]); n == 0 {
			return nil, s.fail("invalid escape in string")
		}
		in = in[i+1+n:]
	}
}

// escapes are what single letters after a backslash stand for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends what s, which follows a backslash, begins with, and returns how long that is;
// 0 if it is nothing.
func escape(dst, s []byte) ([]byte, int) {
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
		if r = utf16.DecodeRune(r, second); pair && r != unicode.ReplacementChar {
			n += 6
		} else {
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
