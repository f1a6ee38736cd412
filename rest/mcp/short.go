package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"catena/engine/entity"
	"catena/storage/jsontext"
)

const (
	methodCall = "tools/call"
	newEra     = "2026-07-28"
)

// usualBody is what most messages are shorter than, in bytes.
const usualBody = 1 << 10

// Header values that are used again and again.
var (
	jsonType    = []string{"application/json"}
	noTransform = []string{"no-cache, no-transform"}
)

// oldEras are the versions of the protocol that put nothing about themselves into requests.
var oldEras = []string{"", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// ServeHTTP answers one message. A call of a tool with nothing unusual about it is answered
// here; everything else goes to the SDK's handler, which opens a session for each message.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.Body == nil || s.limit > 0 && r.ContentLength > s.limit {
		s.fully(w, r, nil)
		return
	}
	read := bytes.NewBuffer(make([]byte, 0, usualBody))
	_, err := read.ReadFrom(io.LimitReader(r.Body, s.limit+1))
	body := read.Bytes()
	if err != nil || int64(len(body)) > s.limit {
		s.fully(w, again(r, body), nil)
		return
	}
	if err := s.check(body); err != nil && len(body) > 0 && isJSON(r.Header) {
		p := &plainErrors{ResponseWriter: w, body: body, text: bytes.NewBufferString(err.Error()), status: http.StatusBadRequest}
		p.end()
		return
	}
	c, ok := s.read(r.Header, body)
	switch {
	case !ok || !s.usual(r.Header):
		s.fully(w, again(r, body), body)
		return
	case c.told && s.waits[c.name]:
		w.Header().Set("X-Accel-Buffering", "no")
		s.live.ServeHTTP(w, again(r, body))
		return
	}
	ctx := r.Context()
	if !c.modern {
		ctx = context.WithoutCancel(ctx) // there, a client that goes away cancels nothing
	}
	s.answer(w, c, s.call(ctx, c), r.Header)
}

// fully has the SDK answer a message.
func (s *server) fully(w http.ResponseWriter, r *http.Request, body []byte) {
	p := &plainErrors{ResponseWriter: w, body: body, modern: r.Header.Get("Mcp-Protocol-Version") == newEra}
	s.whole.ServeHTTP(p, r)
	p.end()
}

// replayed is a body of which a part was read.
type replayed struct {
	io.Reader
	io.Closer
}

// again is a request of whose body a part was read, with that in front of the rest.
func again(r *http.Request, read []byte) *http.Request {
	r.Body = &replayed{Reader: io.MultiReader(bytes.NewReader(read), r.Body), Closer: r.Body}
	return r
}

// usual reports whether the headers are those of a client's plain request.
func (s *server) usual(h http.Header) bool {
	accept := strings.Join(h["Accept"], ",")
	return isJSON(h) && !strings.Contains(accept, ";") &&
		strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

func isJSON(h http.Header) bool {
	typ, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.TrimSpace(typ) == "application/json"
}

// call is a tool call as a message holds it.
type call struct {
	id     json.RawMessage
	tool   toolFunc
	name   string
	args   json.RawMessage
	modern bool
	told   bool // whether the caller wants to hear how far it is
}

// read reads a message as a tool call; ok is false if it is anything else, or anything that
// the protocol's rules would have to be applied to.
func (s *server) read(h http.Header, body []byte) (c call, ok bool) {
	var message, params [4]json.RawMessage
	if !parts(body, message[:], "jsonrpc", "method", "id", "params") || string(message[0]) != `"2.0"` ||
		string(message[1]) != `"`+methodCall+`"` || !isID(message[2]) || !parts(message[3], params[:], "name", "arguments", "_meta") {
		return c, false
	}
	c.id, c.args = message[2], params[1]
	var meta map[string]json.RawMessage
	if raw := params[2]; raw != nil && json.Unmarshal(raw, &meta) != nil || !c.named(params[0]) {
		return c, false
	}
	c.told = meta["progressToken"] != nil
	c.tool = s.tools[c.name]
	return c, c.tool != nil && c.era(h, meta)
}

// some reads members of an object by their names; ok is false if it is none.
func some(raw json.RawMessage, into []json.RawMessage, names ...string) (ok bool) {
	_, ok = members(raw, into, names)
	return ok
}

// parts reads the members of an object by their names; ok is false if it has any others, or is none.
func parts(raw json.RawMessage, into []json.RawMessage, names ...string) (ok bool) {
	others, ok := members(raw, into, names)
	return ok && !others
}

// members reads members of an object by their names, and reports whether it has others.
func members(raw json.RawMessage, into []json.RawMessage, names []string) (others, ok bool) {
	s := jsontext.Scanner{Data: raw}
	if s.Peek() != '{' {
		return false, false
	}
	err := s.Members(func(name []byte) error {
		value, err := s.Skip(1)
		if i := slices.Index(names, string(name)); i >= 0 {
			into[i] = value
		} else {
			others = true
		}
		return err
	})
	return others, err == nil && s.End() == nil
}

// named reads the name of the tool; ok is false if it is not a string.
func (c *call) named(raw json.RawMessage) (ok bool) {
	s := jsontext.Scanner{Data: raw}
	if s.Peek() != '"' {
		return false
	}
	text, err := s.Text()
	c.name = string(text)
	return err == nil
}

// era finds out which era of the protocol a call is of; ok is false if headers and message do not agree about it.
func (c *call) era(h http.Header, meta map[string]json.RawMessage) (ok bool) {
	switch version := h.Values("Mcp-Protocol-Version"); {
	case len(version) > 1:
		return false
	case len(version) == 1 && version[0] == newEra:
		c.modern = true
		return modern(h, meta, c.name)
	}
	_, says := meta["io.modelcontextprotocol/protocolVersion"]
	return !says && slices.Contains(oldEras, h.Get("Mcp-Protocol-Version"))
}

// modern reports whether headers and message of the newer era agree.
func modern(h http.Header, meta map[string]json.RawMessage, name string) bool {
	about := meta["io.modelcontextprotocol/clientInfo"]
	return string(meta["io.modelcontextprotocol/protocolVersion"]) == `"`+newEra+`"` &&
		isObject(meta["io.modelcontextprotocol/clientCapabilities"]) && (about == nil || isObject(about)) &&
		slices.Equal(h.Values("Mcp-Method"), []string{methodCall}) && slices.Equal(h.Values("Mcp-Name"), []string{name})
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// isID reports whether a message waits for an answer: text, or a whole number.
func isID(raw json.RawMessage) bool {
	if len(raw) > 0 && raw[0] == '"' {
		return true
	}
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil
}

// call runs a tool.
func (s *server) call(ctx context.Context, c call) (out *result) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("tool panicked", "tool", c.name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			out = &result{failed: true, texts: []string{panicked}}
		}
	}()
	return c.tool(ctx, c.args)
}

// answer writes the result of a tool.
func (s *server) answer(w http.ResponseWriter, c call, r *result, asked http.Header) {
	b := make([]byte, 0, 512+len(s.meta)+3*len(r.structured)) // the text that repeats it is longer by its escapes
	b = append(append(append(b, `{"jsonrpc":"2.0","id":`...), c.id...), `,"result":{`...)
	if c.modern {
		b = append(append(append(b, `"_meta":`...), s.meta...), ',')
	}
	b = append(b, `"content":[`...)
	for i, text := range r.shown(asked) {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = entity.AppendPlain(append(b, `{"type":"text","text":`...), text) // text has no errors
		b = append(b, '}')
	}
	b = append(b, ']')
	if r.structured != nil {
		b = append(append(b, `,"structuredContent":`...), r.structured...)
	}
	if r.failed {
		b = append(b, `,"isError":true`...)
	}
	if c.modern {
		b = append(b, `,"resultType":"complete"`...)
	}
	b = append(b, "}}"...)
	h := w.Header()
	h["Content-Type"], h["Cache-Control"], h["Content-Length"] = jsonType, noTransform, []string{strconv.Itoa(len(b))}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b)
}
