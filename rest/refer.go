package rest

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"catena/storage/fault"
)

// referring is what stands in a request of a batch for a value of an earlier answer: {$ID#POINTER}, with the id of the
// request and a JSON Pointer (RFC 6901) into the body it was answered with.
var referring = regexp.MustCompile(`\{\$([A-Za-z0-9_.-]{1,64})#([^{}]*)\}`)

var requestID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// filler puts the values of earlier answers in the place of references to them. Nothing is evaluated: a value is looked
// up where the pointer points, and what it holds is not read again.
type filler struct {
	bodies map[string][]byte // of answers, by the ids of requests
	values map[string]any    // those that were read
	room   int64             // bytes that the requests of the batch may still grow by
}

func newFiller(room int64) *filler {
	return &filler{bodies: map[string][]byte{}, values: map[string]any{}, room: room}
}

// refers returns the ids that a request refers to, each with the reference.
func (b *batched) refers() map[string]string {
	out := map[string]string{}
	note := func(text string) {
		for _, m := range referring.FindAllStringSubmatch(text, -1) {
			out[m[1]] = m[0]
		}
	}
	note(b.Path)
	if bytes.Contains(b.Body, []byte("{$")) {
		v, _ := parsed(b.Body)
		_, _ = walkTexts(v, func(text string) (any, error) {
			note(text)
			return text, nil
		})
	}
	return out
}

// fill returns a request with values in the place of its references. In a path a value is one segment, or one value of
// a query; in the body, a text that is nothing else becomes the value, and in others it is written as text.
func (f *filler) fill(b batched) (batched, error) {
	plain := referring.ReplaceAllStringFunc(b.Path, func(m string) string { return strings.Repeat("-", len(m)) })
	before, _, _ := strings.Cut(plain, "?") // pointers may hold a question mark, too
	path, err := f.inText(b.Path[:len(before)], url.PathEscape)
	if err != nil {
		return b, err
	}
	query, err := f.inText(b.Path[len(before):], url.QueryEscape)
	if err != nil {
		return b, err
	}
	b.Path = path + query
	if !bytes.Contains(b.Body, []byte("{$")) {
		return b, nil
	}
	v, err := parsed(b.Body)
	if err != nil {
		return b, err
	}
	if v, err = walkTexts(v, f.inValue); err != nil {
		return b, err
	}
	b.Body, err = json.Marshal(v)
	return b, err
}

// inValue is what a text of a body becomes.
func (f *filler) inValue(text string) (any, error) {
	if m := referring.FindStringSubmatch(text); m != nil && m[0] == text {
		v, err := f.value(m)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(raw), f.grow(len(raw))
	}
	return f.inText(text, func(s string) string { return s })
}

// inText writes values into a text.
func (f *filler) inText(text string, escape func(string) string) (string, error) {
	var err error
	out := referring.ReplaceAllStringFunc(text, func(whole string) string {
		if err != nil {
			return ""
		}
		var v any
		if v, err = f.value(referring.FindStringSubmatch(whole)); err != nil {
			return ""
		}
		var s string
		switch v := v.(type) {
		case string:
			s = v
		case json.Number:
			s = v.String()
		case bool:
			s = strconv.FormatBool(v)
		default:
			err = unresolved(whole, "the value is no text, number, true or false")
		}
		s = escape(s)
		if err == nil {
			err = f.grow(len(s))
		}
		return s
	})
	return out, err
}

// grow counts what values make requests longer by.
func (f *filler) grow(n int) error {
	if f.room -= int64(n); f.room < 0 {
		return fault.Limit.Errorf("values of earlier answers: more than a body may have").WithCode(fault.CodeBodyTooLarge)
	}
	return nil
}

// value looks up what a reference stands for.
func (f *filler) value(m []string) (any, error) {
	whole, id, pointer := m[0], m[1], m[2]
	v, read := f.values[id]
	if !read {
		var err error
		if v, err = parsed(f.bodies[id]); err != nil {
			return nil, unresolved(whole, "the answer has no body")
		}
		f.values[id] = v
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil, unresolved(whole, "no JSON Pointer stands behind the #")
	}
	if pointer == "" {
		return v, nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		found := false
		switch in := v.(type) {
		case map[string]any:
			v, found = in[token]
		case []any:
			i, err := strconv.ParseUint(token, 10, 31)
			if found = err == nil && int(i) < len(in) && strconv.FormatUint(i, 10) == token; found {
				v = in[i]
			}
		}
		if !found {
			return nil, unresolved(whole, "the answer has nothing there")
		}
	}
	return v, nil
}

// unresolved is the error of a reference to nothing.
func unresolved(reference, why string) error {
	return fault.Invalid.Errorf("reference %.200s: %s", reference, why).WithCode(fault.CodeUnresolvedReference)
}

// parsed reads JSON with its numbers as they are written.
func parsed(raw []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// walkTexts replaces every text in a value of JSON, in place; names of members are none.
func walkTexts(v any, each func(text string) (any, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return each(v)
	case []any:
		for i := range v {
			if v[i], err = walkTexts(v[i], each); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name, item := range v {
			if v[name], err = walkTexts(item, each); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
