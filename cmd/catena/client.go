package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"catena/storage/fault"
	"catena/storage/trace"
)

// client speaks the REST interface, to a running server or to a handler in this process that has the data
// directory open. Commands need not know which, and both ways have the same checks and the same output.
type client struct {
	trace  trace.Trace // that the calls belong to; zero: each has its own
	base   string
	http   *http.Client
	sign   func(*http.Request)
	remote bool // a running server; otherwise a handler in this process
}

// connect returns a client and what to call when done.
func (g *global) connect(ctx context.Context) (*client, func(), error) {
	if g.server == "" {
		return g.local(ctx)
	}
	u, err := url.Parse(g.server)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, nil, usage{fmt.Errorf("server: %q is not an address such as http://127.0.0.1:8080", g.server)}
	}
	sign, err := signer()
	if err != nil {
		return nil, nil, usage{err}
	}
	return &client{base: strings.TrimRight(g.server, "/"), http: http.DefaultClient, sign: sign, remote: true}, func() {}, nil
}

// signer signs requests by CATENA_KEY, or by CATENA_USER and CATENA_PASSWORD.
func signer() (func(*http.Request), error) {
	key, ok, err := fromEnv("key")
	if err != nil {
		return nil, err
	}
	if ok {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }, nil
	}
	user, ok, err := fromEnv("user")
	if err != nil {
		return nil, err
	}
	if !ok {
		user = "Administrator"
	}
	password, _, err := fromEnv("password")
	return func(r *http.Request) { r.SetBasicAuth(user, password) }, err
}

// call is one operation to run.
type call struct {
	op     string
	input  any
	params map[string]any
	vars   map[string]any
	query  url.Values // dryRun, trace
}

// body is what the automation endpoint reads.
func (c call) body() ([]byte, error) {
	m := map[string]any{"params": c.params}
	// A missing member means no input; null would be an input.
	if c.input != nil {
		m["input"] = c.input
	}
	if len(c.vars) > 0 {
		m["context"] = c.vars
	}
	return json.Marshal(m)
}

// address of the operation.
func (c call) address() string {
	a := "/api/v1/automation/" + url.PathEscape(c.op)
	if len(c.query) > 0 {
		a += "?" + c.query.Encode()
	}
	return a
}

// run carries out an operation and returns its answer, whose body the caller closes.
func (c *client) run(ctx context.Context, op call) (*http.Response, error) {
	b, err := op.body()
	if err != nil {
		return nil, err
	}
	return c.send(ctx, http.MethodPost, op.address(), "application/json", bytes.NewReader(b))
}

// object carries out an operation and decodes its answer.
func (c *client) object(ctx context.Context, op call, into any) error {
	resp, err := c.run(ctx, op)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent || into == nil {
		_, err := io.Copy(io.Discard, resp.Body)
		return err
	}
	var wrapped struct {
		// Scalars, maps and lists come as entities with a member value; documents do not.
		Value json.RawMessage `json:"value"`
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if json.Unmarshal(b, &wrapped) == nil && wrapped.Value != nil {
		b = wrapped.Value
	}
	return json.Unmarshal(b, into)
}

// send makes one request; an answer of 400 and above becomes an error.
func (c *client) send(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	req, err := c.request(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	return c.do(req)
}

// request makes a request that is signed.
func (c *client) request(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("X-NXproperties", "*")
	if c.trace.ID != "" {
		req.Header.Set("Traceparent", c.trace.Parent())
	}
	c.sign(req)
	return req, nil
}

// do sends a request; an answer of 400 and above becomes an error.
func (c *client) do(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	switch {
	case err != nil && c.remote && req.Context().Err() == nil:
		return nil, fault.Unavailable.Errorf("%s: %w; is the server running? Start it with catena serve, or correct --server", c.base, cause(err))
	case err != nil:
		return nil, err
	case resp.StatusCode < 400:
		return resp, nil
	}
	defer resp.Body.Close()
	err = problem(resp)
	if c.remote && resp.StatusCode == http.StatusUnauthorized {
		err = fault.Wrap(err, "%s: sign-in failed, %s", c.base, credentialAdvice())
	}
	return nil, err
}

// cause is what went wrong with a request, without its method and address.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// credentialAdvice says which variables of the environment to set or to correct.
func credentialAdvice() string {
	if _, ok, _ := fromEnv("key"); ok {
		return "check CATENA_KEY"
	}
	if _, ok, _ := fromEnv("password"); !ok {
		return "set CATENA_PASSWORD (and CATENA_USER for a user other than Administrator) or CATENA_KEY"
	}
	return "check CATENA_USER (default: Administrator) and CATENA_PASSWORD"
}

// problem turns an error answer back into an error of its kind.
func problem(resp *http.Response) error {
	var p struct{ Message, Code string }
	// The answer may come from a proxy, in any form and size.
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if json.Unmarshal(b, &p) != nil || p.Message == "" {
		p.Message = strings.TrimSpace(resp.Status + " " + string(b))
	}
	// On the command line, the name of the operation in front is enough.
	message := invoked.ReplaceAllString(p.Message, "$1: ")
	return kindOf(resp.StatusCode).New(message).WithCode(fault.CodeNamed(p.Code))
}

// invoked is what the platform's messages of failed operations begin with.
var invoked = regexp.MustCompile(`^Failed to invoke operation: ([^,]+), (?:Failed to invoke operation [^,\s]+(?: with aliases \[[^\]]*\])?, )?`)

// kindOf is the way back from rest's table of statuses.
func kindOf(status int) fault.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.Denied
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusConflict:
		return fault.Conflict
	case http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusTooManyRequests:
		return fault.Limit
	case http.StatusServiceUnavailable:
		return fault.Unavailable
	}
	if status < http.StatusInternalServerError {
		return fault.Invalid
	}
	return fault.Internal
}

// transport serves requests by a handler in this process.
type transport struct{ handler http.Handler }

// RoundTrip answers through a pipe, so that bodies of any size stream.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &answer{header: http.Header{}, body: pw, ready: make(chan struct{})}
	req.RequestURI = req.URL.RequestURI()
	req.RemoteAddr = "127.0.0.1:0"
	go func() {
		defer func() {
			w.WriteHeader(http.StatusOK)
			// A panic of the handler becomes an error of the reader, as a closed connection would be.
			pw.CloseWithError(recovered(recover()))
		}()
		t.handler.ServeHTTP(w, req)
	}()
	select {
	case <-w.ready:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: pr, ContentLength: -1, Request: req,
	}, nil
}

func recovered(v any) error {
	if v == nil {
		return io.EOF
	}
	return fmt.Errorf("handler: %v", v)
}

// answer is the http.ResponseWriter of transport.
type answer struct {
	header http.Header
	body   *io.PipeWriter
	status int
	ready  chan struct{}
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status != 0 || status < 200 {
		return
	}
	a.status = status
	a.header = a.header.Clone()
	close(a.ready)
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// parsePairs reads name=value arguments; values that are JSON are taken as such.
func parsePairs(pairs []string) (map[string]any, error) {
	m := map[string]any{}
	for _, p := range pairs {
		name, text, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usage{fmt.Errorf("%q is not name=value", p)}
		}
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			v = text
		}
		m[name] = v
	}
	return m, nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

var errNotLocal = errors.New("works on a data directory that no server uses: stop the server and omit --server")
