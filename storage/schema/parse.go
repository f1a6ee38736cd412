package schema

import (
	"math"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"catena/storage/blob"
	"catena/storage/fault"
)

// ParseJSON reads what AppendJSON wrote. It is strict about kinds, skips parts that the
// declaration no longer has, and returns blobs with their metadata only. What it cannot
// read is damaged, so its errors are Internal.
func (f *Field) ParseJSON(raw []byte) (any, error) {
	d := decoder{src: raw}
	v, ok := d.field(f)
	if ok {
		d.space()
		ok = d.pos == len(d.src)
	}
	if !ok {
		return nil, fault.Internal.Errorf("property %s: stored value cannot be read as %s at byte %d", f.Key, f.TypeName(), d.pos).In(f.Key)
	}
	return v, nil
}

// decoder reads values of declared fields. Its methods return false at malformed input
// and leave pos near it.
type decoder struct {
	src []byte
	pos int
}

func (d *decoder) space() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is no space, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.pos < len(d.src) {
		return d.src[d.pos]
	}
	return 0
}

func (d *decoder) take(c byte) bool {
	if d.peek() == c {
		d.pos++
		return true
	}
	return false
}

func (d *decoder) word(w string) bool {
	if len(d.src)-d.pos >= len(w) && string(d.src[d.pos:d.pos+len(w)]) == w {
		d.pos += len(w)
		return true
	}
	return false
}

// field decodes what AppendJSON wrote for a field. Not ok means that the bytes are not in that form, which is damage.
func (d *decoder) field(f *Field) (any, bool) {
	if !f.List || d.peek() == 'n' {
		return d.single(f)
	}
	if !d.take('[') {
		return nil, false
	}
	if d.take(']') {
		return nil, true
	}
	items := make([]any, 0, 4)
	for {
		item, ok := d.single(f)
		if !ok {
			return nil, false
		}
		items = append(items, item)
		if d.take(']') {
			return items, true
		}
		if !d.take(',') {
			return nil, false
		}
	}
}

func (d *decoder) single(f *Field) (any, bool) {
	if d.peek() == 'n' {
		return nil, d.word("null")
	}
	switch f.Kind {
	case String:
		return box(d.text())
	case Integer, Long:
		return box(d.integer())
	case Double:
		return box(d.double())
	case Boolean:
		switch d.peek() {
		case 't':
			return true, d.word("true")
		case 'f':
			return false, d.word("false")
		}
		return nil, false
	case Date:
		return box(d.date())
	case Blob:
		return box(d.blob())
	case Complex:
	}
	return box(d.complex(f))
}

func box[T any](v T, ok bool) (any, bool) {
	if !ok {
		return nil, false
	}
	return v, true
}

func (d *decoder) number() ([]byte, bool) {
	d.space()
	start := d.pos
	for d.pos < len(d.src) {
		switch c := d.src[d.pos]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			d.pos++
		default:
			return d.src[start:d.pos], d.pos > start
		}
	}
	return d.src[start:], d.pos > start
}

func (d *decoder) integer() (int64, bool) {
	s, ok := d.number()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	return n, err == nil && s[0] != '+'
}

func (d *decoder) double() (float64, bool) {
	s, ok := d.number()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(s), 64)
	return n, err == nil && s[0] != '+' && !math.IsInf(n, 0)
}

func (d *decoder) date() (time.Time, bool) {
	s, ok := d.plain()
	if !ok {
		return time.Time{}, false
	}
	t, ok := parseStamp(s)
	return t, ok
}

// parseStamp reads exactly what AppendTime writes: 2024-05-02T10:15:30.000Z.
func parseStamp(s []byte) (time.Time, bool) {
	const form = "0000-00-00T00:00:00.000Z"
	if len(s) != len(form) {
		return time.Time{}, false
	}
	for i, c := range s {
		if form[i] != '0' && c != form[i] || form[i] == '0' && (c < '0' || c > '9') {
			return time.Time{}, false
		}
	}
	num := func(from, to int) (n int) {
		for _, c := range s[from:to] {
			n = n*10 + int(c-'0')
		}
		return n
	}
	y, mo, day := num(0, 4), num(5, 7), num(8, 10)
	h, mi, sec, ms := num(11, 13), num(14, 16), num(17, 19), num(20, 23)
	if !validDate(y, mo, day) || h > 23 || mi > 59 || sec > 59 {
		return time.Time{}, false
	}
	return time.Date(y, time.Month(mo), day, h, mi, sec, ms*1e6, time.UTC), true
}

func validDate(y, mo, day int) bool {
	return mo >= 1 && mo <= 12 && day >= 1 && day <= time.Date(y, time.Month(mo)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func (d *decoder) complex(f *Field) (map[string]any, bool) {
	m := make(map[string]any, len(f.Fields))
	ok := d.members(func(key []byte) bool {
		sub := f.subBytes(key)
		if sub == nil {
			return d.skip(0)
		}
		v, ok := d.field(sub)
		if v != nil {
			m[sub.Name] = v
		}
		return ok
	})
	return m, ok
}

func (f *Field) subBytes(name []byte) *Field {
	for _, sub := range f.Fields {
		if sub.Name == string(name) {
			return sub
		}
	}
	return nil
}

// members reads an object and calls value at the start of each value.
func (d *decoder) members(value func(key []byte) bool) bool {
	if !d.take('{') {
		return false
	}
	if d.take('}') {
		return true
	}
	for {
		key, ok := d.plain()
		if !ok || !d.take(':') || !value(key) {
			return false
		}
		if d.take('}') {
			return true
		}
		if !d.take(',') {
			return false
		}
	}
}

func (d *decoder) blob() (*blob.Blob, bool) {
	b := new(blob.Blob)
	seen := false
	ok := d.members(func(key []byte) bool {
		var text *string
		switch string(key) {
		case "name":
			text = &b.Name
		case "mime-type":
			text = &b.Type
		case "encoding":
			text = &b.Encoding
		case "digest":
			text, seen = &b.Digest, true
		case "length":
			s, ok := d.plain()
			if !ok {
				return false
			}
			n, err := strconv.ParseInt(string(s), 10, 64)
			b.Size = n
			return err == nil && n >= 0
		default:
			return d.skip(0)
		}
		if d.peek() == 'n' {
			return d.word("null")
		}
		s, ok := d.text()
		*text = s
		return ok
	})
	return b, ok && seen
}

// maxSkip bounds how deep a value that nobody wants may be nested.
const maxSkip = 64

func (d *decoder) skip(depth int) bool {
	if depth > maxSkip {
		return false
	}
	switch d.peek() {
	case '{':
		return d.members(func([]byte) bool { return d.skip(depth + 1) })
	case '[':
		d.pos++
		if d.take(']') {
			return true
		}
		for d.skip(depth + 1) {
			if d.take(']') {
				return true
			}
			if !d.take(',') {
				return false
			}
		}
		return false
	case '"':
		_, ok := d.text()
		return ok
	case 't':
		return d.word("true")
	case 'f':
		return d.word("false")
	case 'n':
		return d.word("null")
	}
	_, ok := d.double()
	return ok
}

// plain reads text and returns it unescaped, as a part of the source where it can.
func (d *decoder) plain() ([]byte, bool) {
	if !d.take('"') {
		return nil, false
	}
	start := d.pos
	for d.pos < len(d.src) {
		switch c := d.src[d.pos]; {
		case c == '"':
			d.pos++
			return d.src[start : d.pos-1], true
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(d.src[d.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, false
			}
			d.pos += n
		default:
			d.pos++
		}
	}
	return nil, false
}

func (d *decoder) text() (string, bool) {
	s, ok := d.plain()
	return string(s), ok
}

// escaped goes on with plain from the first backslash.
func (d *decoder) escaped(start int) ([]byte, bool) {
	out := append(make([]byte, 0, d.pos-start+32), d.src[start:d.pos]...)
	for d.pos < len(d.src) {
		c := d.src[d.pos]
		switch {
		case c == '"':
			d.pos++
			return out, true
		case c < ' ':
			return nil, false
		case c == '\\':
			var ok bool
			if out, ok = d.escape(out); !ok {
				return nil, false
			}
		case c < utf8.RuneSelf:
			out = append(out, c)
			d.pos++
		default:
			r, n := utf8.DecodeRune(d.src[d.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, false
			}
			out = append(out, d.src[d.pos:d.pos+n]...)
			d.pos += n
		}
	}
	return nil, false
}

// escape reads one escape sequence. Half a surrogate pair becomes U+FFFD.
func (d *decoder) escape(out []byte) ([]byte, bool) {
	if d.pos+1 >= len(d.src) {
		return nil, false
	}
	c := d.src[d.pos+1]
	d.pos += 2
	switch c {
	case '"', '\\', '/':
		return append(out, c), true
	case 'b':
		return append(out, '\b'), true
	case 'f':
		return append(out, '\f'), true
	case 'n':
		return append(out, '\n'), true
	case 'r':
		return append(out, '\r'), true
	case 't':
		return append(out, '\t'), true
	case 'u':
		r, ok := d.hex4()
		if !ok {
			return nil, false
		}
		if utf16.IsSurrogate(r) {
			mark := d.pos
			low := rune(utf8.RuneError)
			if d.word(`\u`) {
				if low, ok = d.hex4(); !ok {
					return nil, false
				}
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				d.pos = mark
			}
		}
		return utf8.AppendRune(out, r), true
	}
	return nil, false
}

func (d *decoder) hex4() (rune, bool) {
	if d.pos+4 > len(d.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(d.src[d.pos:d.pos+4]), 16, 16)
	d.pos += 4
	return rune(n), err == nil
}
