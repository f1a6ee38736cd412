package style

import (
	"strings"

	"catena/storage/lazy"
)

// token is what an address in CSS may be confused with, or one: comments and strings are passed over.
var token = lazy.Regexp(`(?is)/\*.*?(?:\*/|$)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\burl\(\s*("[^"\n]*"|'[^'\n]*'|[^"')\s]+)\s*\)`)

// Addresses calls f with the addresses of url() in a style sheet or in declarations, and returns the text with those that it
// gives instead. What only looks like one, in a string or a comment, is not an address.
func Addresses(css string, f func(address string) (string, bool)) string {
	if !strings.Contains(css, "(") {
		return css
	}
	return token().ReplaceAllStringFunc(css, func(s string) string {
		m := token().FindStringSubmatch(s)
		if m[1] == "" {
			return s
		}
		if name, ok := f(strings.Trim(m[1], `"'`)); ok {
			return "url(" + name + ")"
		}
		return s
	})
}
