package scenario

import (
	"bytes"
	"encoding/json"
	"strings"
)

const maxLine = 160

// canonical writes a value so that equal values are equal text.
func canonical(v any) string {
	plain, err := decode(encode(v))
	if err != nil {
		return err.Error()
	}
	return string(encode(plain))
}

func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

// decode reads one JSON value; numbers keep their spelling.
func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errTrailing
	}
	return v, nil
}

// format writes JSON for people: what fits stays on one line, what does not gets a line for
// each member.
func format(raw []byte) string {
	f := formatter{src: raw}
	return f.value("", len("= "))
}

type formatter struct {
	src []byte
	pos int
}

// value writes the value at pos; used is how much of its line is taken.
func (f *formatter) value(indent string, used int) string {
	start := f.pos
	short := f.short()
	if used+len(short) < maxLine || short[0] != '{' && short[0] != '[' {
		return short
	}
	end := f.pos
	f.pos = start
	opening := f.src[f.pos]
	f.pos++
	var b strings.Builder
	b.WriteByte(opening)
	for sep := "\n"; f.src[f.pos] != '}' && f.src[f.pos] != ']'; sep = ",\n" {
		if f.src[f.pos] == ',' {
			f.pos++
		}
		key := ""
		if opening == '{' {
			key = f.text() + ": "
			f.pos++
		}
		b.WriteString(sep + indent + "  " + key)
		b.WriteString(f.value(indent+"  ", len(indent)+2+len(key)))
	}
	b.WriteString("\n" + indent + string(f.src[f.pos]))
	f.pos = end
	return b.String()
}

// short writes the value at pos on one line.
func (f *formatter) short() string {
	var b strings.Builder
	depth := 0
	for f.pos < len(f.src) {
		switch c := f.src[f.pos]; c {
		case '"':
			b.WriteString(f.text())
			f.pos--
		case '{', '[':
			depth++
			b.WriteByte(c)
		case '}', ']':
			if depth == 0 {
				return b.String()
			}
			depth--
			b.WriteByte(c)
		case ',':
			if depth == 0 {
				return b.String()
			}
			b.WriteString(", ")
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
		f.pos++
		if depth == 0 && (f.src[f.pos-1] == '}' || f.src[f.pos-1] == ']' || f.src[f.pos-1] == '"') {
			break
		}
	}
	return b.String()
}

// text reads the string at pos, quotes and all.
func (f *formatter) text() string {
	start := f.pos
	for f.pos++; f.src[f.pos] != '"'; f.pos++ {
		if f.src[f.pos] == '\\' {
			f.pos++
		}
	}
	f.pos++
	return string(f.src[start:f.pos])
}
