package schema

import (
	"math"
	"strconv"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/jsontext"
)

// ParseJSON reads what AppendJSON wrote. It is strict about kinds, skips parts that the
// declaration no longer has, and returns blobs with their metadata only. What it cannot
// read is damaged, so its errors are Internal.
// A part that a declaration has lost stays in the stored row until the document is next saved.
func (f *Field) ParseJSON(raw []byte) (any, error) {
	d := decoder{jsontext.Scanner{Data: raw}}
	v, ok := d.field(f)
	ok = ok && d.End() == nil
	if !ok {
		return nil, fault.Internal.Errorf("property %s: stored value cannot be read as %s at byte %d", f.Key, f.TypeName(), d.Pos).In(f.Key)
	}
	return v, nil
}

// decoder reads values of declared fields. Its methods return false at malformed input
// and leave Pos near it.
type decoder struct{ jsontext.Scanner }

// field decodes what AppendJSON wrote for a field. Not ok means that the bytes are not in that form, which is damage.
func (d *decoder) field(f *Field) (any, bool) {
	if !f.List || d.Peek() == 'n' {
		return d.single(f)
	}
	if !d.Take('[') {
		return nil, false
	}
	if d.Take(']') {
		return nil, true
	}
	items := make([]any, 0, 4)
	for {
		item, ok := d.single(f)
		if !ok {
			return nil, false
		}
		items = append(items, item)
		if d.Take(']') {
			return items, true
		}
		if !d.Take(',') {
			return nil, false
		}
	}
}

func (d *decoder) single(f *Field) (any, bool) {
	if d.Peek() == 'n' {
		return nil, d.Word("null")
	}
	switch f.Kind {
	case String:
		return box(d.text())
	case Integer, Long:
		return box(d.integer())
	case Double:
		return box(d.double())
	case Boolean:
		switch d.Peek() {
		case 't':
			return true, d.Word("true")
		case 'f':
			return false, d.Word("false")
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

func (d *decoder) integer() (int64, bool) {
	d.Peek()
	s, whole, err := d.Number()
	if err != nil || !whole {
		return 0, false
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	return n, err == nil
}

func (d *decoder) double() (float64, bool) {
	d.Peek()
	s, _, err := d.Number()
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(s), 64)
	return n, err == nil && !math.IsInf(n, 0)
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
			return d.skip()
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
	if !d.Take('{') {
		return false
	}
	for more := !d.Take('}'); more; {
		key, err := d.Name()
		if err != nil || !value(key) {
			return false
		}
		if more, err = d.More('}'); err != nil {
			return false
		}
	}
	return true
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
			return d.skip()
		}
		if d.Peek() == 'n' {
			return d.Word("null")
		}
		s, ok := d.text()
		*text = s
		return ok
	})
	return b, ok && seen
}

// skip passes over a value that nobody wants.
func (d *decoder) skip() bool {
	_, err := d.Skip(0)
	return err == nil
}

// plain reads text and returns it unescaped, as a part of the source where it can.
func (d *decoder) plain() ([]byte, bool) {
	s, err := d.Text()
	return s, err == nil
}

func (d *decoder) text() (string, bool) {
	s, ok := d.plain()
	return string(s), ok
}
