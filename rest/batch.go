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
	ID     string          `json:"id"` // by which later requests refer to its answer; "" if none does
	Method string          `json:"method"`
	Path   string          `json:"path"` // with its query
	Body   json.RawMessage `json:"body"`
}

// planned is a request of a batch on its way.
type planned struct {
	batched
	held *held // nil: it refers to earlier answers, and is read once they are there
}

// batch carries out the requests in the body, in their order and in one transaction, and answers with what each would
// have been answered. Every request is read before any is carried out, unless it refers to an answer. Headers are those
// of the batch.
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
	plan := make([]planned, len(asked.Requests))
	effect, ids := engine.Reads, map[string]bool{}
	for i := range asked.Requests {
		var wide engine.Effect
		if plan[i], wide, err = x.plan(asked.Requests[i], ids); err != nil {
			return ofRequest(i, err)
		}
		effect = min(effect, wide)
	}
	all := func(c *engine.Ctx) (any, error) { return x.carryAll(c, plan) }
	run := func(call engine.Call) (*engine.Result, error) {
		return x.engine.RunFunc(x.r.Context(), effect, all, call)
	}
	return x.run(engine.Call{Op: "batch"}, reply{status: http.StatusOK, body: body, bare: true, run: run})
}

// plan reads a request as far as it can be before others are carried out, and says what it may do to the store. The
// ids are those of the requests before it.
func (x *exchange) plan(b batched, ids map[string]bool) (planned, engine.Effect, error) {
	refers := b.refers()
	for id, whole := range refers {
		if !ids[id] {
			return planned{}, 0, unresolved(whole, "no request before has this id")
		}
	}
	switch {
	case b.ID != "" && !requestID.MatchString(b.ID):
		return planned{}, 0, fault.Invalid.Errorf("id %.100q: up to 64 letters, digits and . _ - expected", b.ID).In("id")
	case ids[b.ID]:
		return planned{}, 0, fault.Invalid.Errorf("id %q: is that of an earlier request", b.ID).In("id")
	case b.ID != "":
		ids[b.ID] = true
	}
	if len(refers) > 0 {
		effect := engine.Writes
		if b.Method == http.MethodGet {
			effect = engine.Reads
		}
		return planned{batched: b}, effect, nil
	}
	h, err := x.hold(&b)
	if err != nil {
		return planned{}, 0, err
	}
	op, ok := x.engine.Set().Op(h.call.Op)
	if !ok {
		return planned{b, &h}, engine.Reads, nil
	}
	return planned{b, &h}, op.Effect, nil
}

// carryAll carries out the requests of a batch and returns their answers.
func (x *exchange) carryAll(c *engine.Ctx, plan []planned) (any, error) {
	answers, f := make([]any, len(plan)), newFiller(x.s.Limits.JSON)
	for i := range plan {
		one, err := x.carryOne(c, &plan[i], f)
		if err != nil {
			return nil, ofRequest(i, err)
		}
		answers[i] = one
	}
	return map[string]any{"entity-type": "batch", "entries": answers}, nil
}

// carryOne carries out a request and returns its answer, which later ones may refer to.
func (x *exchange) carryOne(c *engine.Ctx, p *planned, f *filler) (map[string]any, error) {
	h := p.held
	if h == nil {
		b, err := f.fill(p.batched)
		if err != nil {
			return nil, err
		}
		now, err := x.hold(&b)
		if err != nil {
			return nil, err
		}
		h = &now
	}
	res, err := c.Carry(&h.call)
	if err != nil {
		return nil, err
	}
	a, err := h.encoder.answer(res)
	switch {
	case err != nil:
		return nil, err
	case a.file != nil || a.files != nil:
		return nil, fault.Invalid.Errorf("its answer is a file, which a batch cannot hold")
	}
	one := map[string]any{"status": a.status}
	if len(a.body) > 0 {
		one["body"] = json.RawMessage(slices.Clone(a.body))
	}
	if p.ID != "" {
		one["id"] = p.ID
		f.bodies[p.ID], _ = one["body"].(json.RawMessage)
	}
	return one, nil
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
