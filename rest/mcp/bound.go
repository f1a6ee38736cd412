package mcp

import (
	"fmt"
	"maps"

	"catena/engine"
	"catena/storage/fault"
)

// maxResult bounds what a tool answers, in bytes: a model can do nothing with more, and what it
// reads may be somebody's who wants it to read much.
const maxResult = 1 << 20

// room is left for what stands around a result.
const room = 8 << 10

// shortened leaves the text out that only repeats the structured result, if both are too much.
func (r *result) shortened() bool {
	const escape = len(`\u0000`) // the longest that a byte becomes
	size := len(r.structured)
	for _, text := range r.texts {
		size += escape * len(text)
	}
	if size <= maxResult-room {
		return true
	}
	size = len(r.structured)
	for _, text := range r.texts {
		quoted, _ := encode(text) // text has no errors
		size += len(quoted)
	}
	if size > maxResult-room && len(r.texts) > 0 {
		r.texts[0] = fmt.Sprintf("The result is in the structured content, which has %d bytes.", len(r.structured))
	}
	return len(r.structured) <= maxResult-room
}

// bounded is the result of a tool. A deck that is too long is not read; one that was written
// comes back without its HTML, which its writer has.
func (t *tool) bounded(r *result, res *engine.Result) *result {
	if r.shortened() {
		return r
	}
	size := len(r.structured)
	m, _ := res.Value.(map[string]any)
	data, ok := m["data"].(map[string]any)
	if !t.hints.ReadOnlyHint && ok {
		short := maps.Clone(data)
		short["data"] = ""
		if body, err := encode(short); err == nil && len(body) <= maxResult/2-room {
			left := fmt.Sprintf("Done. The deck's HTML is omitted, since it exceeds %d bytes.", maxResult)
			return &result{texts: append([]string{string(body), left}, r.texts[1:]...), structured: body}
		}
	}
	return failed(fault.Limit.Errorf("%s: the result has %d bytes, more than the limit of %d; request less at once, or have the user read it at its address", t.name, size, maxResult).WithCode(fault.CodeTooLarge))
}
