package rest

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Request is a request with its answer. The server reuses them, so nothing may keep one after it was answered.
type Request struct {
	Server   *Handler
	Writer   http.ResponseWriter
	HTTP     *http.Request
	Route    *Route
	Segments Segments          // parts of the address that the route names
	Body     Body              // what is read of the body
	ID       string            // of the request, in logs and errors
	As       *engine.Principal // the caller; nil while nobody knows
	Engine   *engine.Engine    // of the repository asked for
	Repo     string            // its name
	Session  string            // token of the browser's session; "" without
	Expect   string            // the document that the address names, "" if it names none
	Invoked  string            // the operation the caller named, for the long form of messages
	Status   int               // of the answer; 0 until it begins

	joined *storage.Joined // what finding out who calls has read; nil: nothing that can be used again
	from   netip.Addr      // the client, once it was asked for
	asked  url.Values      // query parameters, parsed on first use
	cut    bool            // the answer was interrupted
	recall bool            // the caller is who signed in a moment ago, as far as only that is known
	proves bool            // it was not enough
	out    counted         // what is written to, if there is a log of requests
	held   *[]held         // of a request in a batch: the calls it makes, which are not carried out yet
	buf    []byte
	idText [16]byte

	encoding encoder // of the call that runs; those that are not carried out yet have their own
}

// ServeHTTP answers one request.
func (s *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := s.requests.Get().(*Request)
	x.Writer, x.HTTP = w, r
	if s.Access != nil {
		x.out.ResponseWriter = w
		x.Writer = &x.out
	}
	if err := x.attempt(); err != nil {
		x.fail(err)
	}
	s.record(x, time.Since(start), x.cut)
	buf := x.buf
	// One large answer must not keep its memory as long as the server runs. A page of 50 documents is not one.
	if cap(buf) > 256<<10 {
		buf = nil
	}
	// Everything else is cleared, above all the principal: a request must never see anything of the one
	// before.
	*x = Request{Server: s, buf: buf[:0]}
	s.requests.Put(x)
}

// attempt serves the request and turns a panic into an error. It returns before that error is written: a client can take
// its time over an answer, and a goroutine that panics must not run deferred calls for long (TestDeferredFrames says why).
func (x *Request) attempt() (err error) {
	defer func() {
		p := recover()
		switch p {
		case nil:
			return
		// It is how net/http's own handlers, such as a reverse proxy, abandon a response.
		case http.ErrAbortHandler:
			x.Abort()
			return
		}
		x.Server.Log.LogAttrs(x.HTTP.Context(), slog.LevelError, "panic",
			append(x.attrs(nil), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))...)
		if x.Status != 0 {
			x.Abort() // part of an answer is out already
			return
		}
		err = fault.Internal.Errorf("panic")
	}()
	x.client() // nearly every request asks for it, and goroutines of one that loads documents do so at the same time
	if err = x.serve(); err != nil {
		if refused := x.Prove(); refused != nil {
			return refused
		}
	}
	return err
}

// Abort breaks the answer off by closing its connection, so that the client sees that the
// answer is incomplete. A panic with http.ErrAbortHandler would do the same, with deferred calls on its way.
func (x *Request) Abort() {
	x.cut = true
	_ = http.NewResponseController(x.Writer).SetWriteDeadline(time.Unix(1, 0)) // not every writer has one
}

// attrs are what log lines say about a request; never its query or headers, which may hold secrets.
func (x *Request) attrs(err error) []slog.Attr {
	out := []slog.Attr{
		slog.String("method", x.HTTP.Method), slog.String("path", unsaid(x.HTTP.URL.Path)), slog.String("requestId", x.ID),
	}
	if trace := x.traceID(); trace != "" {
		out = append(out, slog.String("traceId", trace))
	}
	if x.As != nil {
		out = append(out, slog.String("user", x.As.Name))
	}
	if err != nil {
		out = append(out, slog.String("error", err.Error()))
	}
	return out
}

// Report logs an error that is answered with a status, of 500 or more.
func (x *Request) Report(status int, message string, err error) {
	x.Server.Log.LogAttrs(x.HTTP.Context(), levelOf(status), message, x.attrs(err)...)
}

func levelOf(status int) slog.Level {
	if status == http.StatusServiceUnavailable {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// serve checks, routes and signs in, in this order: the cheap checks that need no store come before those
// that do, and the route decides which sign-in is accepted.
func (x *Request) serve() error {
	s, r := x.Server, x.HTTP
	x.identify()
	x.expectBody()
	if err := x.guard(); err != nil {
		return err
	}
	path := r.URL.EscapedPath()
	// Mounted handlers have addresses of their own, outside of the context path.
	if m := s.mount(path); m != nil {
		return x.serveMount(m)
	}
	at := Locate(s.ContextPath, path)
	routes := s.top
	if at.API {
		routes = s.api
	}
	method := r.Method
	x.Route = routes.find(method, at.Path, &x.Segments)
	// HEAD is GET without a body (RFC 9110); a row of its own for HEAD wins.
	if x.Route == nil && method == http.MethodHead {
		x.Route = routes.find(http.MethodGet, at.Path, &x.Segments)
	}
	if x.Route == nil {
		return x.unrouted(routes, at)
	}
	x.Body = x.Route.Body
	if err := x.setRepository(at.Repo); err != nil {
		return err
	}
	if err := x.admit(); err != nil {
		return err
	}
	return x.serveRoute()
}

// serveRoute has the row of the request serve it.
func (x *Request) serveRoute() error {
	if x.Route.Handle == nil {
		return x.perform()
	}
	return x.Route.Handle(x)
}

// admit identifies the caller, as the route wants it.
func (x *Request) admit() error {
	switch x.Route.Access {
	case SignedIn:
		if ok, err := x.signInPage(); ok {
			return err
		}
		return x.signIn()
	case Visitor:
		return x.visit()
	case Open:
	}
	return nil
}

// unrouted says why no row matches: the method, or the address.
func (x *Request) unrouted(routes *router, at Location) error {
	if methods := routes.allowed(at.Path); len(methods) > 0 {
		x.Writer.Header().Set("Allow", strings.Join(append(methods, http.MethodOptions), ", "))
		if x.HTTP.Method == http.MethodOptions {
			return x.NoContent()
		}
		return fault.Invalid.Errorf("method %s is not allowed here", x.HTTP.Method).WithCode(fault.CodeMethodNotAllowed)
	}
	first, err := Decode(strings.Trim(at.Path, "/"))
	if err != nil {
		return err
	}
	first, _, _ = strings.Cut(first, "/")
	if at.API {
		// The text is the platform's, and client programs compare it.
		return fault.NotFound.Errorf("Type not found: %s", first)
	}
	return fault.NotFound.Errorf("address %s", x.HTTP.URL.Path)
}

// setRepository takes the repository of the address, a header or a parameter, in this order.
func (x *Request) setRepository(escaped string) error {
	x.Engine, x.Repo = x.Server.Engine, x.Server.Engine.Repo().Name()
	name, err := Decode(escaped)
	if err != nil {
		return err
	}
	// The ways to name a repository are the platform's; the address wins because it is what people see.
	if name == "" && x.HTTP.URL.RawQuery != "" {
		name = x.Query().Get("nxrepository")
	}
	if name == "" {
		name = Header(x.HTTP.Header, "X-Nxrepository", "X-Platform-Repository")
	}
	if name == "" {
		return nil
	}
	return x.Enter(name)
}

// Enter has the request see the repository of a name.
func (x *Request) Enter(name string) error {
	if name == x.Repo {
		return nil
	}
	e := x.Server.Engine.Named(name)
	if e == nil {
		return fault.NotFound.Errorf("repository %s", name)
	}
	x.Engine, x.Repo = e, name
	return nil
}

// Header returns the first of several spellings of a header; names are in canonical form.
func Header(h http.Header, names ...string) string {
	for _, n := range names {
		if v := h[n]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

// maxStale is how old an answer a client accepts, by the directive max-stale of Cache-Control (RFC 9111, 5.2.1.2): 0 if it does not
// say, and as long as there is if it names no number of seconds. What cannot be read is ignored.
func maxStale(h http.Header) time.Duration {
	for _, line := range h["Cache-Control"] {
		for directive := range strings.SplitSeq(line, ",") {
			name, number, some := strings.Cut(strings.TrimSpace(directive), "=")
			if !strings.EqualFold(name, "max-stale") {
				continue
			}
			if !some {
				return math.MaxInt64
			}
			if n, err := strconv.ParseUint(strings.Trim(number, `"`), 10, 31); err == nil {
				return time.Duration(n) * time.Second
			}
		}
	}
	return 0
}

// Query returns the query parameters. A raw ";" separates nothing.
func (x *Request) Query() url.Values {
	if x.asked == nil {
		if x.HTTP.URL.RawQuery == "" {
			x.asked = nothingAsked
		} else {
			// Addresses of the platform contain semicolons as matrix parameters (;codec=…), also within the
			// query. Go rejects a query with one unless it is escaped.
			x.asked, _ = url.ParseQuery(strings.ReplaceAll(x.HTTP.URL.RawQuery, ";", "%3B"))
		}
	}
	return x.asked
}

var nothingAsked = url.Values{}

// Flag reports whether a query parameter is "true".
func (x *Request) Flag(name string) bool {
	return x.HTTP.URL.RawQuery != "" && x.Query().Get(name) == "true"
}

// Param returns a named segment of the path, decoded.
func (x *Request) Param(name string) (string, error) { return Decode(x.Segments.Get(name)) }

// Named are parameters of the address by their names, as an operation takes them.
func (x *Request) Named(names ...string) (Values, error) {
	p := Values{}
	for _, name := range names {
		v, err := x.Param(name)
		if err != nil {
			return nil, err
		}
		p[name] = v
	}
	return p, nil
}

// Base is the public address of the server with the context path and without a slash at the end.
func (x *Request) Base() string {
	if x.Server.Base != "" {
		return x.Server.Base
	}
	scheme := "http://"
	if x.HTTP.TLS != nil {
		scheme = "https://"
	}
	return scheme + x.HTTP.Host + x.Server.ContextPath
}

func (s *Handler) mount(path string) *mounted {
	for i := range s.mounts {
		if _, ok := Under(path, s.mounts[i].Path); ok {
			return &s.mounts[i]
		}
	}
	return nil
}

// serveMount hands the request to a mounted handler once the caller is known.
func (x *Request) serveMount(m *mounted) error {
	r := x.HTTP
	x.Route = &m.row[0]
	if m.Allow != "" && r.Method == http.MethodOptions {
		x.Writer.Header().Set("Allow", m.Allow)
		return x.NoContent()
	}
	if !m.Open {
		if err := x.signIn(); err != nil {
			return err
		}
		if m.Rated {
			if err := x.Rate(); err != nil {
				return err
			}
		}
		r = r.WithContext(context.WithValue(r.Context(), arrivedKey{}, &arrived{x.As, Arrival{x.Host(), x.client(), x.ID}}))
	}
	// A mounted handler knows nothing of the deadline that expectBody has set, so reading the body to its end
	// lifts it.
	if r.Body != nil && r.Body != http.NoBody {
		if r == x.HTTP {
			r = r.WithContext(r.Context())
		}
		r.Body = &timedBody{r.Body, x.Writer}
	}
	w := &StatusWriter{ResponseWriter: x.Writer}
	m.Handler.ServeHTTP(w, r)
	x.Status = w.Status
	return nil
}

// arrivedKey finds in a context whose request for a mounted handler it is and how it came here.
type arrivedKey struct{}

type arrived struct {
	as  *engine.Principal
	how Arrival
}

// PrincipalOf returns the caller, in a handler mounted with Mount; nil on an open one.
func PrincipalOf(ctx context.Context) *engine.Principal {
	if a, ok := ctx.Value(arrivedKey{}).(*arrived); ok {
		return a.as
	}
	return nil
}

// StatusWriter remembers the status a mounted handler answers with.
type StatusWriter struct {
	http.ResponseWriter
	Status int
}

// WriteHeader sends a status.
func (w *StatusWriter) WriteHeader(status int) {
	if w.Status == 0 {
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *StatusWriter) Write(b []byte) (int, error) {
	if w.Status == 0 {
		w.Status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

func (w *StatusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Gone reports whether an error only says that the client went away.
func Gone(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() != nil
}

// Host is the public address of the server without the context path.
func (x *Request) Host() string { return strings.TrimSuffix(x.Base(), x.Server.ContextPath) }

// Prefix stands in front of the addresses in pages: what a proxy adds, not the context path.
func (x *Request) Prefix() string {
	if x.Server.Base == "" {
		return ""
	}
	_, after, _ := strings.Cut(x.Host(), "://")
	_, path, ok := strings.Cut(after, "/")
	if !ok {
		return ""
	}
	return "/" + path
}

// Arrival is how a request for a mounted handler came here.
type Arrival struct {
	Base   string // public address of the server
	Client netip.Addr
	ID     string // of the request
}

// ArrivalOf returns how the request came here, in a handler mounted with Mount.
func ArrivalOf(ctx context.Context) Arrival {
	if a, ok := ctx.Value(arrivedKey{}).(*arrived); ok {
		return a.how
	}
	return Arrival{}
}
