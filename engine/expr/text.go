package expr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unsigned takes the sign off zero, which nobody wants to read.
func unsigned(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

// Text writes a value as a template shows it; nil is no text.
// The forms are those of the platform, since templates of stored chains depend on them: a list is
// joined by commas, a document is its id, a number has no exponent. What the platform has no form for is JSON.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(unsigned(v), 'f', -1, 64)
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000Z")
	case []any:
		if structured(v) {
			return asJSON(v)
		}
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = Text(item)
		}
		return strings.Join(texts, ",")
	case []string:
		return strings.Join(v, ",")
	case map[string]any:
		if text, ok := v["toString"].(func(...any) (any, error)); ok {
			s, _ := text()
			return Text(s)
		}
		if of, ok := v[Handle]; ok {
			if d, ok := of.(interface{ ID() string }); ok {
				return d.ID()
			}
			return Text(of)
		}
		return asJSON(v)
	}
	return fmt.Sprint(v)
}

// structured reports whether a value is a map, or a list that has maps in it; views of values are neither.
func structured(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		_, view := v[Handle]
		_, own := v["toString"]
		return !view && !own
	case []any:
		return slices.ContainsFunc(v, structured)
	}
	return false
}

// asJSON writes a value as JSON, of which functions are no part.
func asJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(withoutFunctions(v, 0)); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withoutFunctions is a value as JSON can hold it.
func withoutFunctions(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		if _, view := v[Handle]; view || depth > 32 {
			return Text(v)
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			if _, f := item.(Func); !f {
				out[name] = withoutFunctions(item, depth+1)
			}
		}
		return out
	case []any:
		if depth > 32 {
			return nil
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutFunctions(item, depth+1)
		}
		return out
	}
	return v
}
