package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// held is a call that a request in a batch makes, and what will encode its result.
type held struct {
	call    engine.Call
	encoder *encoder
}

// batched is one request of a batch.
type batched struct {
	Method string          `json:"method"`
	Path   string          `json:"path"` // with its query
	Body   json.RawMessage `json:"body"`
}

// batch carries out the requests in the body, in their order and in one transaction, and answers with what each would
// have been answered. Every request is read before any is carried out. Headers are those of the batch.
func batch(x *exchange) error {
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	var asked struct {
		Requests []batched `json:"requests"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return fault.Invalid.Errorf("body: an object with requests expected, each with method, path and body: %v", err)
	}
	switch n := len(asked.Requests); {
	case n == 0:
		return fault.Invalid.Errorf("requests: none given").In("requests")
	case n > x.s.Limits.Batch:
		return fault.Limit.Errorf("requests: %d, at most %d allowed", n, x.s.Limits.Batch).In("requests")
	}
	calls := make([]held, 0, len(asked.Requests))
	effect := engine.Reads
	for i := range asked.Requests {
		h, err := x.hold(&asked.Requests[i])
		if err != nil {
			return ofRequest(i, err)
		}
		if op, ok := x.engine.Set().Op(h.call.Op); ok && op.Effect == engine.Writes {
			effect = engine.Writes
		}
		calls = append(calls, h)
	}
	all := func(c *engine.Ctx) (any, error) { return carryAll(c, calls) }
	run := func(call engine.Call) (*engine.Result, error) {
		return x.engine.RunFunc(x.r.Context(), effect, all, call)
	}
	return x.run(engine.Call{Op: "batch"}, reply{status: http.StatusOK, body: body, bare: true, run: run})
}

// carryAll carries out the calls of a batch and returns their answers.
func carryAll(c *engine.Ctx, calls []held) (any, error) {
	answers := make([]any, len(calls))
	for i, h := range calls {
		res, err := c.Carry(h.call)
		if err != nil {
			return nil, ofRequest(i, err)
		}
		a, err := h.encoder.answer(res)
		if err != nil {
			return nil, ofRequest(i, err)
		}
		if a.file != nil || a.files != nil {
			return nil, ofRequest(i, fault.Invalid.Errorf("its answer is a file, which a batch cannot hold"))
		}
		one := map[string]any{"status": a.status}
		if len(a.body) > 0 {
			one["body"] = json.RawMessage(slices.Clone(a.body))
		}
		answers[i] = one
	}
	return map[string]any{"entity-type": "batch", "entries": answers}, nil
}

// ofRequest says which request of a batch an error is of, the first being 0.
func ofRequest(i int, err error) error {
	return fault.Wrap(err, "request %d", i).In("requests")
}

// ownHeaders are headers that are a batch's and not its requests'.
var ownHeaders = []string{"Content-Length", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer"}

// hold reads a request of a batch up to the call it makes.
func (x *exchange) hold(b *batched) (held, error) {
	u, err := url.Parse(b.Path)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, "/") {
		return held{}, fault.Invalid.Errorf("path %.100q: an address of this server without its name expected", b.Path).In("path")
	}
	r := x.r.WithContext(x.r.Context())
	r.Method, r.URL, r.RequestURI, r.Header = b.Method, u, b.Path, x.r.Header.Clone()
	for _, name := range ownHeaders {
		r.Header.Del(name)
	}
	r.Body, r.ContentLength = http.NoBody, 0
	if len(b.Body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b.Body)), int64(len(b.Body))
		r.Header.Set("Content-Type", mimeJSON)
	}
	var calls []held
	one := &exchange{s: x.s, w: silent{http.Header{}}, r: r, id: x.id, as: x.as, session: x.session, held: &calls}
	at := locate(x.s.ContextPath, u.EscapedPath())
	if at.api {
		one.route = x.s.api.find(b.Method, at.path, &one.ps)
	}
	switch {
	case at.api && one.route == nil:
		return held{}, one.unrouted(x.s.api, at)
	case !at.api || one.route.handle != nil && !one.route.batch:
		return held{}, fault.Invalid.Errorf("%s %.100s: not in a batch", b.Method, b.Path).In("path")
	}
	one.body = one.route.body
	if err := one.setRepository(at.repo); err != nil {
		return held{}, err
	}
	if one.repo != x.repo {
		return held{}, fault.Invalid.Errorf("path %.100s: of repository %s, a batch is of one, here %s", b.Path, one.repo, x.repo).In("path")
	}
	if err := one.serveRoute(); err != nil {
		return held{}, err
	}
	if len(calls) != 1 {
		return held{}, fault.Invalid.Errorf("%s %.100s: not in a batch", b.Method, b.Path).In("path")
	}
	return calls[0], nil
}

// silent is where a request in a batch would answer.
type silent struct{ h http.Header }

// Header returns headers that nobody reads.
func (s silent) Header() http.Header { return s.h }

// Write drops what is written.
func (silent) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader does nothing.
func (silent) WriteHeader(int) {}
