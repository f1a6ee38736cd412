// Package jsontext reads JSON text. Scanner is strict: text is UTF-8, names stand once in an object, nesting is bounded, and
// what follows a value is an error; it is what bodies of requests, parameters and stored values are read with. Len and
// StringEnd find where values end in text that the server itself has written. What the values mean is for the callers.
//
// The package is our own because of what it does and costs. A call decodes its parameters straight into the fields of a struct,
// a document reads only the properties that are looked at, and long texts notice the end of their call. Of a call of 650
// bytes (BenchmarkReaders, beside other work), Skip takes 3 µs and Value 8 µs; encoding/json takes 11 µs, and the tokens of
// encoding/json/v2 (go-json-experiment/json, whose interface is not stable yet) take 8 µs before anything is made of them.
package jsontext

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"catena/storage/work"
)

// MaxDepth is how deep objects and lists may stand within each other.
const MaxDepth = 128

// valueWork is what a value counts as work.
const valueWork = 200

// Scanner reads one text from Pos on.
type Scanner struct {
	Data []byte
	Pos  int

	Context  context.Context //nolint:containedctx // a scanner reads one text; nil: nothing ends it
	MaxNames int             // names of objects that Skip passes over; 0: any number
	Pairs    bool            // half a surrogate pair is an error, not U+FFFD

	names  int
	nameAt int // where the last name began
	watch  work.Watch
}

// Error is what is wrong with a text: what the JSON does or lacks, such as "is missing a value", at a byte.
type Error struct {
	What string
	Pos  int
}

// Error returns the sentence.
func (e *Error) Error() string { return fmt.Sprintf("JSON %s at byte %d", e.What, e.Pos) }

// Fail returns the error of what stands at Pos.
func (s *Scanner) Fail(what string) error { return &Error{what, s.Pos} }

// Peek skips blanks and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Data) {
		if b := s.Data[s.Pos]; b > ' ' {
			return b
		}
	}
	return s.blank()
}

func (s *Scanner) blank() byte {
	for s.Pos < len(s.Data) {
		switch b := s.Data[s.Pos]; b {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return b
		}
	}
	return 0
}

// Take passes over a byte if that is next.
func (s *Scanner) Take(b byte) bool {
	if s.Peek() != b {
		return false
	}
	s.Pos++
	return true
}

// Word passes over true, false or null if that is next.
func (s *Scanner) Word(w string) bool {
	if len(s.Data)-s.Pos < len(w) || string(s.Data[s.Pos:s.Pos+len(w)]) != w {
		return false
	}
	s.Pos += len(w)
	return true
}

// End checks that nothing follows.
func (s *Scanner) End() error {
	if s.Peek() != 0 || s.Pos < len(s.Data) {
		return s.Fail("has trailing data")
	}
	return nil
}

// enter notes a value at a depth.
func (s *Scanner) enter(depth int) (byte, error) {
	if err := s.watch.Do(s.Context, valueWork); err != nil {
		return 0, err
	}
	b := s.Peek()
	if depth >= MaxDepth && (b == '{' || b == '[') {
		return 0, s.Fail(fmt.Sprintf("is nested deeper than %d", MaxDepth))
	}
	return b, nil
}

// Value reads any value at a depth: map[string]any, []any, text, bool, nil, and numbers as int64 where that is exact, else
// as float64.
func (s *Scanner) Value(depth int) (any, error) {
	b, err := s.enter(depth)
	if err != nil {
		return nil, err
	}
	switch {
	case b == '"':
		raw, err := s.Text()
		return string(raw), err
	case b == '{':
		return s.object(depth)
	case b == '[':
		return s.list(depth)
	case b == '-' || b >= '0' && b <= '9':
		return s.number()
	case b == 't' && s.Word("true"):
		return true, nil
	case b == 'f' && s.Word("false"):
		return false, nil
	case b == 'n' && s.Word("null"):
		return nil, nil
	}
	return nil, s.Fail("is missing a value")
}

func (s *Scanner) object(depth int) (any, error) {
	s.Pos++
	out := map[string]any{}
	for more := !s.Take('}'); more; {
		name, err := s.Name()
		if err != nil {
			return nil, err
		}
		if _, twice := out[string(name)]; twice {
			return nil, s.Duplicate(name)
		}
		key := string(name)
		if out[key], err = s.Value(depth + 1); err == nil {
			more, err = s.More('}')
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Scanner) list(depth int) (any, error) {
	s.Pos++
	out := []any{}
	for more := !s.Take(']'); more; {
		v, err := s.Value(depth + 1)
		if err == nil {
			out = append(out, v)
			more, err = s.More(']')
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Duplicate is the error of the name read last, which stands in its object for the second time.
func (s *Scanner) Duplicate(name []byte) error {
	return &Error{"has the duplicate name " + strconv.Quote(string(name)), s.nameAt}
}

// Skip passes over a value at a depth and returns it as written.
func (s *Scanner) Skip(depth int) ([]byte, error) {
	b, err := s.enter(depth)
	start := s.Pos
	if err != nil {
		return nil, err
	}
	switch {
	case b == '"':
		_, err = s.Text()
	case b == '{':
		err = s.skipObject(depth)
	case b == '[':
		err = s.skipList(depth)
	case b == '-' || b >= '0' && b <= '9':
		_, _, err = s.Number()
	case b == 't' && s.Word("true"), b == 'f' && s.Word("false"), b == 'n' && s.Word("null"):
	default:
		err = s.Fail("is missing a value")
	}
	return s.Data[start:s.Pos], err
}

func (s *Scanner) skipObject(depth int) error {
	s.Pos++
	var seen Names
	for more := !s.Take('}'); more; {
		name, err := s.Name()
		if err != nil {
			return err
		}
		switch s.names++; {
		case s.MaxNames > 0 && s.names > s.MaxNames:
			return s.Fail(fmt.Sprintf("has more than %d names", s.MaxNames))
		case !seen.Add(name):
			return s.Duplicate(name)
		}
		if _, err = s.Skip(depth + 1); err == nil {
			more, err = s.More('}')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Scanner) skipList(depth int) error {
	s.Pos++
	for more := !s.Take(']'); more; {
		_, err := s.Skip(depth + 1)
		if err == nil {
			more, err = s.More(']')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Members reads an object, calling fn at the value of each member. The name may be a part of Data.
func (s *Scanner) Members(fn func(name []byte) error) error {
	if !s.Take('{') {
		return s.Fail("is not an object")
	}
	for more := !s.Take('}'); more; {
		name, err := s.Name()
		if err == nil {
			err = fn(name)
		}
		if err == nil {
			more, err = s.More('}')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Name reads the name of a member and the colon behind it.
func (s *Scanner) Name() ([]byte, error) {
	if s.Peek() != '"' {
		return nil, s.Fail("is missing a name")
	}
	s.nameAt = s.Pos
	name, err := s.Text()
	if err == nil && !s.Take(':') {
		err = s.Fail("is missing a colon")
	}
	return name, err
}

// More passes over what follows a member or an item: a comma, or the bracket that ends them.
func (s *Scanner) More(end byte) (bool, error) {
	switch s.Peek() {
	case ',':
		s.Pos++
		return true, nil
	case end:
		s.Pos++
		return false, nil
	}
	return false, s.Fail("is missing a comma or " + string(rune(end)))
}

// Number reads a number as written; whole says that it has neither fraction nor exponent.
func (s *Scanner) Number() (raw []byte, whole bool, err error) {
	start := s.Pos
	if s.next() == '-' {
		s.Pos++
	}
	ok := true
	if s.next() == '0' {
		s.Pos++
	} else {
		ok = s.digits()
	}
	whole = true
	if ok && s.next() == '.' {
		s.Pos++
		whole, ok = false, s.digits()
	}
	if c := s.next(); ok && (c == 'e' || c == 'E') {
		s.Pos++
		if c := s.next(); c == '+' || c == '-' {
			s.Pos++
		}
		whole, ok = false, s.digits()
	}
	if c := s.next(); !ok || c >= '0' && c <= '9' {
		return nil, false, s.Fail("has a malformed number")
	}
	return s.Data[start:s.Pos], whole, nil
}

// next is the next byte, 0 at the end.
func (s *Scanner) next() byte {
	if s.Pos < len(s.Data) {
		return s.Data[s.Pos]
	}
	return 0
}

func (s *Scanner) digits() bool {
	start := s.Pos
	for s.Pos < len(s.Data) && s.Data[s.Pos] >= '0' && s.Data[s.Pos] <= '9' {
		s.Pos++
	}
	return s.Pos > start
}

func (s *Scanner) number() (any, error) {
	raw, whole, err := s.Number()
	if err != nil {
		return nil, err
	}
	if whole {
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, s.Fail("has a number that is out of range")
	}
	return f, nil
}
