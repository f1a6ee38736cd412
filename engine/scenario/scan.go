package scenario

import (
	"fmt"
	"strings"
)

// open reports whether text ends within a JSON object, list or string.
func open(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
	}
	return depth > 0
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
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		case depth <= 0 && (b == ' ' || b == '\t' || b == '\n'):
			return i, nil
		}
	}
	if depth != 0 || quoted {
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
