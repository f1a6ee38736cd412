package jsontext

import "bytes"

// Len is the length of the JSON value s begins with, which is followed by a comma, a bracket that closes, or nothing. It does
// not check anything: s is what the server itself has written without blanks.
func Len(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = StringEnd(s, i+1)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// StringEnd is where the quote is that ends the text which begins at i.
func StringEnd(s []byte, i int) int {
	for from := i; ; {
		n := bytes.IndexByte(s[i:], '"')
		if n < 0 {
			return len(s)
		}
		i += n
		slashes := i
		for slashes > from && s[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i
		}
		i++
	}
}
