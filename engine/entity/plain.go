package entity

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"catena/engine/quoted"
	"catena/storage/schema"
)

// largeText is the length of texts that room is made for before they are appended, with some
// for what has to be escaped in them and for what follows.
const largeText = 1 << 10

// AppendPlain appends a value as JSON that is made of objects, lists, texts and numbers, and is
// no entity. Names are in order; HTML is left alone.
func AppendPlain(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		if len(v) > largeText {
			dst = slices.Grow(dst, len(v)+len(v)/8+largeText)
		}
		return schema.AppendString(dst, v), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case quoted.Text:
		return append(slices.Grow(dst, len(v)+largeText), v...), nil
	case map[string]any:
		return appendObject(dst, v)
	case []any:
		return appendList(dst, v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return append(dst, bytes.TrimSpace(b.Bytes())...), err
}

func appendObject(dst []byte, m map[string]any) ([]byte, error) {
	if m == nil {
		return append(dst, "null"...), nil
	}
	var room [32]string
	names := slices.AppendSeq(room[:0], maps.Keys(m))
	slices.Sort(names)
	dst = append(dst, '{')
	var err error
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(schema.AppendString(dst, name), ':')
		if dst, err = AppendPlain(dst, m[name]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendList(dst []byte, list []any) ([]byte, error) {
	if list == nil {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '[')
	var err error
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = AppendPlain(dst, item); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}
