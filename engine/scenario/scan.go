package scenario

import (
	"fmt"
	"strings"
)

// nesting follows JSON byte by byte.
type nesting struct {
	depth           int
	quoted, escaped bool
}

// next takes a byte and reports whether it stands outside JSON.
func (n *nesting) next(b byte) bool {
	switch {
	case n.escaped:
		n.escaped = false
	case n.quoted && b == '\\':
		n.escaped = true
	case b == '"':
		n.quoted = !n.quoted
	case n.quoted:
	case b == '{' || b == '[':
		n.depth++
	case b == '}' || b == ']':
		n.depth--
	default:
		return n.depth <= 0
	}
	return false
}

// open reports whether text ends within a JSON object or list.
func open(text string) bool {
	var n nesting
	for i := range len(text) {
		n.next(text[i])
	}
	return n.depth > 0
}

// words splits the arguments of a command: blanks separate them outside JSON.
func words(text string) ([]string, error) {
	var out []string
	for {
		text = strings.TrimLeft(text, " \t\n")
		if text == "" {
			return out, nil
		}
		n, err := word(text)
		if err != nil {
			return nil, err
		}
		out = append(out, text[:n])
		text = text[n:]
	}
}

// word returns the length of the first word of text.
func word(text string) (int, error) {
	var n nesting
	for i := range len(text) {
		if b := text[i]; n.next(b) && (b == ' ' || b == '\t' || b == '\n') {
			return i, nil
		}
	}
	if n.depth != 0 || n.quoted {
		return 0, fmt.Errorf("JSON is not closed: %.60s", text)
	}
	return len(text), nil
}

// files returns the names in [@a, @b]; ok is false if text is something else.
func files(text string) (names []string, ok bool) {
	if name, one := strings.CutPrefix(text, "@"); one {
		return []string{name}, true
	}
	inner, opened := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed || !strings.HasPrefix(strings.TrimSpace(inner), "@") {
		return nil, false
	}
	for part := range strings.SplitSeq(inner, ",") {
		name, ok := strings.CutPrefix(strings.TrimSpace(part), "@")
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}
