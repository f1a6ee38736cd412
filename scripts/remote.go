package scripts

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"catena/storage/jsontext"
)

// remoteDoc is a document of the server as a worker knows it: its fields and, when they
// are few, its properties as JSON. What JSON cannot say exactly (dates, files) and what
// is not there is asked for.
type remoteDoc struct {
	h      *pipeHost
	id     uint64
	fields []byte // one value after the other
	raw    []byte // properties as a JSON object; nil: not sent
	known  map[string]any
	answer uint64
	stale  bool
}

func (d *remoteDoc) key() any { return d }

// fresh asks for the document again when a call may have changed it.
func (d *remoteDoc) fresh() error {
	if !d.stale {
		return nil
	}
	d.stale = false
	// The answer is read by readDocument, which fills this handle.
	w := d.h.question(askDocument)
	w.uint(d.id)
	_, err := d.h.ask()
	return err
}

func (d *remoteDoc) field(i int) (any, error) {
	if err := d.fresh(); err != nil {
		return nil, err
	}
	r := reader{b: d.fields, handles: d.h}
	for range i {
		r.skip()
	}
	v := r.value()
	return v, r.err
}

func (d *remoteDoc) get(xpath string) (any, error) {
	if err := d.fresh(); err != nil {
		return nil, err
	}
	// A script that reads a property in a loop must not ask each time.
	if v, ok := d.known[xpath]; ok {
		return v, nil
	}
	if raw, ok := member(d.raw, xpath); ok {
		if v, exact := plainJSON(raw); exact {
			return v, nil
		}
	}
	w := d.h.question(askProperty)
	w.uint(d.id)
	w.string(xpath)
	v, err := d.h.ask()
	if err == nil {
		if d.known == nil {
			d.known = make(map[string]any, 4)
		}
		d.known[xpath] = v
	}
	return v, err
}

// set asks at once when the property may not exist, so that the error comes where it
// belongs. What the server makes of the value is read back when the script wants it.
func (d *remoteDoc) set(xpath string, v any) error {
	_, there := member(d.raw, xpath)
	// Changes wait until the next question and travel with it.
	d.h.sets = append(d.h.sets, propertyChange{d, xpath, v})
	d.stale = true
	// The property exists, so at worst the value does not fit, which the next question reports.
	if there {
		return nil
	}
	d.h.question(askNothing)
	_, err := d.h.ask()
	return err
}

func (d *remoteDoc) json(dst []byte) ([]byte, error) {
	if err := d.fresh(); err != nil {
		return nil, err
	}
	if d.raw != nil {
		return append(dst, d.raw...), nil
	}
	w := d.h.question(askJSON)
	w.uint(d.id)
	v, err := d.h.ask()
	if err != nil {
		return nil, err
	}
	s, _ := v.(string)
	return append(dst, s...), nil
}

// remoteFile is a file of the server.
type remoteFile struct {
	h  *pipeHost
	id uint64
	i  fileInfo
}

func (f *remoteFile) key() any       { return f.id<<1 | 1 }
func (f *remoteFile) info() fileInfo { return f.i }

func (f *remoteFile) text(max int) (string, error) {
	w := f.h.question(askText)
	w.uint(f.id)
	w.int(int64(max))
	v, err := f.h.ask()
	s, _ := v.(string)
	return s, err
}

// write writes a handle by its number.
func (h *pipeHost) write(w *writer, v any) error {
	switch v := v.(type) {
	case *remoteDoc:
		w.byte(tagDocument)
		w.uint(v.id)
		h.passed = append(h.passed, v)
	case *remoteFile:
		w.byte(tagFile)
		w.uint(v.id)
	case *passed:
		return v.write(w)
	case goja.Value:
		return w.primitive(v)
	default:
		return errWire
	}
	return nil
}

func (h *pipeHost) readDocument(r *reader) any {
	id := r.uint()
	d := h.docs[id]
	if d == nil {
		d = &remoteDoc{h: h, id: id}
		h.docs[id] = d
	}
	d.fields = r.sized()
	if d.raw = r.bytes(); len(d.raw) == 0 {
		d.raw = nil
	}
	d.known, d.stale, d.answer = nil, false, h.answer
	return d
}

func (h *pipeHost) readFile(r *reader) any {
	f := &remoteFile{h: h, id: r.uint()}
	f.i = fileInfo{name: r.string(), typ: r.string(), encoding: r.string(), digest: r.string(), size: r.int()}
	return f
}

// member finds a member of a JSON object that the server has written.
func member(raw []byte, name string) ([]byte, bool) {
	// The server writes {"name":value,"name":value} without blanks: two bytes lie between the name and its
	// value, and one between a value and the next name.
	for i := 1; i < len(raw) && raw[i] == '"'; {
		keyEnd := jsontext.StringEnd(raw, i+1)
		value := raw[min(keyEnd+2, len(raw)):]
		n := jsontext.Len(value)
		if string(raw[i+1:keyEnd]) == name {
			return value[:n], true
		}
		i = keyEnd + n + 3
	}
	return nil, false
}

// plainJSON reads a value that means the same in JSON as it did before: not text that
// may be a date, not an object that may be a file.
func plainJSON(raw []byte) (v any, exact bool) {
	if len(raw) == 0 {
		return nil, false
	}
	switch raw[0] {
	case 'n':
		return nil, true
	case 't':
		return true, true
	case 'f':
		return false, true
	case '"':
		s := string(raw[1 : len(raw)-1])
		if strings.IndexByte(s, '\\') >= 0 && json.Unmarshal(raw, &s) != nil {
			return nil, false
		}
		// Dates are text in JSON, but Date objects in a script: only the server knows which property is a
		// date.
		return s, !maybeDate(s)
	case '[':
		if string(raw) == "[]" {
			return []any{}, true
		}
		return nil, false
	case '{':
		return nil, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// maybeDate reports whether text has the form of an instant.
func maybeDate(s string) bool {
	// From 2006-01-02T15:04:05Z to nanoseconds with a zone. Asking once too often does no harm.
	return len(s) >= 20 && len(s) <= 35 && s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[0] >= '0' && s[0] <= '9'
}
