package engine

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Convert makes a value into one of the type that a word names, as inputs are adapted.
func (c *Ctx) Convert(v any, word string) (any, error) {
	out, err := c.convert(v, kindOfWord(word))
	if err != nil {
		return nil, err // and no document that is none
	}
	return out, nil
}

// mismatch says what was wanted and what came.
func mismatch(to kind, v any) error {
	got := wordOf(v)
	switch s := v.(type) {
	case string:
		got = "text " + strconv.Quote(cut(s, 40))
	case Ref:
		got = "text " + strconv.Quote(cut(string(s), 40))
	}
	return fault.Invalid.Errorf("must be of type %s, not %s", words[to], got)
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// convert makes v into a value of kind to. Nil stays nil.
func (c *Ctx) convert(v any, to kind) (any, error) {
	if val, ok := v.(Value); ok {
		v = val.V
	}
	k := kindOf(v)
	if v == nil || k == to || to == kAny || to == kVoid {
		return v, nil
	}
	// A parameter that keeps JSON as it came is parsed only if something wants it as a value.
	if k == kRaw {
		plain, err := c.ParseJSON(v.(json.RawMessage))
		if err != nil {
			return nil, err
		}
		return c.convert(plain, to)
	}
	if m, ok := v.(map[string]any); ok {
		if inner, wrapped := unwrapEntity(m); wrapped {
			return c.convert(inner, to)
		}
	}
	switch to {
	case kString, kBool, kInt, kLong, kFloat, kDate:
		return toScalar(v, to)
	case kDoc, kDocs, kRef, kRefs:
		return c.toDocuments(v, to)
	case kBlob, kBlobs:
		return c.toBlobs(v, to)
	case kProps:
		return c.toProps(v)
	case kRaw:
		raw, err := json.Marshal(v)
		return json.RawMessage(raw), err
	}
	return toCollection(v, to)
}

// unwrapEntity takes the value out of {"entity-type": "string", "value": …} and the like.
func unwrapEntity(m map[string]any) (any, bool) {
	// Clients of the platform wrap scalars in entities, both as input and as parameters.
	switch m["entity-type"] {
	case "string", "boolean", "number", "date", "list", "map", "orderedMap":
		v, ok := m["value"]
		return v, ok
	}
	return nil, false
}

// toScalar converts between text, numbers, booleans and dates. Numbers become dates as milliseconds since 1970; booleans never become
// numbers.
func toScalar(v any, to kind) (any, error) {
	if s, ok := v.(string); ok {
		return fromText(s, to)
	}
	switch to {
	case kString:
		if s, ok := asText(v); ok {
			return s, nil
		}
	case kInt, kLong:
		if n, ok := asLong(v); ok {
			if to == kInt {
				return int(n), nil
			}
			return n, nil
		}
	// An integer is a float, but a float is an integer only if it is whole; text is read by fromText.
	case kFloat:
		switch n := v.(type) {
		case int:
			return float64(n), nil
		case int64:
			return float64(n), nil
		}
	case kDate:
		if n, ok := asLong(v); ok && inYears(time.UnixMilli(n)) {
			return time.UnixMilli(n).UTC(), nil
		}
	}
	return nil, mismatch(to, v)
}

// fromText reads a scalar from text.
func fromText(s string, to kind) (any, error) {
	t := strings.TrimSpace(s)
	switch to {
	case kBool:
		switch {
		case strings.EqualFold(t, "true"):
			return true, nil
		case strings.EqualFold(t, "false"):
			return false, nil
		}
	case kInt, kLong:
		if n, err := strconv.ParseInt(t, 10, 64); err == nil {
			if to == kInt {
				return int(n), nil
			}
			return n, nil
		}
	case kFloat:
		if n, err := strconv.ParseFloat(t, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return n, nil
		}
	case kDate:
		// An empty date comes from a form whose field was left empty, and unsets the property.
		if t == "" {
			return time.Time{}, nil
		}
		if d, err := schema.ParseDate(t); err == nil && inYears(d) {
			return d, nil
		}
	}
	return nil, mismatch(to, s)
}

// inYears reports whether the year of a date has four digits, which is what JSON can say.
func inYears(t time.Time) bool { return 0 <= t.UTC().Year() && t.UTC().Year() <= 9999 }

// asText writes a scalar as text.
func asText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case storage.Ref:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z"), true
	case *storage.Doc:
		return v.ID(), true
	}
	return "", false
}

func asLong(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case float64:
		// JSON has one type of number: 3.0 is an integer, 3.5 is not. Beyond 2^62 a float64 says too little
		// about which integer is meant.
		if n == math.Trunc(n) && math.Abs(n) < 1<<62 {
			return int64(n), true
		}
	}
	return 0, false
}

// toBlobs converts to a file or a list of files. A list of exactly one file converts to that file; a map may describe an uploaded one.
func (c *Ctx) toBlobs(v any, to kind) (any, error) {
	switch v := v.(type) {
	case *storage.Blob:
		if to == kBlobs {
			return storage.Blobs{v}, nil
		}
	case storage.Blobs:
		if to == kBlob && len(v) == 1 {
			return v[0], nil
		}
	case []any:
		if to != kBlobs {
			break
		}
		out := make(storage.Blobs, 0, len(v))
		for _, item := range v {
			b, err := c.toBlobs(item, kBlob)
			if same, ok := item.(*storage.Blob); ok {
				b, err = same, nil
			}
			if err != nil {
				return nil, err
			}
			out = append(out, b.(*storage.Blob))
		}
		return out, nil
	case map[string]any:
		return c.describedBlob(v, to)
	}
	return nil, mismatch(to, v)
}

// describedBlob makes a file of an object that says where it was uploaded,
// {"upload-batch": …, "upload-fileId": …}, or that holds its text, {"data": …, "name": …, "mime-type": …}.
func (c *Ctx) describedBlob(m map[string]any, to kind) (any, error) {
	if b, err := c.Uploaded(m); err != nil || b != nil {
		return asBlobs(b, to), err
	}
	data, ok := m["data"].(string)
	// A file that is given by its address would have to be fetched, which nothing does implicitly: any
	// parameter would become a way to make the server send requests.
	if !ok || strings.HasPrefix(data, "http://") || strings.HasPrefix(data, "https://") {
		return nil, mismatch(to, m)
	}
	name, _ := m["name"].(string)
	typ, _ := m["mime-type"].(string)
	return asBlobs(blob.FromBytes(name, typ, []byte(data)), to), nil
}

func asBlobs(b *storage.Blob, to kind) any {
	if to == kBlobs {
		return storage.Blobs{b}
	}
	return b
}

func toCollection(v any, to kind) (any, error) {
	switch to {
	case kStrings:
		return toStrings(v)
	case kMap:
		return toMap(v)
	case kList:
		return toList(v)
	}
	return nil, mismatch(to, v)
}

func toStrings(v any) (any, error) {
	switch v := v.(type) {
	case string:
		// Text is a list with commas, as forms and the platform's chains write it.
		return schema.SplitList(v), nil
	case storage.Refs:
		out := make([]string, len(v))
		for i, r := range v {
			out[i] = string(r)
		}
		return out, nil
	case []any:
		out := make([]string, 0, len(v))
		for _, item := range v {
			s, ok := asText(item)
			if !ok {
				return nil, mismatch(kStrings, v)
			}
			out = append(out, s)
		}
		return out, nil
	case storage.Docs:
		out := make([]string, len(v))
		for i, d := range v {
			out[i] = d.ID()
		}
		return out, nil
	}
	if s, ok := asText(v); ok {
		return []string{s}, nil
	}
	return nil, mismatch(kStrings, v)
}

func toMap(v any) (any, error) {
	switch v := v.(type) {
	case storage.Props:
		return map[string]any(v), nil
	case string:
		if t := strings.TrimSpace(v); strings.HasPrefix(t, "{") {
			m, err := ParseJSON([]byte(t))
			if err != nil {
				return nil, err
			}
			return m, nil
		}
		return schema.ParseProps(v)
	}
	return nil, mismatch(kMap, v)
}

func toList(v any) (any, error) {
	switch v := v.(type) {
	case string:
		if t := strings.TrimSpace(v); strings.HasPrefix(t, "[") {
			return ParseJSON([]byte(t))
		}
		return List(schema.SplitList(v)), nil
	case []string:
		return List(v), nil
	case storage.Refs:
		return List(v), nil
	case storage.Docs:
		return List(v), nil
	case *storage.Page:
		return List(v.Docs), nil
	case storage.Blobs:
		return List(v), nil
	case map[string]any, storage.Props:
		return nil, mismatch(kList, v)
	}
	return []any{v}, nil
}
