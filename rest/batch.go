package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage/fault"
	"catena/storage/lazy"
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

// Batch carries out the requests in the body, in their order and in one transaction, and answers with what each would
// have been answered. Every request is read before any is carried out, unless it refers to an answer. Headers are those
// of the batch.
func Batch(x *Request) error {
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	var asked struct {
		Requests []batched `json:"requests"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return fault.Invalid.Errorf("body: must be an object with requests, each with method, path and body: %v", err)
	}
	switch n := len(asked.Requests); {
	case n == 0:
		return fault.Invalid.Errorf("requests: must not be empty").In("requests")
	case n > x.Server.Limits.Batch:
		return fault.Limit.Errorf("requests: %d, at most %d are allowed", n, x.Server.Limits.Batch).In("requests")
	}
	// All requests are read first: a mistake in the last one is found before the first one has done anything.
	plan := make([]planned, len(asked.Requests))
	effect, ids := engine.Reads, map[string]bool{}
	for i := range asked.Requests {
		var wide engine.Effect
		if plan[i], wide, err = x.plan(asked.Requests[i], ids); err != nil {
			return ofRequest(i, err)
		}
		// The smallest effect is the widest one (Writes < Reads < Pure), and the transaction has to permit
		// it.
		effect = min(effect, wide)
	}
	all := func(c *engine.Ctx) (any, error) { return x.carryAll(c, plan) }
	run := func(call engine.Call) (*engine.Result, error) {
		return x.Engine.RunFunc(x.HTTP.Context(), effect, all, call)
	}
	return x.Run(engine.Call{Op: "batch"}, Reply{Status: http.StatusOK, Body: body, Bare: true, run: run})
}

// plan reads a request as far as it can be before others are carried out, and says what it may do to the store. The
// ids are those of the requests before it.
func (x *Request) plan(b batched, ids map[string]bool) (planned, engine.Effect, error) {
	refers := b.refers()
	for id, whole := range refers {
		if !ids[id] {
			return planned{}, 0, unresolved(whole, "no earlier request has this id")
		}
	}
	switch {
	case b.ID != "" && !requestID().MatchString(b.ID):
		return planned{}, 0, fault.Invalid.Errorf("id %.100q: must have up to 64 letters, digits and . _ -", b.ID).In("id")
	case ids[b.ID]:
		return planned{}, 0, fault.Invalid.Errorf("id %q: is already used by an earlier request", b.ID).In("id")
	case b.ID != "":
		ids[b.ID] = true
	}
	if len(refers) > 0 {
		// What it will run is known only when the values are there, so the method decides what the
		// transaction must permit.
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
	op, ok := x.Engine.Set().Op(h.call.Op)
	if !ok {
		return planned{b, &h}, engine.Reads, nil
	}
	return planned{b, &h}, op.Effect, nil
}

// carryAll carries out the requests of a batch and returns their answers.
func (x *Request) carryAll(c *engine.Ctx, plan []planned) (any, error) {
	answers, f := make([]any, len(plan)), newFiller(x.Server.Limits.JSON)
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
func (x *Request) carryOne(c *engine.Ctx, p *planned, f *filler) (map[string]any, error) {
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
	// The content of a file cannot be a member of a JSON document, and would have to be in memory.
	case a.File != nil || a.files != nil:
		return nil, fault.Invalid.Errorf("its response is a file, which a batch cannot contain")
	}
	one := map[string]any{"status": a.Status}
	if len(a.Body) > 0 {
		// The buffer of the encoder is used for the next request of the batch.
		one["body"] = json.RawMessage(slices.Clone(a.Body))
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

// ownHeaders are headers that are a batch's and not its requests'. An If-Match of the batch, for example,
// names no document of theirs, and one idempotency key covers all.
var ownHeaders = []string{"Content-Length", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer"}

// hold reads a request of a batch up to the call it makes.
func (x *Request) hold(b *batched) (held, error) {
	u, err := url.Parse(b.Path)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, "/") {
		return held{}, fault.Invalid.Errorf("path %.100q: must be an address of this server without its host name", b.Path).In("path")
	}
	var calls []held
	one := &Request{Server: x.Server, Writer: silent{http.Header{}}, HTTP: x.part(b, u), ID: x.ID, As: x.As, Session: x.Session, held: &calls}
	at := Locate(x.Server.ContextPath, u.EscapedPath())
	if at.API {
		one.Route = x.Server.api.find(b.Method, at.Path, &one.Segments)
	}
	switch {
	case at.API && one.Route == nil:
		return held{}, one.unrouted(x.Server.api, at)
	case !at.API || one.Route.Handle != nil && !one.Route.Batch:
		return held{}, fault.Invalid.Errorf("%s %.100s: not supported in a batch", b.Method, b.Path).In("path")
	}
	one.Body = one.Route.Body
	if err := one.setRepository(at.Repo); err != nil {
		return held{}, err
	}
	// A transaction belongs to one repository.
	if one.Repo != x.Repo {
		return held{}, fault.Invalid.Errorf("path %.100s: names repository %s, but this batch uses %s", b.Path, one.Repo, x.Repo).In("path")
	}
	if err := one.serveRoute(); err != nil {
		return held{}, err
	}
	// A handler that makes no call, or several, does something that cannot be postponed.
	if len(calls) != 1 {
		return held{}, fault.Invalid.Errorf("%s %.100s: not supported in a batch", b.Method, b.Path).In("path")
	}
	return calls[0], nil
}

// part is the request that one of a batch stands for.
func (x *Request) part(b *batched, u *url.URL) *http.Request {
	r := x.HTTP.WithContext(x.HTTP.Context())
	r.Method, r.URL, r.RequestURI, r.Header = b.Method, u, b.Path, x.HTTP.Header.Clone()
	for _, name := range ownHeaders {
		r.Header.Del(name)
	}
	r.Body, r.ContentLength = http.NoBody, 0
	if len(b.Body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b.Body)), int64(len(b.Body))
		r.Header.Set("Content-Type", MIMEJSON)
	}
	return r
}

// silent is where a request in a batch would answer.
type silent struct{ h http.Header }

// Header returns headers that nobody reads.
func (s silent) Header() http.Header { return s.h }

// Write drops what is written.
func (silent) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader does nothing.
func (silent) WriteHeader(int) {}

// referring is what stands in a request of a batch for a value of an earlier answer: {$ID#POINTER}, with the
// id of the request and a JSON Pointer (RFC 6901) into the body it was answered with.
var referring = lazy.Regexp(`\{\$([A-Za-z0-9_.-]{1,64})#([^{}]*)\}`)

var requestID = lazy.Regexp(`^[A-Za-z0-9_.-]{1,64}$`)

// filler puts the values of earlier answers in place of references to them. Nothing is evaluated: a value is looked
// up where the pointer points, and what it holds is not read again.
type filler struct {
	bodies map[string][]byte // of answers, by the ids of requests
	values map[string]any    // those that were read
	room   int64             // bytes that the requests of the batch may still grow by
}

func newFiller(room int64) *filler {
	return &filler{bodies: map[string][]byte{}, values: map[string]any{}, room: room}
}

// refers returns the ids that a request refers to, each with the reference.
func (b *batched) refers() map[string]string {
	out := map[string]string{}
	note := func(text string) {
		for _, m := range referring().FindAllStringSubmatch(text, -1) {
			out[m[1]] = m[0]
		}
	}
	note(b.Path)
	if bytes.Contains(b.Body, []byte("{$")) {
		v, _ := parsed(b.Body)
		_, _ = walkTexts(v, func(text string) (any, error) {
			note(text)
			return text, nil
		})
	}
	return out
}

// fill returns a request with values in place of its references. In a path a value is one segment, or one value of
// a query; in the body, a text that is nothing else becomes the value, and in others it is written as text.
func (f *filler) fill(b batched) (batched, error) {
	plain := referring().ReplaceAllStringFunc(b.Path, func(m string) string { return strings.Repeat("-", len(m)) })
	before, _, _ := strings.Cut(plain, "?") // pointers may hold a question mark, too
	path, err := f.inText(b.Path[:len(before)], url.PathEscape)
	if err != nil {
		return b, err
	}
	query, err := f.inText(b.Path[len(before):], url.QueryEscape)
	if err != nil {
		return b, err
	}
	b.Path = path + query
	if !bytes.Contains(b.Body, []byte("{$")) {
		return b, nil
	}
	v, err := parsed(b.Body)
	if err != nil {
		return b, err
	}
	if v, err = walkTexts(v, f.inValue); err != nil {
		return b, err
	}
	b.Body, err = json.Marshal(v)
	return b, err
}

// inValue is what a text of a body becomes.
func (f *filler) inValue(text string) (any, error) {
	if m := referring().FindStringSubmatch(text); m != nil && m[0] == text {
		v, err := f.value(m)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(raw), f.grow(len(raw))
	}
	return f.inText(text, func(s string) string { return s })
}

// inText writes values into a text.
func (f *filler) inText(text string, escape func(string) string) (string, error) {
	var err error
	out := referring().ReplaceAllStringFunc(text, func(whole string) string {
		if err != nil {
			return ""
		}
		var v any
		if v, err = f.value(referring().FindStringSubmatch(whole)); err != nil {
			return ""
		}
		var s string
		switch v := v.(type) {
		case string:
			s = v
		case json.Number:
			s = v.String()
		case bool:
			s = strconv.FormatBool(v)
		default:
			err = unresolved(whole, "the value is not a string, a number, true or false")
		}
		s = escape(s)
		if err == nil {
			err = f.grow(len(s))
		}
		return s
	})
	return out, err
}

// grow counts what values make requests longer by.
func (f *filler) grow(n int) error {
	if f.room -= int64(n); f.room < 0 {
		return fault.Limit.Errorf("values of earlier responses: larger than a body may be").WithCode(fault.CodeBodyTooLarge)
	}
	return nil
}

// value looks up what a reference stands for.
func (f *filler) value(m []string) (any, error) {
	whole, id, pointer := m[0], m[1], m[2]
	v, read := f.values[id]
	if !read {
		var err error
		if v, err = parsed(f.bodies[id]); err != nil {
			return nil, unresolved(whole, "the response has no body")
		}
		f.values[id] = v
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil, unresolved(whole, "a JSON Pointer is missing after the #")
	}
	if pointer == "" {
		return v, nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		found := false
		switch in := v.(type) {
		case map[string]any:
			v, found = in[token]
		case []any:
			i, err := strconv.ParseUint(token, 10, 31)
			if found = err == nil && int(i) < len(in) && strconv.FormatUint(i, 10) == token; found {
				v = in[i]
			}
		}
		if !found {
			return nil, unresolved(whole, "the response has no such value")
		}
	}
	return v, nil
}

// unresolved is the error of a reference to nothing.
func unresolved(reference, why string) error {
	return fault.Invalid.Errorf("reference %.200s: %s", reference, why).WithCode(fault.CodeUnresolvedReference)
}

// parsed reads JSON with its numbers as they are written.
func parsed(raw []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// walkTexts replaces every text in a value of JSON, in place; names of members are none.
func walkTexts(v any, each func(text string) (any, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return each(v)
	case []any:
		for i := range v {
			if v[i], err = walkTexts(v[i], each); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name, item := range v {
			if v[name], err = walkTexts(item, each); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
