package rest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"catena/engine"
)

const (
	mimeJSON = "application/json"
	mimeText = "text/plain; charset=utf-8"
)

// Header values used again and again, so that they cost nothing.
var (
	jsonType = []string{mimeJSON}
	lengths  [4096][]string
)

func init() {
	for i := range lengths {
		lengths[i] = []string{strconv.Itoa(i)}
	}
}

// answer is what a request returns: a body in memory, or files.
type answer struct {
	status   int
	mime     string
	body     []byte
	etag     string // with its quotes
	location string
	file     *file
	files    []*engine.Blob
}

// write sends an answer. A body is written at once, with its length.
func (x *exchange) write(a *answer) {
	h := x.w.Header()
	if a.location != "" {
		h.Set("Location", a.location)
	}
	if a.status == http.StatusAccepted && h.Get("Location") != "" {
		h.Set("Retry-After", askAgain)
	}
	switch {
	case a.file != nil:
		x.writeFile(a)
		return
	case a.files != nil:
		x.writeFiles(a)
		return
	}
	if _, ok := h["Cache-Control"]; !ok {
		h["Cache-Control"] = noCache
	}
	if a.etag != "" {
		h["Etag"] = []string{a.etag}
		if a.status == http.StatusOK && x.reads() && matches(x.r.Header.Values("If-None-Match"), a.etag) {
			x.status = http.StatusNotModified
			x.w.WriteHeader(x.status)
			return
		}
	}
	x.status = a.status
	if len(a.body) == 0 {
		if a.status != http.StatusNoContent {
			h["Content-Length"] = lengths[0]
		}
		x.w.WriteHeader(a.status)
		return
	}
	if a.mime == mimeJSON {
		h["Content-Type"] = jsonType
	} else {
		h["Content-Type"] = []string{a.mime}
	}
	h["Content-Length"] = length(len(a.body))
	x.w.WriteHeader(a.status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(a.body)
	}
}

func length(n int) []string {
	if n < len(lengths) {
		return lengths[n]
	}
	return []string{strconv.Itoa(n)}
}

// reads reports whether the request only reads.
func (x *exchange) reads() bool {
	return x.r.Method == http.MethodGet || x.r.Method == http.MethodHead
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

// noContent answers that there is nothing to say.
func (x *exchange) noContent() error {
	x.write(&answer{status: http.StatusNoContent})
	return nil
}

// json answers with a value of this package's own making.
func (x *exchange) json(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.write(&answer{status: status, mime: mimeJSON, body: body})
	return nil
}

// text answers with plain text.
func (x *exchange) text(status int, s string) error {
	x.write(&answer{status: status, mime: mimeText, body: []byte(s)})
	return nil
}
