package schema

import (
	"strings"

	"catena/storage/fault"
)

// ParseProps reads properties from text, one key=value a line. Keys are trimmed, values
// keep their spaces; a backslash at the end of a line continues the value on the next,
// with the line break. Blank lines and lines that start with # are skipped; a line
// without = is Invalid. If two lines have the same key, the later one wins.
func ParseProps(text string) (map[string]any, error) {
	props := make(map[string]any)
	for r := (lineReader{rest: text, more: true}); r.more; {
		line := r.next()
		if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
			continue
		}
		first := r.number
		key, value, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, fault.Invalid.Errorf("properties: line %d: must be key=value, not %q", first, clip(line)).At(first, 1)
		}
		props[key] = r.continued(value)
	}
	return props, nil
}

// lineReader cuts a text into lines.
type lineReader struct {
	rest   string
	more   bool // there is a line in rest
	number int  // of the last line
}

func (r *lineReader) next() string {
	var line string
	line, r.rest, r.more = strings.Cut(r.rest, "\n")
	r.number++
	return strings.TrimSuffix(line, "\r")
}

// continued is a value with the lines that continue it.
func (r *lineReader) continued(value string) string {
	if !r.more || !strings.HasSuffix(value, `\`) {
		return value
	}
	var whole strings.Builder
	for r.more && strings.HasSuffix(value, `\`) {
		whole.WriteString(value[:len(value)-1])
		whole.WriteByte('\n')
		value = r.next()
	}
	whole.WriteString(value)
	return whole.String()
}
