package fault

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of messages, which may quote what a caller sent.
const (
	maxQuoted  = 1000     // bytes of one quoted text
	maxMessage = 64 << 10 // bytes of a message
)

// quoted returns the arguments of a format with long texts shortened.
func quoted(args []any) []any {
	short, copied := args, false
	for i, a := range args {
		var text string
		switch a := a.(type) {
		case string:
			text = a
		case []byte:
			if len(a) > maxQuoted {
				text = string(a[:min(len(a), maxQuoted+utf8.UTFMax)])
			}
		}
		if len(text) <= maxQuoted {
			continue
		}
		if !copied {
			short, copied = slices.Clone(args), true
		}
		short[i] = shortened(text, maxQuoted)
	}
	return short
}

// shortened returns the beginning of a text that is longer than limit.
func shortened(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.Clone(s[:limit]) + "…"
}
