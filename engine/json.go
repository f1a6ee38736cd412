package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/work"
)

// maxJSONDepth bounds objects and lists within each other.
const maxJSONDepth = 128

// scanner reads JSON strictly: names are case-sensitive and stand once, text is UTF-8.
type scanner struct {
	data  []byte
	pos   int
	ctx   context.Context //nolint:containedctx // a scanner reads one text; nil: nothing ends it
	watch work.Watch
}

// valueWork is what a value counts as work.
const valueWork = 200

func (s *scanner) fail(what string) error {
	return fault.Invalid.Errorf("JSON: %s at byte %d", what, s.pos).WithCode(fault.CodeJSON)
}

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		if b := s.data[s.pos]; b > ' ' {
			return b
		}
	}
	return s.blank()
}

func (s *scanner) blank() byte {
	for s.pos < len(s.data) {
		switch b := s.data[s.pos]; b {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return b
		}
	}
	return 0
}

func (s *scanner) expect(b byte) error {
	if s.peek() != b {
		return s.fail("expected '" + string(rune(b)) + "'")
	}
	s.pos++
	return nil
}

// text reads a string; raw is part of the data if nothing in it is escaped.
func (s *scanner) text() (raw []byte, err error) {
	if s.peek() != '"' {
		return nil, s.expect('"')
	}
	s.pos++
	rest := s.data[s.pos:]
	switch n := schema.Plain(rest); {
	case n == len(rest):
		s.pos = len(s.data)
		return nil, s.fail("string is not terminated")
	case rest[n] == '"':
		s.pos += n + 1
		return rest[:n], nil
	default:
		return s.escaped(n)
	}
}

// escaped reads a text in which the first bytes are plain and the next one is not.
func (s *scanner) escaped(first int) ([]byte, error) {
	start := s.pos
	for s.pos += first; s.pos < len(s.data); {
		switch b := s.data[s.pos]; {
		case b == '"':
			s.pos++
			return s.unescape(start-1, s.pos)
		case b == '\\':
			s.pos += 2
		case b < ' ':
			return nil, s.fail("control character in string")
		default:
			s.pos++
		}
	}
	return nil, s.fail("string is not terminated")
}

// skip passes over a value and returns it as written.
func (s *scanner) skip(depth int) (json.RawMessage, error) {
	s.peek()
	start := s.pos
	if _, err := s.value(depth); err != nil {
		return nil, err
	}
	return s.data[start:s.pos], nil
}

// word reads true, false or null.
func (s *scanner) word(w string) bool {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

// value reads any value: numbers as int64 where that is exact, else float64.
func (s *scanner) value(depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, s.fail("too deep")
	}
	if err := s.watch.Do(s.ctx, valueWork); err != nil {
		return nil, err
	}
	switch b := s.peek(); {
	case b == '"':
		raw, err := s.text()
		return string(raw), err
	case b == '{':
		return s.object(depth)
	case b == '[':
		return s.array(depth)
	case b == '-' || b >= '0' && b <= '9':
		return s.number()
	case b == 't' && s.word("true"):
		return true, nil
	case b == 'f' && s.word("false"):
		return false, nil
	case b == 'n' && s.word("null"):
		return nil, nil
	}
	return nil, s.fail("expected a value")
}

func (s *scanner) number() (any, error) {
	start := s.pos
	integer := true
	for s.pos < len(s.data) {
		switch b := s.data[s.pos]; {
		case b >= '0' && b <= '9' || b == '-' || b == '+':
		case b == '.' || b == 'e' || b == 'E':
			integer = false
		default:
			return s.finish(start, integer)
		}
		s.pos++
	}
	return s.finish(start, integer)
}

func (s *scanner) finish(start int, integer bool) (any, error) {
	raw := s.data[start:s.pos]
	if !validNumber(raw) {
		return nil, s.fail("invalid number")
	}
	if integer {
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, s.fail("number is out of range")
	}
	return f, nil
}

// validNumber checks what Go reads as a number and JSON does not.
func validNumber(raw []byte) bool {
	if len(raw) > 0 && raw[0] == '-' {
		raw = raw[1:]
	}
	if len(raw) == 0 || raw[0] < '0' || raw[0] > '9' || len(raw) > 1 && raw[0] == '0' && raw[1] >= '0' && raw[1] <= '9' {
		return false
	}
	for i, b := range raw {
		if b == '.' && (i+1 >= len(raw) || raw[i+1] < '0' || raw[i+1] > '9') {
			return false
		}
	}
	return true
}

func (s *scanner) array(depth int) (any, error) {
	s.pos++
	out := []any{}
	if s.peek() == ']' {
		s.pos++
		return out, nil
	}
	for {
		v, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return out, nil
		default:
			return nil, s.fail("expected ',' or ']'")
		}
	}
}

func (s *scanner) object(depth int) (any, error) {
	out := map[string]any{}
	err := s.members(func(name []byte) error {
		if _, twice := out[string(name)]; twice {
			return s.fail("name " + strconv.Quote(string(name)) + " twice")
		}
		v, err := s.value(depth + 1)
		out[string(name)] = v
		return err
	})
	return out, err
}

// members reads an object, calling fn at the value of each member.
func (s *scanner) members(fn func(name []byte) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		name, err := s.text()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := fn(name); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return s.fail("expected ',' or '}'")
		}
	}
}

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.peek() != 0 || s.pos < len(s.data) {
		return s.fail("expected the end")
	}
	return nil
}

// ParseJSON reads one JSON value strictly: names stand once, text is UTF-8, depth is
// bounded. Whole numbers are int64.
func ParseJSON(raw []byte) (any, error) { return parseAny(raw) }

// ParseJSON is ParseJSON as part of the call: it ends with it.
func (c *Ctx) ParseJSON(raw []byte) (any, error) { return parse(scanner{data: raw, ctx: c.Context}) }

func parseAny(raw []byte) (any, error) { return parse(scanner{data: raw}) }

func parse(s scanner) (any, error) {
	v, err := s.value(0)
	if err != nil {
		return nil, err
	}
	return v, s.end()
}

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
