package rest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"catena/engine"
)

// Media types of answers.
const (
	MIMEJSON = "application/json"
	mimeText = "text/plain; charset=utf-8"
)

// jsonType is a header value used again and again.
var jsonType = []string{MIMEJSON}

// Answer is what a request returns: a body in memory, or files.
type Answer struct {
	Status   int
	Mime     string
	Body     []byte
	Etag     string // with its quotes
	Location string
	File     *File
	files    []*engine.Blob
}

// Write sends an answer. A body is written at once, with its length.
func (x *Request) Write(a *Answer) {
	h := x.Writer.Header()
	if a.Location != "" {
		h.Set("Location", a.Location)
	}
	if a.Status == http.StatusAccepted && h.Get("Location") != "" {
		h.Set("Retry-After", askAgain)
	}
	switch {
	case a.File != nil:
		x.writeFile(a)
		return
	case a.files != nil:
		x.writeFiles(a)
		return
	}
	if _, ok := h["Cache-Control"]; !ok {
		h["Cache-Control"] = NoCache
	}
	if a.Etag != "" {
		h["Etag"] = []string{a.Etag}
		if a.Status == http.StatusOK && x.Reads() && matches(x.HTTP.Header.Values("If-None-Match"), a.Etag) {
			x.Status = http.StatusNotModified
			x.Writer.WriteHeader(x.Status)
			return
		}
	}
	x.Status = a.Status
	if len(a.Body) == 0 {
		if a.Status != http.StatusNoContent {
			h["Content-Length"] = length(0)
		}
		x.Writer.WriteHeader(a.Status)
		return
	}
	if a.Mime == MIMEJSON {
		h["Content-Type"] = jsonType
	} else {
		h["Content-Type"] = []string{a.Mime}
	}
	body := x.compressed(a)
	h["Content-Length"] = length(len(body))
	x.Writer.WriteHeader(a.Status)
	if x.HTTP.Method != http.MethodHead {
		_, _ = x.Writer.Write(body)
	}
}

// compressFrom is the length of an answer from which compressing it is worth the time, in bytes.
const compressFrom = 2 << 10

// compresses reports whether JSON of a size is sent compressed: a large one to a script of our own pages. Programs are
// usually near the server, or behind a proxy that compresses; and to them the length of a compressed answer could tell about
// secrets in it, if another site had a part of it. A script of ours shows the token of its session, which no other site has.
func (x *Request) compresses(size int64) bool {
	h := x.HTTP.Header
	return size >= compressFrom && h.Get(csrfHeader) != "" && x.Writer.Header().Get("Content-Encoding") == "" && Accepts(h.Get("Accept-Encoding"), "gzip")
}

// compressed returns the body of an answer as it is sent.
func (x *Request) compressed(a *Answer) []byte {
	if a.Mime != MIMEJSON || a.Etag != "" || !x.compresses(int64(len(a.Body))) {
		return a.Body
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return a.Body
	}
	if _, err := z.Write(a.Body); err != nil || z.Close() != nil {
		return a.Body
	}
	x.Writer.Header().Set("Content-Encoding", "gzip")
	x.Writer.Header().Add("Vary", "Accept-Encoding")
	return b.Bytes()
}

// Accepts reports whether a client can read bodies in a content coding, by what it says in Accept-Encoding. It has to name it.
func Accepts(accept, coding string) bool {
	for item := range strings.SplitSeq(accept, ",") {
		if name, params, _ := strings.Cut(item, ";"); strings.EqualFold(strings.TrimSpace(name), coding) {
			return !Refused(params)
		}
	}
	return false
}

func length(n int) []string { return []string{strconv.Itoa(n)} }

// Reads reports whether the request only reads.
func (x *Request) Reads() bool {
	return x.HTTP.Method == http.MethodGet || x.HTTP.Method == http.MethodHead
}

// matches reports whether one of the entity tags listed in a conditional header is tag.
func matches(values []string, tag string) bool {
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			item = strings.TrimPrefix(strings.TrimSpace(item), "W/")
			if item == "*" || item == tag {
				return true
			}
		}
	}
	return false
}

// NoContent answers that there is nothing to say.
func (x *Request) NoContent() error {
	x.Write(&Answer{Status: http.StatusNoContent})
	return nil
}

// JSON answers with a value of this package's own making.
func (x *Request) JSON(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.Write(&Answer{Status: status, Mime: MIMEJSON, Body: body})
	return nil
}

// Text answers with plain text.
func (x *Request) Text(status int, s string) error {
	x.Write(&Answer{Status: status, Mime: mimeText, Body: []byte(s)})
	return nil
}

// Described writes documentation, indented if asked.
func (x *Request) Described(v any) error {
	if !x.Flag("pretty") {
		return x.JSON(http.StatusOK, v)
	}
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	x.Write(&Answer{Status: http.StatusOK, Mime: MIMEJSON, Body: body})
	return nil
}

// Refused reports whether the parameters of an item of Accept or Accept-Encoding, which follow its first semicolon,
// give it the weight 0 (RFC 9110, section 12.4.2).
func Refused(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(key), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q <= 0
		}
	}
	return false
}
