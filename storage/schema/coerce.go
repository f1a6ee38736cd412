package schema

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"catena/storage/blob"
	"catena/storage/fault"
)

// maxText bounds the content of a blob that is put into a text property.
const maxText = 10 << 20

// Coerce returns v in the form properties are held in: nil, string, int64, float64, bool,
// time.Time, *blob.Blob, []any, map[string]any. It is liberal: text that reads as a number,
// a boolean or a date is one; a list may be "a,b" or JSON text, a single value becomes a
// list of one; complex values may be JSON text; {"entity-type":"date","value":…} is a date
// and a resolved reference its id. An empty list is nil. A value of another kind is
// Invalid, with the xpath as the error's field.
func (f *Field) Coerce(v any) (any, error) { return f.coerce(v, f.Key) }

// Depth is that of the declaration (maxNesting), whatever the caller sends, since members that are
// not declared are refused.
func (f *Field) coerce(v any, at string) (any, error) {
	if v == nil {
		return nil, nil
	}
	if f.List {
		return f.coerceList(v, at)
	}
	switch f.Kind {
	case String:
		return f.toText(v, at)
	case Integer, Long:
		return f.toInteger(v, at)
	case Double:
		return f.toDouble(v, at)
	case Boolean:
		return f.toBoolean(v, at)
	case Date:
		return f.toDate(v, at)
	case Blob:
		return f.toBlob(v, at)
	case Complex:
	}
	return f.toComplex(v, at)
}

func mismatch(at string, f *Field, v any) error {
	return fault.Invalid.Errorf("property %s: must be of type %s, not %s", at, f.Kind, describe(v)).In(at)
}

func describe(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(clip(v))
	case json.Number:
		return clip(v.String())
	case bool, int, int64, float64:
		b, _ := json.Marshal(v)
		return string(b)
	case time.Time:
		return "a date"
	case *blob.Blob:
		return "a blob"
	case map[string]any:
		return "an object"
	case []any, []string:
		return "a list"
	}
	return "a value of type " + reflect.TypeOf(v).String()
}

// coerceList converts each item and leaves out empty ones. A list without items is the same as no value, as rows do not tell them
// apart.
func (f *Field) coerceList(v any, at string) (any, error) {
	items, ok := v.([]any)
	if !ok {
		var err error
		if items, err = f.toItems(v, at); err != nil {
			return nil, err
		}
	}
	item := f.Item()
	out := make([]any, 0, len(items))
	for _, raw := range items {
		xpath := at
		if f.Kind == Complex {
			xpath = at + "/" + strconv.Itoa(len(out))
		}
		c, err := item.coerce(raw, xpath)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// toItems turns what is given for a list into its items.
func (f *Field) toItems(v any, at string) ([]any, error) {
	switch v := v.(type) {
	case string:
		return f.splitText(v, at)
	case []string:
		items := make([]any, len(v))
		for i, s := range v {
			items[i] = s
		}
		return items, nil
	case []byte, map[string]any, json.Number, time.Time, *blob.Blob:
		return []any{v}, nil
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
		return []any{v}, nil
	}
	items := make([]any, r.Len())
	for i := range items {
		items[i] = r.Index(i).Interface()
	}
	return items, nil
}

// splitText reads a list that is written as text: JSON, or for scalars items separated by commas. A single object is a list of one.
func (f *Field) splitText(s, at string) ([]any, error) {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return nil, nil
	}
	if f.Kind >= Blob || trimmed[0] == '[' {
		v, err := parseText(trimmed)
		switch v := v.(type) {
		case []any:
			return v, nil
		case map[string]any:
			return []any{v}, nil
		}
		if f.Kind >= Blob {
			if err == nil {
				err = fault.Invalid.Errorf("must be a list or an object")
			}
			return nil, fault.Invalid.Errorf("property %s: must be JSON text: %w", at, err).In(at)
		}
	}
	parts := SplitList(s)
	items := make([]any, len(parts))
	for i, p := range parts {
		items[i] = p
	}
	return items, nil
}

// SplitList splits text at commas; a backslash takes the next character as it is. Items are
// trimmed, empty ones left out.
func SplitList(s string) []string {
	var out []string
	var item strings.Builder
	flush := func() {
		if t := strings.TrimSpace(item.String()); t != "" {
			out = append(out, t)
		}
		item.Reset()
	}
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			item.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == ',':
			flush()
		default:
			item.WriteRune(r)
		}
	}
	flush()
	return out
}

func parseText(s string) (any, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fault.Invalid.Errorf("unexpected text after the value")
	}
	return v, nil
}

func (f *Field) toText(v any, at string) (any, error) {
	if text, ok := v.(string); ok {
		if utf8.ValidString(text) {
			return v, nil // as it came, not boxed again
		}
		return strings.ToValidUTF8(text, "\uFFFD"), nil
	}
	switch v := v.(type) {
	case json.Number:
		return v.String(), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return string(appendDouble(nil, v)), nil
	case bool:
		return strconv.FormatBool(v), nil
	case time.Time:
		s := AppendTime(nil, v)
		return string(s[1 : len(s)-1]), nil
	case *blob.Blob:
		data, err := v.Bytes(maxText)
		if err != nil {
			return nil, fault.Wrap(err, "property %s", at).In(at)
		}
		return strings.ToValidUTF8(string(data), "\uFFFD"), nil
	case map[string]any:
		if id, ok := entityID(v); ok {
			return id, nil
		}
	}
	return nil, mismatch(at, f, v)
}

// entityID reduces a resolved reference to what was stored.
func entityID(m map[string]any) (string, bool) {
	kind, _ := m["entity-type"].(string)
	key := "id"
	switch kind {
	case "user", "directoryEntry":
	case "group":
		if _, ok := m["id"]; !ok {
			key = "groupname"
		}
	case "document":
		key = "uid"
	default:
		return "", false
	}
	switch id := m[key].(type) {
	case string:
		return id, true
	case json.Number:
		return id.String(), true
	}
	return "", false
}

func (f *Field) toInteger(v any, at string) (any, error) {
	n, ok, empty := integer(v)
	switch {
	case empty:
		return nil, nil
	case !ok:
		return nil, mismatch(at, f, v)
	case f.Kind == Integer && (n < math.MinInt32 || n > math.MaxInt32):
		return nil, fault.Invalid.Errorf("property %s: %d does not fit into 32 bits", at, n).In(at)
	}
	return n, nil
}

// integer reads any number that has no fraction and fits into 64 bits. empty: v is text without characters, which means no value.
func integer(v any) (n int64, ok, empty bool) {
	switch v := v.(type) {
	case int64:
		return v, true, false
	case int:
		return int64(v), true, false
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<63, false
	case json.Number:
		return integerText(v.String())
	case string:
		s := strings.TrimSpace(v)
		if s == "" {
			return 0, false, true
		}
		return integerText(s)
	}
	r := reflect.ValueOf(v)
	if r.CanInt() {
		return r.Int(), true, false
	}
	if r.CanUint() {
		return int64(r.Uint()), r.Uint() <= math.MaxInt64, false
	}
	return 0, false, false
}

func integerText(s string) (n int64, ok, empty bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true, false
	}
	// "1e3" and "2.0" pass, as JSON writers of some languages produce them; above 2^53 digits would
	// be lost.
	if strings.ContainsAny(s, "_xXpPnN") { // only plain decimal numbers
		return 0, false, false
	}
	d, err := strconv.ParseFloat(s, 64)
	if err != nil || d != math.Trunc(d) || math.Abs(d) > 1<<53 {
		return 0, false, false
	}
	return int64(d), true, false
}

func (f *Field) toDouble(v any, at string) (any, error) {
	var d float64
	switch v := v.(type) {
	case float64:
		d = v
	case json.Number, string:
		s, isText := v.(string)
		if !isText {
			s = v.(json.Number).String()
		}
		if s = strings.TrimSpace(s); s == "" {
			return nil, nil
		}
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || strings.ContainsAny(s, "_xXpP") {
			return nil, mismatch(at, f, v)
		}
		d = n
	default:
		if r := reflect.ValueOf(v); r.CanFloat() {
			d = r.Float()
			break
		}
		n, ok, _ := integer(v)
		if !ok {
			return nil, mismatch(at, f, v)
		}
		d = float64(n)
	}
	if math.IsNaN(d) || math.IsInf(d, 0) {
		return nil, fault.Invalid.Errorf("property %s: must be a finite number", at).In(at)
	}
	return d, nil
}

func (f *Field) toBoolean(v any, at string) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		switch s := strings.TrimSpace(v); {
		case s == "":
			return nil, nil
		case strings.EqualFold(s, "true"):
			return true, nil
		case strings.EqualFold(s, "false"):
			return false, nil
		}
	}
	return nil, mismatch(at, f, v)
}

// toDate accepts times, ISO 8601 text, the date entity of the platform, and integers, which are milliseconds since 1970 as scripts
// count. Dates are stored in UTC with milliseconds, and with four digits of the year, so that their text sorts like the time.
func (f *Field) toDate(v any, at string) (any, error) {
	var t time.Time
	switch v := v.(type) {
	case time.Time:
		t = v
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
		parsed, err := ParseDate(v)
		if err != nil {
			return nil, mismatch(at, f, v)
		}
		t = parsed
	case map[string]any:
		if v["entity-type"] != "date" {
			return nil, mismatch(at, f, v)
		}
		if _, nested := v["value"].(map[string]any); nested {
			return nil, mismatch(at, f, v)
		}
		return f.coerce(v["value"], at)
	default:
		ms, ok, _ := integer(v) // milliseconds since 1970, as scripts count
		if !ok {
			return nil, mismatch(at, f, v)
		}
		t = time.UnixMilli(ms)
	}
	t = t.UTC().Truncate(time.Millisecond)
	if t.Year() < 0 || t.Year() > 9999 {
		return nil, fault.Invalid.Errorf("property %s: the year must be between 0 and 9999", at).In(at)
	}
	return t, nil
}

// toBlob takes blobs and inline text, {"data":"text","name":…,"mime-type":…}. Addresses and
// uploads are resolved by anyone who decodes the request, and metadata alone never names
// content: a digest is no permission to read.
func (f *Field) toBlob(v any, at string) (any, error) {
	switch v := v.(type) {
	case *blob.Blob:
		if v == nil {
			return nil, nil
		}
		return v, nil
	case map[string]any:
		text, ok := v["data"].(string)
		if !ok || strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
			break
		}
		name, _ := v["name"].(string)
		typ, _ := v["mime-type"].(string)
		b := blob.FromBytes(name, typ, []byte(text))
		if enc, _ := v["encoding"].(string); enc != "" {
			b = b.WithEncoding(enc)
		}
		return b, nil
	}
	return nil, mismatch(at, f, v)
}

// toComplex converts the members of an object, which may be given as JSON text. Unknown members are errors rather than ignored, so
// that a misspelled name does not lose data.
func (f *Field) toComplex(v any, at string) (any, error) {
	m, ok := v.(map[string]any)
	if s, isText := v.(string); isText {
		if strings.TrimSpace(s) == "" {
			return nil, nil
		}
		parsed, err := parseText(s)
		if err != nil {
			return nil, fault.Invalid.Errorf("property %s: must be JSON text: %w", at, err).In(at)
		}
		if parsed == nil {
			return nil, nil
		}
		m, ok = parsed.(map[string]any)
	}
	if !ok {
		if m, ok = toMap(v); !ok {
			return nil, mismatch(at, f, v)
		}
	}
	out := make(map[string]any, len(m))
	for name, raw := range m {
		xpath := at + "/" + name
		sub := f.Sub(name)
		if sub == nil {
			return nil, fault.Invalid.Errorf("property %s: no such property%s", xpath, f.perhaps(name)).In(xpath)
		}
		c, err := sub.coerce(raw, xpath)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out[name] = c
		}
	}
	return out, nil
}

// toMap takes maps of other types, such as map[string]string.
func toMap(v any) (map[string]any, bool) {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Map || r.Type().Key().Kind() != reflect.String {
		return nil, false
	}
	m := make(map[string]any, r.Len())
	for _, key := range r.MapKeys() {
		m[key.String()] = r.MapIndex(key).Interface()
	}
	return m, true
}
