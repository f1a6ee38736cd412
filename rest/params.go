package rest

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"catena/engine/entity"
	"catena/storage/fault"
)

// Pick takes the parameters that are there over.
func Pick(out Values, q url.Values, names ...string) {
	for _, name := range names {
		if v := q.Get(name); v != "" {
			out[name] = v
		}
	}
}

// Values are the parameters of an operation.
type Values = map[string]any

// RawParams are parameters being written as a JSON object.
type RawParams []byte

// Add writes a parameter.
func (p RawParams) Add(name string, value json.RawMessage) RawParams {
	return append(p.name(name), value...)
}

// Text writes a parameter that is text.
func (p RawParams) Text(name, value string) RawParams {
	out, _ := entity.AppendPlain(p.name(name), value) // text has no errors
	return out
}

func (p RawParams) name(name string) RawParams {
	sep := byte(',')
	if len(p) == 0 {
		sep = '{'
	}
	return append(strconv.AppendQuote(append(p, sep), name), ':')
}

// Close returns the parameters.
func (p RawParams) Close() json.RawMessage {
	if len(p) == 0 {
		return json.RawMessage("{}")
	}
	return json.RawMessage(append(p, '}'))
}

// Number reads a number that is not negative.
func Number(what, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 {
		return 0, fault.Invalid.Errorf("%s %q: must be a number", what, text)
	}
	return n, nil
}

// Member reads one member of an object; the zero value stands for none.
func Member[T any](m map[string]any, name string) T {
	v, _ := m[name].(T)
	return v
}
