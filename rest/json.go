package rest

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"catena/storage/fault"
)

// Bounds of a JSON body.
const (
	maxDepth = 128
	maxKeys  = 100_000
)

// CheckJSON accepts one JSON value that every reader understands alike: valid UTF-8, no
// name twice in an object, nested no deeper than 128. The error names line and column.
func CheckJSON(data []byte) error {
	s := scanner{data: data}
	if !utf8.Valid(data) {
		return s.errorf("is not valid UTF-8")
	}
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	if s.space(); s.pos < len(data) {
		return s.errorf("has trailing data")
	}
	return nil
}

// Members calls f for each member of a JSON object that checkJSON has accepted.
func Members(data []byte, f func(name string, value json.RawMessage) error) error {
	s := scanner{data: data}
	if s.space(); s.peek() != '{' {
		return fault.Invalid.Errorf("body: must be a JSON object")
	}
	s.pos++
	for s.space(); s.peek() != '}'; s.space() {
		if s.peek() == ',' {
			s.pos++
			s.space()
		}
		key, err := s.name()
		if err != nil {
			return err
		}
		s.space()
		s.pos++
		s.space()
		start := s.pos
		s.skip()
		if err := f(string(key), data[start:s.pos]); err != nil {
			return err
		}
	}
	return nil
}

type scanner struct {
	data []byte
	pos  int
	keys int
}

func (s *scanner) errorf(format string, args ...any) error {
	line := 1 + bytes.Count(s.data[:s.pos], []byte{'\n'})
	column := s.pos - bytes.LastIndexByte(s.data[:s.pos], '\n')
	return fault.Invalid.Errorf("body: line %d, column %d: JSON "+format, append([]any{line, column}, args...)...).
		WithCode(fault.CodeMalformedJSON).At(line, column)
}

func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) value(depth int) error {
	switch c := s.peek(); {
	case depth == maxDepth && (c == '{' || c == '['):
		return s.errorf("is nested deeper than %d", maxDepth)
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		return s.text()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
			s.pos += len(word)
			return nil
		}
	}
	return s.errorf("is missing a value")
}

func (s *scanner) array(depth int) error {
	s.pos++
	for s.space(); s.peek() != ']'; {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if s.space(); s.peek() == ']' {
			break
		}
		if s.peek() != ',' {
			return s.errorf("is missing a comma or ]")
		}
		s.pos++
		if s.space(); s.peek() == ']' {
			return s.errorf("is missing a value")
		}
	}
	s.pos++
	return nil
}

func (s *scanner) object(depth int) error {
	var seen names
	s.pos++
	for s.space(); s.peek() != '}'; {
		if s.peek() != '"' {
			return s.errorf("is missing a name")
		}
		at := s.pos
		key, err := s.name()
		if err != nil {
			return err
		}
		if s.keys++; s.keys > maxKeys {
			return s.errorf("has more than %d names", maxKeys)
		}
		if !seen.add(key) {
			s.pos = at
			return s.errorf("has the duplicate name %q", key)
		}
		if s.space(); s.peek() != ':' {
			return s.errorf("is missing a colon")
		}
		s.pos++
		s.space()
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if s.space(); s.peek() == '}' {
			break
		}
		if s.peek() != ',' {
			return s.errorf("is missing a comma or }")
		}
		s.pos++
		if s.space(); s.peek() == '}' {
			return s.errorf("is missing a name")
		}
	}
	s.pos++
	return nil
}

// names is the set of an object's names: a list while it is short.
type names struct {
	few  [8][]byte
	n    int
	many map[string]bool
}

func (n *names) add(name []byte) bool {
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

// name reads a member's name, which is part of the data unless something in it is escaped.
func (s *scanner) name() ([]byte, error) {
	start := s.pos
	if err := s.text(); err != nil {
		return nil, err
	}
	raw := s.data[start:s.pos]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var key string
	if err := json.Unmarshal(raw, &key); err != nil {
		return nil, s.errorf("has a malformed name")
	}
	return []byte(key), nil
}

func (s *scanner) text() error {
	for i := s.pos + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c < ' ':
			s.pos = i
			return s.errorf("has a control character in a string")
		case c == '\\':
			n := escape(s.data[i:])
			if n == 0 {
				s.pos = i
				return s.errorf("has an invalid escape in a string")
			}
			i += n - 1
		}
	}
	return s.errorf("has an unterminated string")
}

// escape returns the length of the escape sequence that b starts with, 0 if it is none. Half
// a surrogate pair is none, for it cannot be written as UTF-8.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		unit, ok := hex4(b)
		switch {
		case !ok || unit >= 0xdc00 && unit < 0xe000:
			return 0
		case unit < 0xd800 || unit >= 0xe000:
			return 6
		}
		if low, ok := hex4(b[6:]); ok && b[7] == 'u' && b[6] == '\\' && low >= 0xdc00 && low < 0xe000 {
			return 12
		}
	}
	return 0
}

func hex4(b []byte) (int, bool) {
	if len(b) < 6 {
		return 0, false
	}
	n := 0
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	switch {
	case s.peek() == '0':
		s.pos++
	case !s.digits():
		return s.errorf("has a malformed number")
	}
	if s.peek() == '.' {
		if s.pos++; !s.digits() {
			return s.errorf("has a malformed number")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.errorf("has a malformed number")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}

// skip passes over a value that is known to be well formed.
func (s *scanner) skip() {
	depth := 0
	for ; s.pos < len(s.data); s.pos++ {
		switch s.data[s.pos] {
		case '"':
			for s.pos++; s.data[s.pos] != '"'; s.pos++ {
				if s.data[s.pos] == '\\' {
					s.pos++
				}
			}
		case '{', '[':
			depth++
		case ',':
			if depth == 0 {
				s.pos = trimRight(s.data, s.pos)
				return
			}
		case '}', ']':
			if depth == 0 {
				s.pos = trimRight(s.data, s.pos)
				return
			}
			depth--
		}
	}
}

func trimRight(data []byte, end int) int {
	for end > 0 && (data[end-1] == ' ' || data[end-1] == '\t' || data[end-1] == '\n' || data[end-1] == '\r') {
		end--
	}
	return end
}
