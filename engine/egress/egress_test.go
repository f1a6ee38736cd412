package egress

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage/fault"
)

func TestPublic(t *testing.T) {
	for _, text := range []string{"8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"} {
		if !Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is not public", text)
		}
	}
	for _, text := range []string{
		"127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
		"::127.0.0.1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::",
		"2001:db8::1", "fec0::1", "::ffff:169.254.169.254", "fe80::1%eth0",
	} {
		if Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is public", text)
		}
	}
}

// canary is a server on the loopback address that counts who reaches it.
func canary(t *testing.T, h http.HandlerFunc) (address string, hits *atomic.Int64) {
	t.Helper()
	hits = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, hits
}

func client(t *testing.T, c Config) *Client {
	t.Helper()
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func fetch(t *testing.T, e *Client, address string) (string, error) {
	t.Helper()
	a, err := e.Get(t.Context(), address)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return string(text), err
}

func TestOwnNetworkIsNotReached(t *testing.T) {
	address, hits := canary(t, func(http.ResponseWriter, *http.Request) {})
	port := address[strings.LastIndexByte(address, ':'):]
	e := client(t, Config{Plain: true, Time: 5 * time.Second})
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "127.0.0.1.", "LOCALHOST", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254",
		"１２７.0.0.1", "①②⑦.0.0.1",
	} {
		for _, scheme := range []string{"http", "https"} {
			if _, err := fetch(t, e, scheme+"://"+host+port+"/"); err == nil {
				t.Errorf("%s://%s%s: reached", scheme, host, port)
			}
		}
	}
	for _, bad := range []string{
		"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1" + port, "http://", "//127.0.0.1" + port, "http://a:b@127.0.0.1" + port,
		"http://127.0.0.1" + port + "\r\nHost: x", "unix:///var/run/docker.sock",
	} {
		if _, err := fetch(t, e, bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("reached %d times", n)
	}
}

func TestAllowedNetworks(t *testing.T) {
	address, _ := canary(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/once":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("x", 2000))
		default:
			body, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, r.Method+string(body))
		}
	})
	e := client(t, Config{Allow: []string{"127.0.0.1"}, Size: 1000, Time: 5 * time.Second})
	for path, want := range map[string]string{"/": "GET", "/once": "GET"} {
		if got, err := fetch(t, e, address+path); err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]fault.Kind{
		"/away": fault.Denied, "/round": fault.Invalid, "/file": fault.Invalid, "/long": fault.Limit,
	} {
		if _, err := fetch(t, e, address+path); !fault.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]int{"/": http.StatusOK, "/once": http.StatusFound} {
		a, err := e.Post(t.Context(), address+path, nil, strings.NewReader("hello"), 5)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		if a.Status != want || err != nil || want == http.StatusOK && string(body) != "POSThello" {
			t.Errorf("%s: %d %q, %v", path, a.Status, body, err)
		}
		a.Body.Close()
	}
}

// TestPlain checks that without leave http reaches only what is allowed by address.
func TestPlain(t *testing.T) {
	e := client(t, Config{Allow: []string{"10.0.0.0/8"}})
	if err := e.control(e.plain, "tcp4", "8.8.8.8:80"); !fault.Is(err, fault.Denied) {
		t.Errorf("http to a public address: %v", err)
	}
	if err := e.control(e.plain, "tcp4", "10.1.2.3:80"); err != nil {
		t.Error(err)
	}
	if err := e.control(true, "tcp4", "8.8.8.8:443"); err != nil {
		t.Error(err)
	}
	if _, err := New(Config{Allow: []string{"10.0.0.0/99"}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a broken network: %v", err)
	}
}
