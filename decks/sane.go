package decks

import "strings"

// sane reports whether a tag is written so that every parser reads it alike:
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
	s = strings.TrimLeft(s, nameLetters+"-")
	for {
		rest := strings.TrimLeft(s, blanks)
		switch {
		case rest == ">" || rest == "/>":
			return true
		case len(rest) == len(s) || rest == "" || !isLetter(rest[0]) && rest[0] != '_':
			return false
		}
		s = strings.TrimLeft(rest, nameLetters+"-:_.")
		value, ok := strings.CutPrefix(strings.TrimLeft(s, blanks), "=")
		if !ok {
			continue
		}
		if s, ok = afterValue(strings.TrimLeft(value, blanks)); !ok {
			return false
		}
	}
}

const (
	blanks      = " \t\r\n\f"
	nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// afterValue returns what follows the value at the start of s.
func afterValue(s string) (rest string, ok bool) {
	if s == "" {
		return "", false
	}
	if q := s[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[1:], q)
		if end < 0 || strings.IndexByte(s[:end+1], 0) >= 0 {
			return "", false
		}
		return s[end+2:], true
	}
	end := strings.IndexAny(s, blanks+"\"'=<>`\x00")
	if end <= 0 || !strings.ContainsRune(blanks+">", rune(s[end])) {
		return "", false
	}
	return s[end:], true
}
