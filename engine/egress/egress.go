// Package egress is how the server reaches others: one HTTP client for files fetched by address, for files and events
// that are sent, and for everything else that leaves the machine. It reaches public addresses only, unless configured
// otherwise: what a name resolves to is checked when the connection is made, again for every redirection, and no
// proxy of the environment is used. Answers are bounded in time and size. What is sent is for callers. Object stores,
// which nobody but the operator names, are reached by storage/blob/bucket instead, wherever they are.
//
// The check is made on the address that a connection is opened to, not on the name: a name may resolve to a
// public address when it is checked and to an internal one when it is used. The same holds after every
// redirection.
package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"catena/storage/fault"
	"catena/storage/trace"
)

// Config says what may be reached beyond the public network; zero values take the defaults.
type Config struct {
	Allow []string      // addresses or networks reached although they are not public: "10.1.0.0/16"
	Plain bool          // http besides https; addresses of Allow are reached either way
	Time  time.Duration // of one exchange with its body (30 s)
	Size  int64         // bytes of one answer (1 GiB)
}

// Client reaches other servers. It is safe for use by many.
type Client struct {
	allow []netip.Prefix
	plain bool
	time  time.Duration
	size  int64
	http  *http.Client
}

// maxHops bounds how often a request is redirected.
const maxHops = 3

// New makes a client.
func New(c Config) (*Client, error) {
	e := &Client{plain: c.Plain, time: c.Time, size: c.Size}
	if e.time == 0 {
		e.time = 30 * time.Second
	}
	if e.size == 0 {
		e.size = 1 << 30
	}
	var err error
	if e.allow, err = Networks(c.Allow); err != nil {
		return nil, fault.Wrap(err, "egress")
	}
	e.http = &http.Client{
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.Context().Value(stayKey{}) != nil || r.Method != http.MethodGet || via[0].Method != http.MethodGet {
				return http.ErrUseLastResponse
			}
			if len(via) > maxHops {
				return fault.Invalid.Errorf("%s: redirected more than %d times", where(via[0].URL), maxHops)
			}
			return e.check(r.URL)
		},
		Transport: schemes{"http": e.transport(e.plain), "https": e.transport(true)},
	}
	return e, nil
}

// schemes sends each request by the transport of its scheme.
type schemes map[string]*http.Transport

func (s schemes) RoundTrip(r *http.Request) (*http.Response, error) {
	t := s[r.URL.Scheme]
	if t == nil {
		return nil, fault.Invalid.Errorf("url %s: scheme %q is not http or https", where(r.URL), r.URL.Scheme)
	}
	return t.RoundTrip(r)
}

// transport connects to the addresses that may be reached; public ones only if so said.
func (e *Client) transport(public bool) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, Control: func(protocol, address string, _ syscall.RawConn) error {
		return e.control(public, protocol, address)
	}}
	return &http.Transport{
		DialContext:            d.DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConns:           16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
}

// Dial opens a connection for another protocol than HTTP, whose time is the context's and at most that of an exchange. Public
// addresses are reached with TLS only, unless plain connections are allowed.
func (e *Client) Dial(ctx context.Context, host, port string, secure bool) (net.Conn, error) {
	u := &url.URL{Scheme: "tcp", Host: net.JoinHostPort(host, port)}
	d := &net.Dialer{Timeout: 10 * time.Second, Control: func(protocol, address string, _ syscall.RawConn) error {
		return e.control(secure || e.plain, protocol, address)
	}}
	conn, err := d.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, failure(u, err)
	}
	if err := conn.SetDeadline(time.Now().Add(e.time)); err != nil {
		return nil, errors.Join(failure(u, err), conn.Close())
	}
	if !secure {
		return conn, nil
	}
	t := tls.Client(conn, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(failure(u, err), conn.Close())
	}
	return t, nil
}

// Networks reads addresses and networks.
func Networks(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range texts {
		p, err := network(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func network(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fault.Invalid.Errorf("%q is not an address or network", text)
	}
	return p.Masked(), nil
}

// Answer is what another server said. Its body must be closed.
type Answer struct {
	Status int
	Header http.Header
	Body   io.ReadCloser // fails beyond the size allowed
	URL    *url.URL      // where it came from, after redirections
	Size   int64         // announced, -1 if unknown
}

// Request is what is sent to another server.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        io.Reader // nil: none
	Size        int64     // bytes of the body; -1: unknown
	Stay        bool      // a redirection is an answer, also for GET
}

// Do sends a request. Only those of the method GET follow redirections.
func (e *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	if r.Stay {
		ctx = context.WithValue(ctx, stayKey{}, true)
	}
	return e.do(ctx, request{r.Method, r.URL, r.Header, r.Body, r.Size})
}

// stayKey marks in a context that redirections are not followed.
type stayKey struct{}

// HTTP is the client below, for libraries that make requests of their own.
func (e *Client) HTTP() *http.Client { return e.http }

// Get fetches what is at an address, following redirections.
func (e *Client) Get(ctx context.Context, address string) (*Answer, error) {
	return e.do(ctx, request{method: http.MethodGet, address: address})
}

// Post sends a body of size bytes to an address. Redirections are not followed: they are
// answers.
func (e *Client) Post(ctx context.Context, address string, h http.Header, body io.Reader, size int64) (*Answer, error) {
	return e.do(ctx, request{http.MethodPost, address, h, body, size})
}

// request is what Get and Post send.
type request struct {
	method, address string
	header          http.Header
	body            io.Reader
	size            int64 // bytes of the body; -1: unknown
}

func (e *Client) do(ctx context.Context, q request) (*Answer, error) {
	u, err := url.Parse(q.address)
	if err != nil {
		return nil, fault.Invalid.Errorf("url %q: not an address", q.address).In("url")
	}
	if err := e.check(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.time)
	if q.body != nil {
		q.body = io.NopCloser(q.body) // closed by its owner
	}
	req, err := http.NewRequestWithContext(ctx, q.method, u.String(), q.body)
	if err != nil {
		cancel()
		return nil, fault.Invalid.Errorf("url %s: %w", where(u), err).In("url")
	}
	if q.header != nil {
		req.Header = q.header.Clone()
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "catena")
	}
	if t, ok := trace.Of(ctx); ok {
		req.Header.Set("Traceparent", t.Parent())
	}
	if q.body != nil {
		req.ContentLength = q.size
	}
	res, err := e.http.Do(req) //nolint:bodyclose // the caller closes it
	if err != nil {
		cancel()
		return nil, failure(u, err)
	}
	return &Answer{
		Status: res.StatusCode, Header: res.Header, URL: res.Request.URL, Size: res.ContentLength,
		Body: &bounded{res.Body, cancel, where(u), e.size},
	}, nil
}

// check refuses addresses that are not for HTTP.
func (e *Client) check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fault.Invalid.Errorf("url %s: scheme %q is not http or https", where(u), u.Scheme).In("url")
	case u.Hostname() == "":
		return fault.Invalid.Errorf("url %s: has no host", where(u)).In("url")
	case u.User != nil:
		return fault.Invalid.Errorf("url %s: must not contain a user or password", where(u)).In("url")
	}
	return nil
}

// control refuses connections to addresses that are not to be reached. It runs after a name
// is resolved, so that the name cannot mean something else by then.
func (e *Client) control(public bool, protocol, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || protocol != "tcp4" && protocol != "tcp6" {
		return fault.Denied.Errorf("address %s: must not be accessed from this server", address).WithCode(fault.CodeEgress)
	}
	a := at.Addr().Unmap()
	switch {
	case a.Zone() == "" && e.allowed(a):
		return nil
	case !Public(a):
		return fault.Denied.Errorf("address %s: is not public and must not be accessed from this server", a).WithCode(fault.CodeEgress)
	case !public:
		return fault.Denied.Errorf("address %s: must be accessed by https", a).WithCode(fault.CodeEgress)
	}
	return nil
}

func (e *Client) allowed(a netip.Addr) bool {
	for _, p := range e.allow {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// where names an address without what may be secret in it.
func where(u *url.URL) string {
	return strings.TrimSuffix((&url.URL{Scheme: u.Scheme, Host: u.Host}).String(), "/")
}

// failure marks what went wrong on the way.
func failure(u *url.URL, err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return known
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // its text repeats the address whole
	}
	return fault.Unavailable.Errorf("url %s: %w", where(u), err).WithCode(fault.CodeUnreachable)
}

// bounded is a body that fails beyond its size and ends its request when closed.
type bounded struct {
	io.ReadCloser
	cancel context.CancelFunc
	name   string
	left   int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fault.Limit.Errorf("url %s: the response is too large", b.name).WithCode(fault.CodeEgress)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fault.Unavailable.Errorf("url %s: %w", b.name, err).WithCode(fault.CodeUnreachable)
	}
	return n, err
}

func (b *bounded) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
