package html

import "strings"

// What bytes are to tags.
const (
	letter   = 1 << iota
	nameByte // of names of elements
	attrByte // of names of attributes
	blank
	wordEnd // ends a value without quotes
)

var class = func() (t [256]byte) {
	for c := range len(t) {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			t[c] = letter | nameByte | attrByte
		case c >= '0' && c <= '9', c == '-':
			t[c] = nameByte | attrByte
		case c == ':', c == '_', c == '.':
			t[c] = attrByte
		case c == ' ', c == '\t', c == '\r', c == '\n', c == '\f':
			t[c] = blank | wordEnd
		case strings.IndexByte("\"'=<>`\x00", byte(c)) >= 0:
			t[c] = wordEnd
		}
	}
	return t
}()

func isLetter(c byte) bool { return class[c]&letter != 0 }

// run is the length of the bytes of a class that s begins with.
func run(s string, of byte) int {
	n := 0
	for n < len(s) && class[s[n]]&of != 0 {
		n++
	}
	return n
}

func blanksLen(s string) int { return run(s, blank) }

func tagName(s string) string { return s[:run(s, nameByte)] }

// sane reports whether a tag is written so that every parser reads it in the same way:
// <name attribute attribute=word attribute="text" attribute='text'>.
func sane(tag string) bool {
	s, ok := strings.CutPrefix(tag, "<")
	if !ok {
		return false
	}
	s = strings.TrimPrefix(s, "/")
	if s == "" || !isLetter(s[0]) {
		return false
	}
	s = s[run(s, nameByte):]
	for {
		rest := s[blanksLen(s):]
		switch {
		case rest == ">" || rest == "/>":
			return true
		case len(rest) == len(s) || rest == "" || !isLetter(rest[0]) && rest[0] != '_':
			return false
		}
		s = rest[run(rest, attrByte):]
		value, ok := strings.CutPrefix(s[blanksLen(s):], "=")
		if !ok {
			continue
		}
		value = value[blanksLen(value):]
		_, n := quoted(value)
		if n == 0 {
			return false
		}
		s = value[n:]
	}
}

// quoted reads the value at the start of s, with quotes or without, and returns it and how
// long it is with them; 0 if it is not sane.
func quoted(s string) (value string, n int) {
	if s == "" {
		return "", 0
	}
	if q := s[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[1:], q)
		if end < 0 || strings.IndexByte(s[:end+1], 0) >= 0 {
			return "", 0
		}
		return s[1 : end+1], end + 2
	}
	end := 0
	for end < len(s) && class[s[end]]&wordEnd == 0 {
		end++
	}
	if end == 0 || end == len(s) || class[s[end]]&blank == 0 && s[end] != '>' {
		return "", 0
	}
	return s[:end], end
}
