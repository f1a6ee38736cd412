package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// exchange is a request with its answer. The server reuses them, so nothing may keep one after it was answered.
type exchange struct {
	s        *Handler
	w        http.ResponseWriter
	r        *http.Request
	route    *route
	ps       params
	body     body   // what is read of the request's
	id       string // of the request
	as       *engine.Principal
	engine   *engine.Engine // of the repository asked for
	repo     string         // its name
	asked    url.Values     // query parameters, parsed on first use
	session  string         // token of the browser's session; "" without
	revision string         // of the deck service, asked for
	invoked  string         // the operation the caller named, for the long form of messages
	status   int
	cut      bool         // the answer was broken off
	out      counted      // what is written to, if there is a log of requests
	held     *[]held      // of a request in a batch: the calls it makes, which are not carried out yet
	again    func() error // whether who looks at a deck still may
	buf      []byte
	idText   [16]byte
}

// ServeHTTP answers one request.
func (s *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := s.exchanges.Get().(*exchange)
	x.w, x.r = w, r
	if s.Access != nil {
		x.out.ResponseWriter = w
		x.w = &x.out
	}
	if err := x.attempt(); err != nil {
		x.fail(err)
	}
	s.record(x, time.Since(start), x.cut)
	buf := x.buf
	if cap(buf) > 64<<10 {
		buf = nil
	}
	*x = exchange{s: s, buf: buf[:0]}
	s.exchanges.Put(x)
}

// attempt serves the request and turns a panic into an error. It returns before that error is written: a client can take
// its time over an answer, and a goroutine that panics must not run deferred calls for long (TestDeferredFrames says why).
func (x *exchange) attempt() (err error) {
	defer func() {
		p := recover()
		switch p {
		case nil:
			return
		case http.ErrAbortHandler:
			x.abort()
			return
		}
		x.s.Log.LogAttrs(x.r.Context(), slog.LevelError, "panic",
			append(x.attrs(nil), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))...)
		if x.status != 0 {
			x.abort() // part of an answer is out already
			return
		}
		err = fault.Internal.Errorf("panic")
	}()
	return x.serve()
}

// abort breaks the answer off by closing its connection, so that the client sees that the
// answer is incomplete. A panic with http.ErrAbortHandler would do the same, with deferred calls on its way.
func (x *exchange) abort() {
	x.cut = true
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Unix(1, 0)) // not every writer has one
}

// attrs are what log lines say about a request; never its query or headers, which may hold secrets.
func (x *exchange) attrs(err error) []slog.Attr {
	out := []slog.Attr{
		slog.String("method", x.r.Method), slog.String("path", unsaid(x.r.URL.Path)), slog.String("requestId", x.id),
	}
	if trace := x.traceID(); trace != "" {
		out = append(out, slog.String("traceId", trace))
	}
	if x.as != nil {
		out = append(out, slog.String("user", x.as.Name))
	}
	if err != nil {
		out = append(out, slog.String("error", err.Error()))
	}
	return out
}

// report logs an error that is answered with a status, of 500 or more.
func (x *exchange) report(status int, message string, err error) {
	x.s.Log.LogAttrs(x.r.Context(), levelOf(status), message, x.attrs(err)...)
}

func levelOf(status int) slog.Level {
	if status == http.StatusServiceUnavailable {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// serve checks, routes and signs in.
func (x *exchange) serve() error {
	s, r := x.s, x.r
	x.identify()
	x.expectBody()
	if err := x.guard(); err != nil {
		return err
	}
	path := r.URL.EscapedPath()
	if m := s.mount(path); m != nil {
		return x.serveMount(m)
	}
	at := locate(s.ContextPath, path)
	routes := s.top
	if at.api {
		routes = s.api
	}
	method := r.Method
	x.route = routes.find(method, at.path, &x.ps)
	if x.route == nil && method == http.MethodHead {
		x.route = routes.find(http.MethodGet, at.path, &x.ps)
	}
	if x.route == nil {
		return x.unrouted(routes, at)
	}
	x.body = x.route.body
	if err := x.setRepository(at.repo); err != nil {
		return err
	}
	if err := x.admit(); err != nil {
		return err
	}
	return x.serveRoute()
}

// serveRoute has the row of the request serve it.
func (x *exchange) serveRoute() error {
	if x.route.handle == nil {
		return x.perform()
	}
	return x.route.handle(x)
}

// admit finds out who asks, as the route wants it.
func (x *exchange) admit() error {
	switch x.route.access {
	case signedIn:
		if ok, err := x.signInPage(); ok {
			return err
		}
		return x.signIn()
	case visitor:
		return x.visit()
	}
	return nil
}

// unrouted says why no row matches: the method, or the address.
func (x *exchange) unrouted(routes *router, at place) error {
	if methods := routes.allowed(at.path); len(methods) > 0 {
		x.w.Header().Set("Allow", strings.Join(append(methods, http.MethodOptions), ", "))
		if x.r.Method == http.MethodOptions {
			return x.noContent()
		}
		return fault.Invalid.Errorf("method %s is not allowed here", x.r.Method).WithCode(fault.CodeMethodNotAllowed)
	}
	first, err := decode(strings.Trim(at.path, "/"))
	if err != nil {
		return err
	}
	first, _, _ = strings.Cut(first, "/")
	if at.api {
		return fault.NotFound.Errorf("Type not found: %s", first)
	}
	return fault.NotFound.Errorf("address %s", x.r.URL.Path)
}

// setRepository takes the repository of the address, a header or a parameter, in this order.
func (x *exchange) setRepository(escaped string) error {
	x.engine, x.repo = x.s.Engine, x.s.Engine.Repo().Name()
	name, err := decode(escaped)
	if err != nil {
		return err
	}
	if name == "" && x.r.URL.RawQuery != "" {
		name = x.query().Get("nxrepository")
	}
	if name == "" {
		name = header(x.r.Header, "X-Nxrepository", "X-Platform-Repository")
	}
	if name == "" {
		return nil
	}
	return x.enter(name)
}

// enter has the request see the repository of a name.
func (x *exchange) enter(name string) error {
	if name == x.repo {
		return nil
	}
	e := x.s.Engine.Named(name)
	if e == nil {
		return fault.NotFound.Errorf("repository %s", name)
	}
	x.engine, x.repo = e, name
	return nil
}

// header returns the first of several spellings of a header; names are in canonical form.
func header(h http.Header, names ...string) string {
	for _, n := range names {
		if v := h[n]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

// query returns the query parameters. A raw ";" separates nothing.
func (x *exchange) query() url.Values {
	if x.asked == nil {
		if x.r.URL.RawQuery == "" {
			x.asked = nothingAsked
		} else {
			x.asked, _ = url.ParseQuery(strings.ReplaceAll(x.r.URL.RawQuery, ";", "%3B"))
		}
	}
	return x.asked
}

var nothingAsked = url.Values{}

// flag reports whether a query parameter is "true".
func (x *exchange) flag(name string) bool {
	return x.r.URL.RawQuery != "" && x.query().Get(name) == "true"
}

// param returns a named segment of the path, decoded.
func (x *exchange) param(name string) (string, error) { return decode(x.ps.get(name)) }

// named are parameters of the address by their names, as an operation takes them.
func (x *exchange) named(names ...string) (values, error) {
	p := values{}
	for _, name := range names {
		v, err := x.param(name)
		if err != nil {
			return nil, err
		}
		p[name] = v
	}
	return p, nil
}

// base is the public address of the server with the context path and without a slash at the end.
func (x *exchange) base() string {
	if x.s.Base != "" {
		return x.s.Base
	}
	scheme := "http://"
	if x.r.TLS != nil {
		scheme = "https://"
	}
	return scheme + x.r.Host + x.s.ContextPath
}

func (s *Handler) mount(path string) *mounted {
	for i := range s.mounts {
		if _, ok := under(path, s.mounts[i].Path); ok {
			return &s.mounts[i]
		}
	}
	return nil
}

// serveMount hands the request to a mounted handler once it is clear who asks.
func (x *exchange) serveMount(m *mounted) error {
	r := x.r
	x.route = &m.row[0]
	if m.Allow != "" && r.Method == http.MethodOptions {
		x.w.Header().Set("Allow", m.Allow)
		return x.noContent()
	}
	if !m.Open {
		if err := x.signIn(); err != nil {
			return err
		}
		if m.Rated {
			if err := x.rate(); err != nil {
				return err
			}
		}
		ctx := context.WithValue(r.Context(), principalKey{}, x.as)
		r = r.WithContext(context.WithValue(ctx, arrivalKey{}, arrival{x.host(), x.client(), x.id}))
	}
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context())
		r.Body = &timedBody{r.Body, x.w}
	}
	w := &statusWriter{ResponseWriter: x.w}
	m.Handler.ServeHTTP(w, r)
	x.status = w.status
	return nil
}

type principalKey struct{}

// PrincipalOf returns who asks, in a handler mounted with Mount; nil on an open one.
func PrincipalOf(ctx context.Context) *engine.Principal {
	p, _ := ctx.Value(principalKey{}).(*engine.Principal)
	return p
}

// statusWriter remembers the status a mounted handler answers with.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// signIn finds out who asks from the Authorization header or a token header. Clients also put
// tokens into addresses that they hand to viewers; our own log leaves those parts out.
func (x *exchange) signIn() error {
	ctx, e := x.r.Context(), x.s.Engine
	var err error
	switch auth := x.r.Header["Authorization"]; {
	case len(auth) == 1 && hasScheme(auth[0], "Basic "):
		user, password, ok := x.r.BasicAuth()
		if !ok {
			return fault.Denied.Errorf("sign-in: broken Authorization header").WithCode(fault.CodeNotSignedIn)
		}
		x.as, err = e.SignIn(x.fromClient(), user, password)
	case len(auth) == 1 && hasScheme(auth[0], "Bearer "):
		x.as, err = e.SignInBearer(ctx, strings.TrimSpace(auth[0][len("Bearer "):]))
	case len(auth) == 0 && len(x.r.Header["X-Authentication-Token"]) == 1:
		x.as, err = e.SignInToken(ctx, x.r.Header["X-Authentication-Token"][0])
	case len(auth) == 0 && x.addressed("token"):
		x.as, err = e.SignInDevice(ctx, x.query().Get("token"))
	case len(auth) == 0 && x.addressed("access_token"):
		x.as, err = e.SignInBearer(ctx, x.query().Get("access_token"))
	case len(auth) == 0 && x.portal():
		x.as, err = x.signInPortal()
	case len(auth) == 0 && x.s.As != nil:
		x.as = x.s.As
	default:
		return fault.Denied.Errorf("sign-in: user and password or a key are needed").WithCode(fault.CodeNotSignedIn)
	}
	if err == nil {
		return nil
	}
	if fault.CodeOf(err) == fault.CodeTooManyAttempts {
		return err
	}
	if k := fault.Of(err); k == fault.Denied || k == fault.NotFound || k == fault.Invalid {
		return fault.Denied.Errorf("sign-in: refused").WithCode(fault.CodeNotSignedIn)
	}
	return err
}

// addressed reports whether the address carries a token, which is good for the platform's
// addresses only.
func (x *exchange) addressed(name string) bool {
	if x.r.URL.RawQuery == "" {
		return false
	}
	if s := x.s.section(x.r.URL.Path); s != nil && s.Keys {
		return false
	}
	v := x.query().Get(name)
	return v != "" && !strings.HasPrefix(v, "cat_") // an address is no place for an API key
}

func hasScheme(header, scheme string) bool {
	return len(header) > len(scheme) && strings.EqualFold(header[:len(scheme)], scheme)
}

// gone reports whether an error only says that the client went away.
func gone(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() != nil
}
