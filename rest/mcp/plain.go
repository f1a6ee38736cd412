package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// notHandled is how the SDK begins the text about a method that it does not know.
const notHandled = "JSON RPC not handled"

// plainErrors makes errors of the protocol of the SDK's errors in plain text, which are about
// messages that it does not take at all.
type plainErrors struct {
	http.ResponseWriter
	body   []byte // the message; nil if it was not read
	modern bool
	text   *bytes.Buffer // of an error
	status int
}

func (p *plainErrors) WriteHeader(status int) {
	plain := strings.HasPrefix(p.Header().Get("Content-Type"), "text/plain")
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError && status != http.StatusMethodNotAllowed && plain {
		p.text, p.status = &bytes.Buffer{}, status
		return
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *plainErrors) Write(b []byte) (int, error) {
	if p.text != nil {
		return p.text.Write(b)
	}
	return p.ResponseWriter.Write(b)
}

func (p *plainErrors) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// end writes the error there was, if any. A caller of the older eras reads it only if the
// exchange itself went well.
func (p *plainErrors) end() {
	if p.text == nil {
		return
	}
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	text := strings.TrimSpace(p.text.String())
	code, status := jsonrpc.CodeInvalidRequest, p.status
	switch err := json.Unmarshal(p.body, &m); {
	case p.body == nil:
	case err != nil && !json.Valid(p.body):
		code = jsonrpc.CodeParseError
	case strings.HasSuffix(text, `"params"`):
		code = jsonrpc.CodeInvalidParams
	case strings.HasPrefix(text, notHandled):
		code, text = jsonrpc.CodeMethodNotFound, "method not found"+strings.TrimPrefix(text, notHandled)
		if !p.modern && len(m.ID) > 0 {
			status = http.StatusOK
		}
	}
	if !isID(m.ID) {
		m.ID = json.RawMessage("null")
	}
	body, err := encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return // there is nothing in it that could not be written
	}
	h := p.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	p.ResponseWriter.WriteHeader(status)
	_, _ = p.ResponseWriter.Write(body)
}
