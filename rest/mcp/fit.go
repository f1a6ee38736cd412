package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"catena/engine"
	"catena/storage/fault"
)

// What an operation returns to a model, unless the model asks for more. A token is taken to be four bytes of JSON.
const (
	usualTokens = 8000
	leastTokens = 500
	mostTokens  = 200_000 // less than maxResult
	tokenSize   = 4
	usualPage   = 20 // items of a page
)

// size returns how many bytes a result may have, given the tokens that were asked for; 0 stands for the usual.
func size(tokens int) (int, error) {
	switch {
	case tokens == 0:
		tokens = usualTokens
	case tokens < leastTokens || tokens > mostTokens:
		return 0, fault.Invalid.Errorf("maxTokens: %d is not between %d and %d", tokens, leastTokens, mostTokens).In("maxTokens")
	}
	return tokens * tokenSize, nil
}

// paged gives the parameters of an operation that returns pages of documents their usual size, unless they say one.
func (c *Config) paged(op string, raw json.RawMessage) json.RawMessage {
	const name = "pageSize"
	d, ok := c.Engine.Set().Op(op)
	if !ok || !slices.Contains(d.Signature(), "documents") || !slices.ContainsFunc(d.Params(), func(p engine.Param) bool { return p.Name == name }) {
		return raw
	}
	params := map[string]json.RawMessage{}
	if len(raw) > 0 && json.Unmarshal(raw, &params) != nil || params[name] != nil {
		return raw
	}
	if params == nil { // null
		params = map[string]json.RawMessage{}
	}
	params[name] = fmt.Appendf(nil, "%d", usualPage)
	return orWhole(params, raw)
}

// ran shows the result of an operation, and what a dry run would have changed. What exceeds a size is left out, and the
// result says so: what was done stays done.
func ran(res *engine.Result, dry bool, size int) *result {
	out := struct {
		Result  json.RawMessage `json:"result"`
		Omitted string          `json:"omitted,omitempty"`
		Changes json.RawMessage `json:"changes,omitempty"`
		DryRun  bool            `json:"dryRun,omitempty"`
	}{DryRun: dry}
	body := res.Body
	if len(body) == 0 {
		body = []byte("null")
	}
	out.Result, out.Omitted = fit(body, size)
	if dry {
		changes, err := encode(engine.List(res.Changes))
		if err != nil {
			return failed(err)
		}
		var left string
		if out.Changes, left = fit(changes, size); left != "" {
			out.Omitted += "Of the changes: " + left
		}
	}
	if !dry && out.Omitted == "" {
		return &result{texts: []string{string(body)}, summary: inStructured, structured: slices.Concat([]byte(`{"result":`), body, []byte{'}'})}
	}
	r := structured(out)
	if out.Omitted != "" {
		r.summary = out.Omitted
	}
	if !dry && !r.failed {
		r.texts = []string{string(out.Result), out.Omitted}
	}
	return r
}

// fit shortens JSON to a size, and says what it has left out: the last items of lists, the end of a file's text, or all of
// anything else.
func fit(body []byte, size int) (short json.RawMessage, left string) {
	if len(body) <= size {
		return body, ""
	}
	var list []json.RawMessage
	var members map[string]json.RawMessage
	switch {
	case json.Unmarshal(body, &list) == nil:
		fewer := first(list, size)
		return array(fewer), cut(len(fewer), len(list), "items")
	case json.Unmarshal(body, &members) != nil:
	case json.Unmarshal(members["entries"], &list) == nil:
		fewer := first(list, size-(len(body)-len(members["entries"])))
		members["entries"] = array(fewer)
		return orWhole(members, []byte("null")), cut(len(fewer), len(list), "entries")
	case members["mime-type"] != nil && (members["data"] != nil || members["base64"] != nil):
		return fitFile(members, size)
	}
	return json.RawMessage("null"), fmt.Sprintf("The result has %d bytes, which exceeds the limit of %d tokens. %s", len(body), size/tokenSize, getMore)
}

// fitFile shows the beginning of a text, and of other files only what describes them.
func fitFile(members map[string]json.RawMessage, size int) (json.RawMessage, string) {
	var text string
	left := fmt.Sprintf("The content of the file exceeds the limit of %d tokens. Ask for more with maxTokens.", size/tokenSize)
	if json.Unmarshal(members["data"], &text) == nil && text != "" {
		// Escapes in JSON take up to six bytes for one.
		text = text[:min(len(text), max(0, size-1024)*len(text)/len(members["data"]))]
		for text != "" && !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		left = fmt.Sprintf("Only the first %d bytes of the text are shown. Ask for more with maxTokens.", len(text))
		members["data"] = orWhole(text, []byte(`""`))
	}
	delete(members, "base64")
	return orWhole(members, []byte("null")), left
}

// getMore is how to get less at once, or more.
const getMore = "Ask for fewer with pageSize and currentPageIndex or a narrower query, for fewer properties, or for more with maxTokens."

func cut(shown, all int, what string) string {
	return fmt.Sprintf("Only the first %d of %d %s are shown. %s", shown, all, what, getMore)
}

// first returns as many items as fit into a size, with the commas between them.
func first(list []json.RawMessage, size int) []json.RawMessage {
	size -= len("[]")
	for i, item := range list {
		if size -= len(item) + 1; size < 0 {
			return list[:i]
		}
	}
	return list
}

func array(list []json.RawMessage) json.RawMessage { return orWhole(engine.List(list), []byte("[]")) }
