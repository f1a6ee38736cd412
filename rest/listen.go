package rest

import (
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"catena/storage/credential"
)

// piece is how much of an answer a client must take within Limits.Stall, in bytes.
const piece = 64 << 10

var pieces = sync.Pool{New: func() any { return new([piece]byte) }}

// Listener bounds what the connections of l cost: how many there are, of everybody and of one address, unless that is
// a trusted proxy's, and how
// long a client may leave what it is sent. Those that are too many are closed at once, so that others get in.
func (s *Handler) Listener(l net.Listener) net.Listener {
	return &listener{Listener: l, limits: s.Limits, proxy: s.proxy, open: s.meters.connections, of: map[netip.Prefix]int{}}
}

type listener struct {
	net.Listener
	limits Limits
	proxy  func(netip.Addr) bool
	open   prometheus.Gauge
	mu     sync.Mutex
	all    int
	of     map[netip.Prefix]int // by address
}

// Accept returns the next connection that may stay.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := peerOf(c.RemoteAddr())
		if l.enter(peer, l.proxy(addressOf(c.RemoteAddr().String()))) {
			return &conn{Conn: c, stall: l.limits.Stall, leave: sync.OnceFunc(func() { l.leave(peer) })}, nil
		}
		_ = c.Close()
	}
}

// enter gives a connection a slot; one of a proxy counts among all only.
func (l *listener) enter(peer netip.Prefix, proxy bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.limits.Connections || l.of[peer] >= l.limits.PeerConnections && !proxy {
		return false
	}
	l.all++
	l.open.Inc()
	l.of[peer]++
	return true
}

func (l *listener) leave(peer netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	l.open.Dec()
	if l.of[peer]--; l.of[peer] == 0 {
		delete(l.of, peer)
	}
}

// peerOf is who a connection belongs to: an address, or the network that one household has of version 6. Connections
// that have none belong to one.
func peerOf(a net.Addr) netip.Prefix {
	at, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	return credential.Network(at.AddrPort().Addr())
}

// conn is a connection that breaks when its client takes nothing any longer.
type conn struct {
	net.Conn
	stall time.Duration
	until atomic.Int64 // the write deadline that was asked for, in nanoseconds since 1970; 0: none
	leave func()
}

// SetWriteDeadline sets when writing ends, however much the client takes until then.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		c.until.Store(0)
	} else {
		c.until.Store(t.UnixNano())
	}
	return c.Conn.SetWriteDeadline(t)
}

// deadline returns when the next piece must have been written.
func (c *conn) deadline() time.Time {
	t := time.Now().Add(c.stall)
	if until := c.until.Load(); until != 0 && until < t.UnixNano() {
		return time.Unix(0, until)
	}
	return t
}

// Write sends b piece by piece, each with its time.
func (c *conn) Write(b []byte) (n int, err error) {
	for {
		if err := c.Conn.SetWriteDeadline(c.deadline()); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(b[n:min(len(b), n+piece)])
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// ReadFrom sends what r holds. The system sends the content of a file by itself, which must be taken as what Write sends.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	if part, ok := r.(*io.LimitedReader); ok {
		to, isTCP := c.Conn.(*net.TCPConn)
		if f, isFile := part.R.(*os.File); isFile && isTCP && part.N > 0 {
			n, err := c.sendFile(to, f, part.N)
			part.N -= n
			return n, err
		}
	}
	b := pieces.Get().(*[piece]byte)
	defer pieces.Put(b)
	return io.CopyBuffer(struct{ io.Writer }{c}, r, b[:])
}

// CloseWrite tells the client that no more comes, as net/http does before it closes a connection on which more is sent.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close gives the slot up.
func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
