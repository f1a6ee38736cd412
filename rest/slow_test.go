package rest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/blob"
)

// impatient is a server that gives clients little time, and lets one address have some connections only.
func impatient(t *testing.T) *resttest.Server {
	t.Helper()
	return resttest.Start(t, resttest.Config{Ops: testOps, Single: true, Rest: func(c *rest.Config) { // a connection is one server's
		c.Limits.Header, c.Limits.Body, c.Limits.Stall = 200*time.Millisecond, 200*time.Millisecond, 200*time.Millisecond
		c.Limits.PeerConnections = 20
	}})
}

func dial(t *testing.T, s *resttest.Server, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ended waits until the server has closed a connection, whatever it has said before.
func ended(c net.Conn) (said string, err error) {
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	text, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return string(text), err
	}
	return string(text), nil
}

// drip sends a byte now and then, until the other side has closed.
func drip(c net.Conn) {
	for {
		if _, err := io.WriteString(c, "x"); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

const noBody = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: 200000\r\n%s\r\n"

// TestSlowSenders: who sends a request so slowly that it never ends is cut off, at every address and with or without
// an account, and the others are answered meanwhile.
func TestSlowSenders(t *testing.T) {
	s := impatient(t)
	in := "Authorization: Basic " + basic + "\r\n"
	at := batch(t, s)
	for name, head := range map[string]string{
		"half a head":            "GET /healthz HTTP/1.1\r\nHost: loc",
		"nothing":                "",
		"JSON":                   fmt.Sprintf(noBody, "/api/v1/automation/Test.Echo", "application/json", in),
		"JSON of nobody":         fmt.Sprintf(noBody, "/api/v1/automation/Test.Echo", "application/json", ""),
		"a body that is not due": fmt.Sprintf(noBody, "/healthz", "application/json", ""),
		"no such address":        fmt.Sprintf(noBody, "/nowhere", "application/json", in),
		"a file":                 fmt.Sprintf(noBody, at+"/0", "application/octet-stream", in),
		"a chunk":                fmt.Sprintf(noBody, at+"/1", "application/octet-stream", in+"X-Upload-Type: chunked\r\nX-Upload-Chunk-Index: 0\r\nX-Upload-Chunk-Count: 2\r\n"),
		"files":                  fmt.Sprintf(noBody, "/api/v1/automation/Blob.CreateZip", "multipart/form-data; boundary=b", in) + "--b\r\n",
		"a tool":                 fmt.Sprintf(noBody, "/mcp/automation", "application/json", in),
		"a form":                 fmt.Sprintf(noBody, "/login", "application/x-www-form-urlencoded", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s, "127.0.0.1")
			io.WriteString(c, head)
			go drip(c)
			if said, err := ended(c); err != nil {
				t.Errorf("still open, said %.100q", said)
			}
			if got := s.Do("GET", "/healthz", ""); got.StatusCode != http.StatusOK {
				t.Errorf("others: %d", got.StatusCode)
			}
		})
	}
}

// TestSlowReaders: a client that asks and asks and reads no answer is cut off.
func TestSlowReaders(t *testing.T) {
	s := impatient(t)
	for name, path := range map[string]string{"figures": "/metrics", "JSON": "/api/v1/automation", "page": "/ui/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s, "127.0.0.1")
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
			_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10) // with a large one, a write waits until the server has answered thousands of requests
			request := []byte(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n", path, basic))
			for range 1_000_000 { // far more than the buffers of both ends take
				_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second)) // the server, which no longer gets rid of its answers, takes no request
				_, err := c.Write(request)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatal("still open")
				}
				if err != nil {
					return
				}
			}
			t.Error("takes requests without end")
		})
	}
}

// TestSlowDownloads: a client that takes nothing of a file any longer is cut off, and one that takes it slowly is not.
func TestSlowDownloads(t *testing.T) {
	const size = 16 << 20
	blobs, err := blob.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	s := resttest.Start(t, resttest.Config{
		Storage: func(c *storage.Config) { c.Blobs = blobs },
		Rest:    func(c *rest.Config) { c.Limits.JSON, c.Limits.Stall = 2*size, time.Second },
	})
	at := withFile(t, s, "a.bin", "application/octet-stream", strings.Repeat("0123456789abcdef", size/16)) + "/@blob/file:content"
	s.Do("GET", at, "") // the system sends the file from the second time on
	for name, pause := range map[string]time.Duration{"nothing": time.Hour, "slowly": 5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s, "127.0.0.1")
			_ = c.(*net.TCPConn).SetReadBuffer(64 << 10)
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n", at, basic)
			if pause > time.Minute {
				time.Sleep(3 * time.Second)
				if said, err := ended(c); err != nil || len(said) > size/2 {
					t.Errorf("still open: %d bytes, %v", len(said), err)
				}
				return
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, n := make([]byte, 128<<10), 0
			for err == nil {
				var m int
				m, err = io.ReadFull(res.Body, b)
				n += m
				time.Sleep(pause)
			}
			if !errors.Is(err, io.EOF) || n != size {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
}

// TestConnectionsOfAnAddress: an address that holds many connections gets no more of them, and takes none from others.
func TestConnectionsOfAnAddress(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) { c.Limits.PeerConnections, c.Limits.Connections = 5, 8 }})
	answers := func(c net.Conn) bool {
		io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	}
	var first net.Conn
	for i, step := range []struct {
		from string
		want bool
	}{
		{"127.0.0.2", true},
		{"127.0.0.2", true},
		{"127.0.0.2", true},
		{"127.0.0.2", true},
		{"127.0.0.2", true},
		{"127.0.0.2", false}, // five are the most of an address
		{"127.0.0.3", true},
		{"127.0.0.3", true},
		{"127.0.0.4", true},
		{"127.0.0.5", false}, // eight of all
	} {
		c := dial(t, s, step.from)
		if first == nil {
			first = c
		}
		if got := answers(c); got != step.want {
			t.Errorf("connection %d, of %s: answered %v, want %v", i+1, step.from, got, step.want)
		}
	}
	_ = first.Close()
	for range 1000 { // the server sees the end of it sooner or later
		if c := dial(t, s, "127.0.0.2"); answers(c) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("a connection that is closed leaves no room for another one")
}

// TestHeads: the head of a request may be so large and no larger, and is one of HTTP/1.
func TestHeads(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) { c.Limits.HeaderBytes = 8 << 10 }})
	const slack = 4096 // net/http's, for what it reads ahead
	get := "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	fill := func(n int) string {
		return get + "X-Fill: " + strings.Repeat("x", n-len(get)-len("X-Fill: \r\n\r\n")) + "\r\n\r\n"
	}
	for name, c := range map[string]struct{ send, want string }{
		"as large as allowed": {fill(8<<10 + slack), "HTTP/1.1 200"},
		"a byte more":         {fill(8<<10 + slack + 1), "HTTP/1.1 431"},
		"many headers":        {get + strings.Repeat("X: y\r\n", 4000) + "\r\n", "HTTP/1.1 431"},
		"HTTP/2 straight on":  {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 100), "HTTP/1.1 4"},
		"HTTP/2 by upgrade":   {get + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", "HTTP/1.1 200"},
		"two lengths":         {get + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", "HTTP/1.1 400"},
		"length and chunks":   {"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n", "HTTP/1.1 4"},
		"a chunk's long line": {"POST /api/v1/automation/Log HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic " + basic +
			"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1;" + strings.Repeat("x", 9000) + "\r\n{\r\n0\r\n\r\n", "HTTP/1.1 400"},
	} {
		conn := dial(t, s, "127.0.0.1")
		go io.WriteString(conn, c.send)
		if said, err := ended(conn); err != nil || !strings.HasPrefix(said, c.want) {
			t.Errorf("%s: %.60q, %v; want %s", name, said, err, c.want)
		}
	}
}
