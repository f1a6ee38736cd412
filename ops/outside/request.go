package outside

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/egress"
	"catena/engine/expr"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/vault"
	"catena/storage/work"
)

const (
	maxBody    = 10 << 20 // bytes of an answer that is read as JSON or text
	maxTimeout = 300      // seconds
	maxNames   = 1000     // in a query, and of headers
	firstPause = 500 * time.Millisecond
)

// answerVariable is the variable that describes the last answer what its body does not say.
const answerVariable = "Http"

func (k *caller) requestOp() engine.Op {
	return engine.Op{
		Name: "Http.Request", Label: "Call another service", Category: "Services", Callers: engine.Admins.OrStored(), Effect: engine.Reads,
		Doc: "Sends an HTTP request and returns the body of the answer: JSON as a value, text, or a file. The variable Http holds its " +
			"status, its headers and its address. An answer of status 400 and above is an error unless anyStatus says otherwise. " +
			"In a dry run only GET and HEAD are sent. Only public https addresses are reached unless the server is configured otherwise.",
		Sets:   []string{answerVariable},
		Result: openapi.Ref("Value"),
		Run: engine.Overload(
			engine.On(func(p requestParams, c *engine.Ctx, _ engine.Void) (any, error) { return k.request(c, &p, nil) }),
			engine.On(func(p requestParams, c *engine.Ctx, b *storage.Blob) (any, error) { return k.request(c, &p, b) }),
			engine.On(func(p requestParams, c *engine.Ctx, _ any) (any, error) { return k.request(c, &p, nil) }),
		),
	}
}

// message is what a request and a job that sends one have in common.
type message struct {
	URL        string         `json:"url" doc:"The address."`
	Method     string         `json:"method" default:"GET" enum:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS" doc:"The method."`
	Query      map[string]any `json:"query,omitzero" doc:"What is appended to the address as its query; a list repeats the name."`
	Headers    map[string]any `json:"headers,omitzero" secret:"true" doc:"Headers of the request."`
	JSON       any            `json:"json,omitzero" doc:"The body, as JSON."`
	Form       map[string]any `json:"form,omitzero" doc:"The body, as an HTML form."`
	Text       string         `json:"text,omitzero" doc:"The body, as text. Without json, form and text, a file in the input is the body."`
	Credential string         `json:"credential,omitzero" doc:"Name of a credential that is granted to the chain or to the user."`
}

type requestParams struct {
	message
	Answer    string `json:"answer" default:"auto" enum:"auto,json,text,blob,none" doc:"What the body of the answer becomes; auto goes by its type."`
	Timeout   int    `json:"timeout" default:"30" min:"1" max:"300" doc:"Seconds that one try takes at most."`
	Retries   int    `json:"retries" default:"0" min:"0" max:"5" doc:"How often a request is sent again that got no answer, or one of status 429, 502, 503 or 504. Other methods than GET, HEAD, PUT, DELETE and OPTIONS are only repeated after such a status."`
	AnyStatus bool   `json:"anyStatus" default:"false" doc:"Whether answers of status 400 and above are returned like others."`
}

// request sends a request and returns the answer.
func (k *caller) request(c *engine.Ctx, p *requestParams, b *storage.Blob) (any, error) {
	if p.Timeout < 1 || p.Timeout > maxTimeout || p.Retries < 0 || p.Retries > 5 {
		return nil, fault.Invalid.Errorf("timeout, retries: out of bounds")
	}
	// A dry run must have no effect, and only these two methods promise to have none.
	if c.DryRun() && p.Method != http.MethodGet && p.Method != http.MethodHead {
		c.SetVar(answerVariable, map[string]any{"status": int64(0), "dryRun": true})
		return nil, nil
	}
	q, err := p.prepare(b)
	if err != nil {
		return nil, err
	}
	if q.used, err = use(c.Tx, p.Credential, c.ChainName(), q.url); err != nil {
		return nil, err
	}
	a, err := k.answer(c, q, p)
	if err != nil {
		return nil, err
	}
	// Set before the status is judged, so that a chain that handles the error can look at it.
	c.SetVar(answerVariable, map[string]any{"status": int64(a.status), "headers": headers(a.header), "url": a.url})
	if a.status >= http.StatusBadRequest && !p.AnyStatus {
		return nil, a.refused()
	}
	return a.result()
}

// answer is what a service said, read to its end. It no longer changes: a transaction that begins again gets it
// once more.
type answer struct {
	status int
	header http.Header
	url    string // without a password
	host   string // with the scheme
	how    string // what the body becomes
	body   []byte
	file   *storage.Blob
}

// harmless are the methods that promise to have no effect. What they return may have changed for the next attempt.
var harmless = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

// answer has a request sent, once in all attempts of the transaction if it may have an effect.
func (k *caller) answer(c *engine.Ctx, q *query, p *requestParams) (*answer, error) {
	if slices.Contains(harmless, q.method) {
		return k.exchange(c, q, p)
	}
	what := []any{"Http.Request", q.method, q.url.String(), q.header, q.body, p.Credential, p.Answer, p.AnyStatus}
	if q.file != nil {
		what = append(what, q.file.Digest)
	}
	out, err := c.Once(what, func() (any, int, error) {
		a, err := k.exchange(c, q, p)
		if err != nil {
			return nil, 0, err
		}
		return a, len(a.body), nil
	})
	if err != nil {
		return nil, err
	}
	return out.(*answer), nil
}

// exchange sends a request and reads the answer.
func (k *caller) exchange(c *engine.Ctx, q *query, p *requestParams) (*answer, error) {
	var a *egress.Answer
	out := new(answer)
	// Only text, JSON and refusals are read here, since they are bounded. A body that becomes a
	// file is streamed into the store afterwards, which uses the transaction and so must not happen
	// in Outside.
	err := c.Outside(func() (err error) {
		if a, err = k.try(c, q, p); err != nil {
			return err
		}
		*out = answer{
			status: a.Status, header: a.Header, url: a.URL.Redacted(), host: a.URL.Scheme + "://" + a.URL.Host, how: p.how(a),
		}
		if out.how == "json" || out.how == "text" || a.Status >= http.StatusBadRequest && !p.AnyStatus {
			out.body, err = io.ReadAll(io.LimitReader(a.Body, maxBody+1))
		}
		return err
	})
	// Closing the body also ends the time of the request, so it happens after everything has been
	// read.
	if a != nil {
		defer func() { _ = a.Body.Close() }()
	}
	if err == nil && out.how == "blob" && (a.Status < http.StatusBadRequest || p.AnyStatus) {
		out.file, err = c.Tx.NewBlob(nameOf(a), a.Header.Get("Content-Type"), a.Body)
	}
	return out, err
}

// how says what the body of an answer becomes.
func (p *requestParams) how(a *egress.Answer) string {
	if p.Answer != "auto" {
		return p.Answer
	}
	typ, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	switch {
	case p.Method == http.MethodHead || a.Status == http.StatusNoContent || a.Size == 0:
		return "none"
	case typ == "application/json" || strings.HasSuffix(typ, "+json"):
		return "json"
	case strings.HasPrefix(typ, "text/") || typ == "application/xml" || strings.HasSuffix(typ, "+xml"):
		return "text"
	}
	return "blob"
}

// result is what the operation returns for an answer.
func (a *answer) result() (any, error) {
	if len(a.body) > maxBody {
		return nil, fault.Limit.Errorf("answer: more than %d bytes; answer: blob has no such limit", maxBody)
	}
	switch a.how {
	case "json":
		if len(bytes.TrimSpace(a.body)) == 0 {
			return nil, nil
		}
		var v any
		if err := json.Unmarshal(a.body, &v); err != nil {
			return nil, fault.Invalid.Errorf("answer: is not JSON: %w", err)
		}
		return v, nil
	case "text":
		return string(a.body), nil
	case "blob":
		return a.file, nil
	}
	return nil, nil
}

// nameOf is the name of the file that an answer is. Folders are cut off, since the other service chooses
// the name.
func nameOf(a *egress.Answer) string {
	if _, params, err := mime.ParseMediaType(a.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return params["filename"][strings.LastIndexAny(params["filename"], `/\`)+1:]
	}
	if name := a.URL.Path[strings.LastIndexByte(a.URL.Path, '/')+1:]; name != "" {
		return name
	}
	return "answer"
}

// headers are those of an answer by their names in lower case.
func headers(h http.Header) map[string]any {
	m := make(map[string]any, len(h))
	for name := range h {
		// Cookies are secrets of a session with the other service; variables are shown in traces.
		if name != "Set-Cookie" {
			m[strings.ToLower(name)] = strings.Join(h[name], ", ")
		}
	}
	return m
}

// refused is the error for an answer that is none of success. Of the address, only the host is named:
// paths and queries may hold secrets. Of the body, 500 bytes at most.
func (a *answer) refused() error {
	kind := fault.Invalid
	if a.status >= http.StatusInternalServerError || a.status == http.StatusTooManyRequests {
		kind = fault.Unavailable
	}
	text := strings.ToValidUTF8(string(a.body[:min(len(a.body), 500)]), "")
	return kind.Errorf("url %s: responded with status %d: %s", a.host, a.status, text)
}

// query is a request that is ready to be sent as often as need be.
type query struct {
	url    *url.URL
	method string
	header http.Header
	body   []byte
	file   *storage.Blob
	used   *used // credential; nil: none
}

// own are headers that the connection, or a parameter, is responsible for. Setting them could have the
// other service see another request than the one that egress has checked, or smuggle a second one behind
// it.
var own = []string{"Connection", "Content-Length", "Host", "Keep-Alive", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// prepare makes the request.
func (m *message) prepare(b *storage.Blob) (*query, error) {
	u, err := url.Parse(m.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fault.Invalid.Errorf("url: must be an http or https address").In("url")
	}
	if n := len(m.Query); n > maxNames {
		return nil, fault.Limit.Errorf("query: %d names, limit %d", n, maxNames).In("query")
	}
	if n := len(m.Headers); n > maxNames {
		return nil, fault.Limit.Errorf("headers: %d names, limit %d", n, maxNames).In("headers")
	}
	if len(m.Query) > 0 {
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+values(m.Query).Encode(), "&")
	}
	q := &query{url: u, method: m.Method, header: http.Header{}}
	for _, given := range slices.Sorted(maps.Keys(m.Headers)) {
		name := textproto.CanonicalMIMEHeaderKey(given)
		if slices.Contains(own, name) {
			return nil, fault.Invalid.Errorf("headers: %s must not be set", name).In("headers")
		}
		if q.header[name] != nil {
			return nil, fault.Invalid.Errorf("headers: %s is given twice", name).In("headers")
		}
		q.header.Set(name, expr.Text(m.Headers[given]))
	}
	return q, m.fill(q, b)
}

// fill sets the body.
func (m *message) fill(q *query, b *storage.Blob) error {
	typ, given := "", 0
	if m.JSON != nil {
		var err error
		if q.body, err = json.Marshal(m.JSON); err != nil {
			return fault.Invalid.Errorf("json: %w", err).In("json")
		}
		typ, given = "application/json", given+1
	}
	if m.Form != nil {
		q.body, typ, given = []byte(values(m.Form).Encode()), "application/x-www-form-urlencoded", given+1
	}
	if m.Text != "" {
		q.body, typ, given = []byte(m.Text), "text/plain; charset=utf-8", given+1
	}
	if given > 1 {
		return fault.Invalid.Errorf("json, form, text: at most one of them").In("json")
	}
	if given == 0 && b != nil && m.Method != http.MethodGet && m.Method != http.MethodHead {
		q.file, typ = b, b.Type
	}
	if typ != "" && q.header.Get("Content-Type") == "" {
		q.header.Set("Content-Type", typ)
	}
	return nil
}

func values(m map[string]any) url.Values {
	out := url.Values{}
	for name, v := range m {
		if list, ok := v.([]any); ok {
			for _, item := range list {
				out.Add(name, expr.Text(item))
			}
			continue
		}
		out.Add(name, expr.Text(v))
	}
	return out
}

// repeatable are the methods that have the same effect once and twice.
var repeatable = []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions}

// try sends a request until there is an answer that counts. Retries are bounded by the parameter and by
// the time of the call, whichever ends first. Pauses double from half a second.
func (k *caller) try(ctx context.Context, q *query, p *requestParams) (*egress.Answer, error) {
	pause, renewed := firstPause, false
	for n := 0; ; n++ {
		a, err := k.send(ctx, q, time.Duration(p.Timeout)*time.Second)
		again := n < p.Retries && ctx.Err() == nil
		switch {
		case err != nil:
			// Without an answer nobody knows whether the request had its effect, so only methods
			// that may be repeated are.
			if again = again && fault.Is(err, fault.Unavailable) && slices.Contains(repeatable, q.method); !again {
				return nil, err
			}
		case a.Status == http.StatusUnauthorized && q.used != nil && q.used.Kind == vault.OAuth2 && !renewed:
			renewed = true // the token was taken back before its time
			k.forget(q.used)
			_ = a.Body.Close()
			// This attempt does not count as one of the retries, and happens once at most.
			n--
			continue
		case again && passes(a.Status):
			_ = a.Body.Close()
		default:
			return a, nil
		}
		if err := work.Pause(ctx, pause); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// passes reports whether an answer may be another one soon.
func passes(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// send sends a request once. The time is that until the whole answer was read. It signs in each time, as
// a token may have expired between two attempts.
func (k *caller) send(ctx context.Context, q *query, limit time.Duration) (*egress.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	// With a credential, redirections are not followed: they could lead to a host that the
	// credential is not for.
	r := egress.Request{Method: q.method, URL: q.url.String(), Header: q.header.Clone(), Stay: q.used != nil}
	if err := k.signIn(ctx, q.used, r.Header); err != nil {
		cancel()
		return nil, err
	}
	if q.file != nil {
		content, err := q.file.Open()
		if err != nil {
			cancel()
			return nil, err
		}
		defer func() { _ = content.Close() }()
		r.Body, r.Size = content, q.file.Size
	} else if q.body != nil {
		r.Body, r.Size = bytes.NewReader(q.body), int64(len(q.body))
	}
	a, err := k.Client.Do(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	a.Body = &ending{a.Body, cancel}
	return a, nil
}

// ending ends what an answer took when its body is closed.
type ending struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (e *ending) Close() error {
	e.cancel()
	return e.ReadCloser.Close()
}
