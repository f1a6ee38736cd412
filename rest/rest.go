// Package rest answers HTTP requests according to tables of routes. A row names an operation; a handler only decodes
// what the request says, lets the engine run the operation in one transaction and encodes what it returns. Kinds of
// error become statuses in status.go and nowhere else. The packages below hold the tables and their handlers, and
// rest/server puts them together. What an operation does, who may call it and what a document looks like on the wire
// are matters of engine and ops.
//
// A request passes these steps (request.go): it gets an identifier and a deadline for its body; its host and
// origin are checked (origin.go); its address is located and routed (address.go, router.go); the caller is
// signed in as the row demands (signin.go), or remembered until the transaction of a write has looked (prove.go);
// and the row's handler, or its operation alone (perform.go), makes a call. Run (call.go) completes the call with
// what the request says about it (idempotency key, dry run, time limit, options of entities), carries it out, and
// turns the result into an answer (answer.go, file.go).
// Every error ends in fail (status.go), which writes one problem document.
//
// Requests in a batch (batch.go) and asynchronous runs (async.go) use the same path. The first take the call
// before it is carried out, the second carry it out without the client.
package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"catena/engine"
	"catena/storage/limit"
	"catena/storage/signin"
)

// Config says what a server serves and to whom.
type Config struct {
	Engine      *engine.Engine
	Log         *slog.Logger         // nil: slog.Default
	Access      *slog.Logger         // one line a request, with the fields of accessAttrs; nil: none
	ContextPath string               // where clients expect everything a second time, "/nuxeo"
	Base        string               // public address with the context path; "": from each request
	Version     string               // product version clients compare, "2023.10"
	Program     string               // version of the program itself; "": not said
	Hosts       []string             // host names served besides localhost, addresses and that of Base; "*": any
	Origins     []string             // other web origins that may call, "https://app.example.org"
	Limits      Limits               // zero values take the defaults
	Metrics     *prometheus.Registry // nil: one of its own
	NoMetrics   bool                 // they are shown elsewhere, not at /metrics
	Proxies     []netip.Prefix       // networks of proxies whose word is taken for whom they ask
	RateExempt  []netip.Prefix       // networks from which any number of requests may come
	Contact     string               // address for those who find a weakness, "mailto:security@example.org"; "": not told
	DeckSources []string             // other web origins that slides may show pictures, films and frames of
	Mounts      []Mount              // other handlers behind the same checks
	// A readiness check that fails takes the server out of a load balancer, so only what no request can do
	// without belongs here, or is marked as a part.
	Ready     []Check           // besides the store
	Hooks     HandlerFunc       // receives requests to hooks; nil: there are none
	JWTSecret string            // secret shared with who signs JSON web tokens; "": none are accepted
	Portal    string            // secret shared with a portal that signs users in; "": none does
	FrontEnd  string            // where the platform's own front end is mounted, "/nuxeo/ui"; "": it is not served
	As        *engine.Principal // the caller when a request does not say; only for a handler nobody else reaches
}

// Limits bound what requests may cost; those of storage and engine hold besides.
type Limits struct {
	Connections     int           `setting:"limit-connections" default:"10000" doc:"open connections"`
	PeerConnections int           `setting:"limit-connections-address" default:"1000" doc:"open connections of one address, trusted proxies excepted"`
	Header          time.Duration `setting:"limit-head-time" default:"5s" doc:"time to send the head of a request"`
	HeaderBytes     int           `setting:"limit-head" unit:"bytes" default:"32 KiB" doc:"size of the head of a request"`
	Idle            time.Duration `setting:"limit-idle-time" default:"2m" doc:"time between two requests of a connection"`
	JSON            int64         `setting:"limit-json" unit:"bytes" default:"10 MiB" doc:"size of a JSON body"`
	Parts           int           `setting:"limit-files" default:"1000" doc:"files in the body of one request"`
	Batch           int           `setting:"limit-batch-requests" default:"100" doc:"requests of one batch"`
	Body            time.Duration `setting:"limit-body-time" default:"30s" doc:"time to send a JSON body"`
	Stall           time.Duration `setting:"limit-stall-time" default:"30s" doc:"longest pause while a file is received or a response is sent"`
	Runs            int           `setting:"limit-async-runs" default:"1000" doc:"asynchronous runs kept at the same time"`
	UserRuns        int           `setting:"limit-async-runs-user" default:"50" doc:"asynchronous runs of one user"`
	UserResults     int64         `setting:"limit-async-results" unit:"bytes" default:"128 MiB" doc:"size of the unread results of the asynchronous runs of one user"`
	KeepRuns        time.Duration `setting:"limit-async-time" default:"1h" doc:"time that the result of an asynchronous run is kept"`
	Rate            int           `setting:"rate" default:"120" unlimited:"true" doc:"requests per minute of one key to the deck service and its tools; negative means no limit"`
}

// DefaultLimits are the bounds that hold where none is given.
var DefaultLimits = limit.Defaults[Limits]()

// Mount is a handler that serves a prefix of its own; it finds the caller with PrincipalOf.
type Mount struct {
	Path    string // "/mcp"; everything below it too
	Handler http.Handler
	Open    bool   // nobody need sign in
	Rated   bool   // requests count against the rate of the caller
	Allow   string // what OPTIONS answers, "POST, OPTIONS"; "": the handler answers itself
}

// Table is what a server serves. It is returned by a function of the handler, because some rows need the
// handler to be made.
type Table struct {
	API      []Route   // below /api/v1, also below /site/api/v1 and /api/v1/repo/{repository}
	Top      []Route   // beside it
	Mounts   []Mount   // besides those of the configuration
	Sections []Section // the first that holds an address counts
}

// Section is a part of the addresses that has ways of its own.
type Section struct {
	Holds func(path string) bool            // path is below the context path
	Fail  func(x *Request, err error) error // writes an error as the answer; what it returns is written as elsewhere
	Keys  bool                              // tokens in the address sign nobody in
}

// mounted is a mount with a row for its figures.
type mounted struct {
	Mount
	row []Route
}

// Check is one thing that must hold before the server takes traffic.
type Check struct {
	Name string
	Test func(context.Context) error
	Part bool // without it only a part of the work fails: the server is degraded, and ready
	Says bool // the text of its error is for everybody
}

// Handler answers requests.
type Handler struct {
	Config
	SignIn   *signin.Authenticator
	api, top *router
	hosts    map[string]bool
	anyHost  bool
	cross    *http.CrossOriginProtection
	origins  map[string]bool
	meters   *meters
	runs     *runs
	streams  chan struct{} // of events that are open
	rates    *rates
	sections []Section
	mounts   []mounted
	// It outlives every request and ends with the server.
	ctx    context.Context //nolint:containedctx // of what runs behind requests that were answered
	cancel context.CancelFunc
	// Requests are reused, as each holds a buffer for its answer; see ServeHTTP for what is cleared.
	requests sync.Pool // of *Request
}

// New makes the handler of a server of the addresses that table returns. What should be an origin and is none is left
// out and logged.
func New(c Config, table func(*Handler) Table) *Handler {
	s := &Handler{Config: c, hosts: map[string]bool{"localhost": true}, origins: map[string]bool{}}
	if s.Log == nil {
		s.Log = slog.Default()
	}
	if s.Metrics == nil {
		s.Metrics = prometheus.NewRegistry()
	}
	s.SignIn = signin.New(s.Engine.Repo(), s.JWTSecret)
	s.ContextPath = strings.TrimSuffix(s.ContextPath, "/")
	s.Base = strings.TrimSuffix(s.Base, "/")
	limit.Fill(&s.Limits)
	s.meters = newMeters(s.Metrics)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.runs = newRuns(s.ctx, s.Engine.Repo(), s.Limits)
	s.Metrics.MustRegister(s.runs)
	s.streams = make(chan struct{}, maxStreams)
	s.rates = ratesOf(s.Engine.Repo(), s.Limits.Rate)
	s.requests.New = func() any { return &Request{Server: s} }
	for _, h := range c.Hosts {
		s.hosts[strings.ToLower(h)] = true
	}
	s.anyHost = s.hosts["*"]
	// Behind a proxy the Host header is often the proxy's own name, which the browser's Origin does not
	// match. The public address has to be trusted explicitly then.
	s.cross = http.NewCrossOriginProtection()
	if scheme, after, ok := strings.Cut(s.Base, "://"); ok {
		host, _, _ := strings.Cut(after, "/")
		s.hosts[hostname(host)] = true
		if err := s.cross.AddTrustedOrigin(originOf(scheme, host)); err != nil { // a proxy may tell its own host
			s.Log.Error("public address is not a web origin", "base", s.Base, "error", err)
		}
	}
	for _, o := range c.Origins {
		if err := s.cross.AddTrustedOrigin(o); err != nil {
			s.Log.Error("origin ignored", "origin", o, "error", err)
			continue
		}
		s.origins[o] = true
	}
	s.DeckSources = slices.DeleteFunc(slices.Clone(c.DeckSources), func(o string) bool {
		u, err := url.Parse(o)
		bad := err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || o != u.Scheme+"://"+u.Host || strings.ContainsAny(o, ";, '\"")
		if bad {
			s.Log.Error("deck source ignored: not a web origin", "origin", o)
		}
		return bad
	})
	t := table(s)
	s.sections = t.Sections
	s.api = newRouter(s.meters.attach("/api/v1", t.API))
	s.top = newRouter(s.meters.attach("", t.Top))
	for _, m := range slices.Concat(c.Mounts, t.Mounts) {
		s.mounts = append(s.mounts, mounted{m, s.meters.attach("", []Route{{Path: m.Path + "/*"}})})
	}
	return s
}

// originOf is a web origin as browsers write it.
func originOf(scheme, host string) string {
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return scheme + "://" + strings.TrimSuffix(host, port)
}

// Server wraps the handler in a server that slow clients cannot hold, if it serves a listener that Listener bounds:
// handlers set read deadlines themselves, for a file takes longer than a call. Stop it with Shutdown, which waits for
// the requests in flight.
func (s *Handler) Server() *http.Server {
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.Limits.Header,
		IdleTimeout:       s.Limits.Idle,
		MaxHeaderBytes:    s.Limits.HeaderBytes,
		// net/http logs failed TLS handshakes and the like here. Any client can cause them in any number, so
		// they are for debugging only.
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(s.Close)
	return srv
}

// Close ends what runs behind requests that were answered: asynchronous runs are cancelled, and those who follow a presentation let go.
func (s *Handler) Close() { s.cancel() }

// Done is closed when the server closes.
func (s *Handler) Done() <-chan struct{} { return s.ctx.Done() }

// section is what holds an address; nil if none does.
func (s *Handler) section(path string) *Section {
	path = Locate(s.ContextPath, path).Path
	for i := range s.sections {
		if s.sections[i].Holds(path) {
			return &s.sections[i]
		}
	}
	return nil
}
