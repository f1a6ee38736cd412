package schema

import (
	"strings"

	"catena/storage/fault"
)

// ParseProps reads properties from text, one key=value a line. Keys are trimmed, values
// keep their spaces; a backslash at the end of a line continues the value on the next,
// with the line break. Blank lines and lines that start with # are left out; a line
// without = is Invalid. Of two lines with one key the later one wins.
func ParseProps(text string) (map[string]any, error) {
	props := make(map[string]any)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\r")
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		first := i + 1
		key, value, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fault.Invalid.Errorf("properties: line %d: key=value expected, not %q", first, clip(line)).At(first, 1)
		}
		for i+1 < len(lines) && strings.HasSuffix(value, `\`) {
			i++
			value = strings.TrimSuffix(value, `\`) + "\n" + strings.TrimSuffix(lines[i], "\r")
		}
		props[key] = value
	}
	return props, nil
}
