package pdf

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
)

// operand is a token of content.
type operand struct {
	kind   operandKind
	text   string
	number float64
	items  []operand
}

type operandKind uint8

const (
	wordOperand operandKind = iota // an operator
	nameOperand
	numberOperand
	textOperand
	listOperand
	otherOperand
)

// pdfScanner reads the tokens of content and of character maps.
type pdfScanner struct {
	data []byte
	pos  int
}

func pdfSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func pdfEnds(c byte) bool { return pdfSpace(c) || strings.IndexByte("()<>[]{}/%", c) >= 0 }

// skip passes blanks and comments over.
func (s *pdfScanner) skip() {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case pdfSpace(c):
			s.pos++
		case c == '%':
			if i := bytes.IndexAny(s.data[s.pos:], "\r\n"); i >= 0 {
				s.pos += i
			} else {
				s.pos = len(s.data)
			}
		default:
			return
		}
	}
}

// next reads a token; not ok at the end.
func (s *pdfScanner) next(depth int) (operand, bool) {
	s.skip()
	if s.pos >= len(s.data) {
		return operand{}, false
	}
	switch c := s.data[s.pos]; c {
	case '(':
		return operand{kind: textOperand, text: s.literal()}, true
	case '<':
		if bytes.HasPrefix(s.data[s.pos:], []byte("<<")) {
			s.pos += 2
			return operand{kind: otherOperand, text: "<<"}, true
		}
		return operand{kind: textOperand, text: s.hexText()}, true
	case '[':
		s.pos++
		return s.list(depth), true
	case '/':
		s.pos++
		return operand{kind: nameOperand, text: s.name()}, true
	case ']', '}', '{', ')', '>':
		s.pos++
		return operand{kind: otherOperand, text: string(c)}, true
	}
	start := s.pos
	for s.pos < len(s.data) && !pdfEnds(s.data[s.pos]) {
		s.pos++
	}
	return wordOrNumber(string(s.data[start:s.pos])), true
}

// wordOrNumber reads what is neither quoted nor marked by its first character.
func wordOrNumber(word string) operand {
	if strings.IndexByte("0123456789-+.", word[0]) < 0 {
		return operand{kind: wordOperand, text: word}
	}
	// The bound keeps sums and products of places finite.
	if n, err := strconv.ParseFloat(word, 64); err == nil && n < 1e9 && n > -1e9 {
		return operand{kind: numberOperand, number: n}
	}
	return operand{kind: otherOperand, text: word}
}

// list reads what is in brackets.
func (s *pdfScanner) list(depth int) operand {
	out := operand{kind: listOperand}
	// What is nested deeper is not read; its brackets then stand as tokens that mean nothing.
	for depth < maxPDFDepth {
		o, ok := s.next(depth + 1)
		if !ok || o.kind == otherOperand && o.text == "]" {
			break
		}
		out.items = append(out.items, o)
	}
	return out
}

// name reads a name, in which #20 stands for a byte.
func (s *pdfScanner) name() string {
	start := s.pos
	for s.pos < len(s.data) && !pdfEnds(s.data[s.pos]) {
		s.pos++
	}
	text := string(s.data[start:s.pos])
	if !strings.Contains(text, "#") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '#' && i+2 < len(text) {
			if raw, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				b.Write(raw)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func (s *pdfScanner) hexText() string {
	s.pos++
	end := bytes.IndexByte(s.data[s.pos:], '>')
	if end < 0 {
		end = len(s.data) - s.pos
	}
	digits := make([]byte, 0, end+1)
	for _, c := range s.data[s.pos : s.pos+end] {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			digits = append(digits, c)
		}
	}
	s.pos = min(len(s.data), s.pos+end+1)
	if len(digits)%2 == 1 {
		// The format says that a missing last digit is 0.
		digits = append(digits, '0')
	}
	raw := make([]byte, len(digits)/2)
	n, _ := hex.Decode(raw, digits) // only digits are left
	return string(raw[:n])
}

// literal reads text in parentheses.
func (s *pdfScanner) literal() string {
	s.pos++
	var b strings.Builder
	for level := 1; s.pos < len(s.data); s.pos++ {
		c := s.data[s.pos]
		switch c {
		case '(':
			level++
		case ')':
			if level--; level == 0 {
				s.pos++
				return b.String()
			}
		case '\\':
			s.escaped(&b)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

var pdfEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// escaped adds what is behind a backslash, and stays on its last byte.
func (s *pdfScanner) escaped(b *strings.Builder) {
	if s.pos++; s.pos >= len(s.data) {
		return
	}
	c := s.data[s.pos]
	switch {
	case pdfEscapes[c] != 0:
		b.WriteByte(pdfEscapes[c])
	// A line break behind a backslash is none in the text.
	case c == '\r':
		if s.pos+1 < len(s.data) && s.data[s.pos+1] == '\n' {
			s.pos++
		}
	case c == '\n':
	case c >= '0' && c <= '7':
		n := int(c - '0')
		for range 2 {
			if s.pos+1 >= len(s.data) || s.data[s.pos+1] < '0' || s.data[s.pos+1] > '7' {
				break
			}
			s.pos++
			n = n*8 + int(s.data[s.pos]-'0')
		}
		b.WriteByte(byte(n))
	default:
		b.WriteByte(c)
	}
}

// skipImage passes the data of a picture within content over.
func (s *pdfScanner) skipImage() {
	for s.pos < len(s.data) {
		i := bytes.Index(s.data[s.pos:], []byte("EI"))
		if i < 0 {
			s.pos = len(s.data)
			return
		}
		// The data is binary and may have these two letters in it; only between white space are they the operator.
		before, end := s.pos+i-1, s.pos+i+2
		s.pos = end
		if before >= 0 && pdfSpace(s.data[before]) && (end >= len(s.data) || pdfSpace(s.data[end])) {
			return
		}
	}
}
