package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendJSON appends the trace as encoding/json writes it. Every call that is recorded has one: without reflection it takes a
// fifth of the time.
func (t *Trace) appendJSON(b []byte) ([]byte, error) {
	b = append(b, '{')
	if t.ID != "" {
		b = append(appendText(append(b, `"id":`...), t.ID), ',')
	}
	b = appendText(append(b, `"op":`...), t.Op)
	text := func(name, value string) {
		if value != "" {
			b = appendText(append(b, name...), value)
		}
	}
	text(`,"input":`, t.Input)
	text(`,"output":`, t.Output)
	text(`,"error":`, t.Error)
	if len(t.Params) > 0 {
		b = append(b, `,"params":{`...)
		for i, name := range slices.Sorted(maps.Keys(t.Params)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(append(appendText(b, name), ':'), t.Params[name])
		}
		b = append(b, '}')
	}
	b = append(b, `,"start":"`...)
	b, err := t.Start.AppendText(b)
	if err != nil {
		return nil, err
	}
	b = strconv.AppendInt(append(b, `","duration":`...), int64(t.Duration), 10)
	if t.Line != 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(t.Line), 10)
	}
	text(`,"user":`, t.User)
	text(`,"requestId":`, t.Request)
	if b, err = t.appendRare(b); err != nil {
		return nil, err
	}
	for i, s := range t.Steps {
		if i == 0 {
			b = append(b, `,"steps":[`...)
		} else {
			b = append(b, ',')
		}
		if b, err = s.appendJSON(b); err != nil {
			return nil, err
		}
	}
	if len(t.Steps) > 0 {
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

// appendRare appends what few traces have.
func (t *Trace) appendRare(b []byte) ([]byte, error) {
	for _, rare := range []struct {
		name  string
		any   bool
		value any
	}{{"console", len(t.Console) > 0, t.Console}, {"warnings", len(t.Warnings) > 0, t.Warnings}, {"changes", len(t.Changes) > 0, t.Changes}} {
		if !rare.any {
			continue
		}
		raw, err := json.Marshal(rare.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(append(b, `,"`...), rare.name...), `":`...), raw...)
	}
	return b, nil
}

// appendText appends a text as encoding/json writes it.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f {
			raw, _ := json.Marshal(s) // a text always can be written
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
