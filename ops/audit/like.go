package audit

import (
	"regexp"
	"strings"
)

// like is a pattern of LIKE: % is any text, _ any character, a backslash takes the next
// character as it is.
type like struct{ re *regexp.Regexp }

// Go's regular expressions run in time linear to the text, so no pattern can stall the server.
func newLike(pattern string, fold bool) *like {
	var b strings.Builder
	b.WriteString("(?s)")
	if fold {
		b.WriteString("(?i)")
	}
	b.WriteString("^")
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case r == '\\':
			escaped = true
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	// A backslash at the end stands for itself.
	if escaped {
		b.WriteString(`\\`)
	}
	return &like{regexp.MustCompile(b.String() + "$")}
}

func (l *like) match(v any) bool {
	s, ok := v.(string)
	return ok && l.re.MatchString(s)
}
